package dev.warmpath.pd;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's MooncakeConnector: both at once, decode asks prefill's bootstrap server for the transfer.
 * The engine's id comes from configuration; its ranks append their number.
 */
final class MooncakeLegs extends VllmLegs {
  private static final int BOOTSTRAP_PORT = 8998;

  MooncakeLegs() {
    super("mooncake", PdShape.CONCURRENT);
  }

  @Override
  public boolean decodesAlone() {
    return true;
  }

  @Override
  public @Nullable String prefillLacks(PdTraits worker) {
    return worker.label("engine-id") == null ? "pd=mooncake needs ;engine-id=" : null;
  }

  @Override
  String prefillParams(PdPair pair, AttemptIds ids) {
    return side(false).text("transfer_id", ids.transferId()).object();
  }

  @Override
  byte[] decodeParams(PdPair pair, AttemptIds ids, byte @Nullable [] handOff) {
    PdTraits prefill = prefillOf(pair);
    String engine = prefill.label("engine-id", "");
    if (prefill.ranks() > 1 && pair.prefillRank() >= 0) {
      engine += "_dp" + pair.prefillRank();
    }
    Integer port = prefill.number("bootstrap-port");
    return side(true)
        .text("transfer_id", ids.transferId())
        .text("remote_engine_id", engine)
        .text(
            "remote_bootstrap_addr",
            "http://" + prefill.host() + ":" + (port == null ? BOOTSTRAP_PORT : port))
        .object()
        .getBytes(StandardCharsets.UTF_8);
  }
}
