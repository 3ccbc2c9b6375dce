package dev.warmpath.pd;

import dev.warmpath.api.RouterRequest;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's P2pNcclConnector: prefill to its end, then decode; both find each other by the addresses
 * in the request id. Text completions only.
 */
final class P2pNcclLegs extends VllmLegs {
  P2pNcclLegs() {
    super("p2pnccl", PdShape.SEQUENTIAL);
  }

  @Override
  public boolean serves(String path) {
    return path.equals(RouterRequest.COMPLETIONS);
  }

  @Override
  public boolean boundToDecode() {
    return true;
  }

  /** Its prefill answers without parameters: what decode needs is in the id. */
  @Override
  public boolean recomputes() {
    return true;
  }

  @Override
  public boolean handsOver() {
    return false;
  }

  @Override
  public @Nullable String prefillLacks(PdTraits worker) {
    return worker.number("kv-port") == null ? "pd=p2pnccl needs ;kv-port=" : null;
  }

  @Override
  public @Nullable String decodeLacks(PdTraits worker) {
    return prefillLacks(worker);
  }

  @Override
  public String requestId(PdPair pair, String rid) {
    return pair.direct()
        ? rid
        : "___prefill_addr_"
            + at(prefillOf(pair))
            + "___decode_addr_"
            + at(pair.decodeTraits())
            + "_"
            + MoriioLegs.hex(rid);
  }

  private static String at(PdTraits worker) {
    return worker.address() + ":" + worker.label("kv-port", "");
  }

  @Override
  @Nullable String prefillParams(PdPair pair, AttemptIds ids) {
    return null;
  }

  @Override
  byte @Nullable [] decodeParams(PdPair pair, AttemptIds ids, byte @Nullable [] handOff) {
    return null;
  }
}
