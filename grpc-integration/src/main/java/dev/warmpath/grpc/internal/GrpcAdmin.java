package dev.warmpath.grpc.internal;

import dev.warmpath.transport.AdminCommand;
import dev.warmpath.transport.AdminReply;
import dev.warmpath.transport.AdminReply.Outcome;
import dev.warmpath.transport.CacheLevel;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.EngineKind;

/** The admin calls of gRPC services, each as far as the service has them. Without state. */
public final class GrpcAdmin {
  private GrpcAdmin() {}

  /**
   * Has an engine do something, or says why it can't.
   *
   * @throws TransportException when it can't be asked
   */
  public static AdminReply run(EngineService service, ControlCalls calls, AdminCommand command)
      throws TransportException {
    if (command instanceof AdminCommand.Flush flush) {
      return flush(service, calls, flush.level());
    }
    if (command instanceof AdminCommand.Abort abort) {
      for (String id : abort.ids()) {
        service.abort(calls, id);
      }
      return AdminReply.of(
          Outcome.ACCEPTED,
          "the service does not say whether it knew " + abort.ids().size() + " ids");
    }
    AdminReply reply = service.admin(calls, command);
    return reply == null
        ? AdminReply.of(
            Outcome.UNSUPPORTED, "the gRPC service '" + service.name() + "' has no call for it")
        : reply;
  }

  private static AdminReply flush(EngineService service, ControlCalls calls, CacheLevel level)
      throws TransportException {
    boolean together = service.engine() == EngineKind.SGLANG && level == CacheLevel.L2;
    if (!service.flushes() || (level != CacheLevel.L1 && !together)) {
      return AdminReply.of(
          Outcome.UNSUPPORTED,
          "the gRPC service '" + service.name() + "' has no call that empties " + level);
    }
    if (!service.flush(calls)) {
      return AdminReply.of(Outcome.BUSY, "the engine did not empty its cache: it is busy");
    }
    return service.engine() == EngineKind.SGLANG
        ? AdminReply.of(Outcome.DONE, "device and host are emptied together")
            .emptying(CacheLevel.L1, CacheLevel.L2)
        : AdminReply.of(Outcome.DONE, "").emptying(CacheLevel.L1);
  }
}
