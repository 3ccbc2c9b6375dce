package dev.warmpath.pd;

import dev.warmpath.worker.EngineKind;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The protocols, by engine and configured name. */
final class PdProtocols {
  static final PdProtocol SGLANG = new SglangBootstrap();
  static final PdProtocol NIXL = new NixlPull();
  static final PdProtocol NIXL_PUSH = new NixlPush();
  static final PdProtocol MOONCAKE = new MooncakeLegs();
  static final PdProtocol MORIIO = new MoriioLegs(false);
  static final PdProtocol MORIIO_READ = new MoriioLegs(true);
  static final PdProtocol P2P_NCCL = new P2pNcclLegs();
  static final PdProtocol ATOM = new AtomRelay();

  private static final List<PdProtocol> VLLM =
      List.of(NIXL, NIXL_PUSH, MOONCAKE, MORIIO, MORIIO_READ, P2P_NCCL);

  private PdProtocols() {}

  /**
   * The protocol of a worker.
   *
   * @param named what its configuration says, or null: then its engine's usual one
   * @return null where the engine does not speak it, or is not known
   */
  static @Nullable PdProtocol of(EngineKind engine, @Nullable String named) {
    return switch (engine) {
      case SGLANG -> only(SGLANG, named);
      case ATOM -> only(ATOM, named);
      case VLLM -> named == null ? NIXL : byName(VLLM, named);
      case UNKNOWN -> named == null ? null : byName(all(), named);
    };
  }

  private static @Nullable PdProtocol only(PdProtocol protocol, @Nullable String named) {
    return named == null || same(protocol, named) ? protocol : null;
  }

  private static @Nullable PdProtocol byName(List<PdProtocol> protocols, String named) {
    for (PdProtocol protocol : protocols) {
      if (same(protocol, named)) {
        return protocol;
      }
    }
    return null;
  }

  private static boolean same(PdProtocol protocol, String named) {
    return protocol.name().equals(named.toLowerCase(Locale.ROOT));
  }

  /** All of them. */
  static List<PdProtocol> all() {
    return List.of(SGLANG, NIXL, NIXL_PUSH, MOONCAKE, MORIIO, MORIIO_READ, P2P_NCCL, ATOM);
  }
}
