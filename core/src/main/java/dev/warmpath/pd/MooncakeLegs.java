package dev.warmpath.pd;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's MooncakeConnector: both at once, decode asks prefill's bootstrap server for the transfer.
 * Its engines' ids are what that server tells the probe, rank by rank, unless one is configured, to
 * which ranks append their number.
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
    for (int rank = 0; rank < worker.ranks(); rank++) {
      if (engineId(worker, rank) == null) {
        return "pd=mooncake needs the engine's id, which its bootstrap server has not told (port "
            + bootstrapPort(worker)
            + ", ;bootstrap-port=): ;engine-id= configures it";
      }
    }
    return null;
  }

  private static @Nullable String engineId(PdTraits prefill, int rank) {
    String configured = prefill.label("engine-id");
    if (configured == null) {
      return prefill.label("engine-id-" + Math.max(0, rank));
    }
    return prefill.ranks() > 1 && rank >= 0 ? configured + "_dp" + rank : configured;
  }

  private static int bootstrapPort(PdTraits prefill) {
    Integer port = prefill.number("bootstrap-port");
    return port == null ? BOOTSTRAP_PORT : port;
  }

  @Override
  String prefillParams(PdPair pair, AttemptIds ids) {
    return side(false).text("transfer_id", ids.transferId()).object();
  }

  @Override
  byte[] decodeParams(PdPair pair, AttemptIds ids, byte @Nullable [] handOff) {
    PdTraits prefill = prefillOf(pair);
    return side(true)
        .text("transfer_id", ids.transferId())
        .text("remote_engine_id", Objects.requireNonNull(engineId(prefill, pair.prefillRank())))
        .text("remote_bootstrap_addr", "http://" + prefill.host() + ":" + bootstrapPort(prefill))
        .object()
        .getBytes(StandardCharsets.UTF_8);
  }
}
