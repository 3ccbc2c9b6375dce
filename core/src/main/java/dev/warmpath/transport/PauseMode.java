package dev.warmpath.transport;

import dev.warmpath.worker.EngineKind;
import org.jspecify.annotations.Nullable;

/** What becomes of requests that run when an engine is paused. */
public enum PauseMode {
  /** They stand still with their KV cache, and go on when it resumes. */
  KEEP,
  /** They are ended. */
  ABORT,
  /** They go back to the queue, and their KV cache is let go; SGLang only. */
  RETRACT,
  /** They run to their end first; vLLM only. */
  WAIT;

  /**
   * Why an engine can't be paused this way, in words for people; null where it can, or where it has
   * no pause at all.
   *
   * @param engine SGLang's {@code /pause_generation} and vLLM's {@code /pause} differ in their
   *     modes
   */
  public @Nullable String refusedBy(EngineKind engine) {
    if (engine == EngineKind.SGLANG && this == WAIT) {
      return "SGLang pauses by abort, keep or retract, and never waits";
    }
    if (engine == EngineKind.VLLM && this == RETRACT) {
      return "vLLM pauses by abort, keep or wait, and retracts nothing";
    }
    return null;
  }

  /** The word that SGLang has for it, over HTTP and in its native runtime's gRPC service. */
  public String sglangName() {
    return switch (this) {
      case ABORT -> "abort";
      case RETRACT -> "retract";
      case KEEP, WAIT -> "in_place";
    };
  }
}
