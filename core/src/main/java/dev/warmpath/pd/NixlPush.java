package dev.warmpath.pd;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's NixlPushConnector: both at once, prefill writes into blocks that decode registered under
 * the transfer's id. Where prefill's side channel is comes from configuration.
 */
final class NixlPush extends VllmLegs {
  NixlPush() {
    super("nixl-push", PdShape.CONCURRENT);
  }

  @Override
  public boolean decodesAlone() {
    return true;
  }

  @Override
  public @Nullable String prefillLacks(PdTraits worker) {
    return worker.label("engine-id") == null || worker.number("kv-port") == null
        ? "pd=nixl-push needs ;engine-id= and ;kv-port= (its side channel)"
        : null;
  }

  @Override
  String prefillParams(PdPair pair, AttemptIds ids) {
    return producer().text("transfer_id", ids.transferId()).object();
  }

  @Override
  byte[] decodeParams(PdPair pair, AttemptIds ids, byte @Nullable [] handOff) {
    PdTraits prefill = prefillOf(pair);
    return side(true)
        .text("remote_engine_id", prefill.label("engine-id", ""))
        .text("remote_host", prefill.address())
        .raw("remote_port", prefill.label("kv-port", "0"))
        .raw("tp_size", Integer.toString(orOne(prefill.number("tp"))))
        .raw("pp_size", Integer.toString(orOne(prefill.number("pp"))))
        .text("remote_request_id", ids.requestId())
        .text("transfer_id", ids.transferId())
        .object()
        .getBytes(StandardCharsets.UTF_8);
  }

  static int orOne(@Nullable Integer number) {
    return number == null ? 1 : number;
  }
}
