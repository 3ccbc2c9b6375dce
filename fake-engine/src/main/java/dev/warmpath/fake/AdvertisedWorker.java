package dev.warmpath.fake;

import dev.warmpath.fake.internal.surface.Life;
import dev.warmpath.worker.WorkerRole;

/** What an operator would configure a client with for a worker. */
final class AdvertisedWorker {
  private AdvertisedWorker() {}

  static String of(FakeEngine engine) {
    if (engine.role() == WorkerRole.REGULAR) {
      return engine.url();
    }
    String base =
        engine.url()
            + ";role="
            + engine.role().label()
            + ";engine="
            + engine.kind().label()
            + ";pd="
            + engine.transfer().label();
    int port = engine.sideChannelPort();
    return base
        + switch (engine.transfer()) {
          case NIXL, ATOM -> "";
          case SGLANG -> engine.role() == WorkerRole.PREFILL ? ";bootstrap-port=" + port : "";
          case MOONCAKE -> ";bootstrap-port=" + port;
          case NIXL_PUSH -> ";kv-port=" + port + ";engine-id=" + Life.engineId(port);
          case MORIIO, MORIIO_READ -> ";handshake-port=" + port + ";notify-port=" + port;
          case P2P_NCCL -> ";kv-port=" + port;
        };
  }
}
