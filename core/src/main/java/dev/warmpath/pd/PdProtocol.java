package dev.warmpath.pd;

import org.jspecify.annotations.Nullable;

/**
 * How the workers of one engine's connector are fed as a pair: the order of the legs, and what each
 * leg's request says beyond the caller's. Without state.
 */
interface PdProtocol {
  /** The name that {@code ;pd=} configures. */
  String name();

  /** The order of the legs. */
  PdShape shape();

  /** Whether requests of this path can be split. */
  boolean serves(String path);

  /** The largest room that a pair's requests can carry; 0 where they have none. */
  default long maxRoom(PdPair pair) {
    return 0;
  }

  /** Whether ids name the decode worker. */
  default boolean boundToDecode() {
    return false;
  }

  /** Whether decode computes the prompt itself where prefill hands nothing over. */
  default boolean recomputes() {
    return false;
  }

  /** Whether prefill's answer has something for decode. */
  default boolean handsOver() {
    return shape() == PdShape.SEQUENTIAL;
  }

  /** Whether a decode worker takes whole requests alone. */
  default boolean decodesAlone() {
    return false;
  }

  /** Whether the engine keeps the KV of a prefill that was aborted. */
  default boolean finishesPrefill() {
    return false;
  }

  /** Whether the engine has an abort call. */
  default boolean aborts() {
    return false;
  }

  /** What a prefill worker's configuration lacks, and how to add it; null for nothing. */
  default @Nullable String prefillLacks(PdTraits worker) {
    return null;
  }

  /** What a decode worker's configuration lacks; null for nothing. */
  default @Nullable String decodeLacks(PdTraits worker) {
    return null;
  }

  /** The {@code X-Request-Id} of an attempt. */
  default String requestId(PdPair pair, String rid) {
    return rid;
  }

  /** What prefill is sent. */
  LegRequest prefill(PdPair pair, AttemptIds ids, Original original);

  /**
   * What decode is sent.
   *
   * @param handOff the parameters that prefill's answer gave, as they stood there, or null
   */
  LegRequest decode(PdPair pair, AttemptIds ids, Original original, byte @Nullable [] handOff);
}
