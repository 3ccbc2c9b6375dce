package dev.warmpath.fake.internal.grpc;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.internal.surface.EngineSurface;
import dev.warmpath.proto.health.HealthCheckRequest;
import dev.warmpath.proto.health.HealthCheckResponse;
import dev.warmpath.proto.health.HealthCheckResponse.ServingStatus;
import dev.warmpath.proto.health.HealthGrpc;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.Set;

/** {@code grpc.health.v1}: serving, unless the scheduler is stuck. */
final class HealthService extends HealthGrpc.HealthImplBase {
  private final EngineSurface surface;
  private final Rpcs rpcs;
  private final Set<String> services;

  /**
   * Creates the service.
   *
   * @param services the names of the services beside it
   */
  HealthService(EngineSurface surface, Rpcs rpcs, Set<String> services) {
    this.surface = surface;
    this.rpcs = rpcs;
    this.services = services;
  }

  @Override
  public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> to) {
    rpcs.stream(
        Scope.HEALTH,
        request,
        to,
        call -> {
          ServingStatus status = status(request);
          if (status == ServingStatus.SERVICE_UNKNOWN) {
            call.fail(Status.NOT_FOUND.withDescription("unknown service"));
          } else {
            call.respond(HealthCheckResponse.newBuilder().setStatus(status).build());
          }
        });
  }

  /** Tells the present status and keeps the stream open: it is told again to who asks again. */
  @Override
  public void watch(HealthCheckRequest request, StreamObserver<HealthCheckResponse> to) {
    rpcs.stream(
        Scope.HEALTH,
        request,
        to,
        call -> call.send(HealthCheckResponse.newBuilder().setStatus(status(request)).build()));
  }

  private ServingStatus status(HealthCheckRequest request) {
    if (!request.getService().isEmpty() && !services.contains(request.getService())) {
      return ServingStatus.SERVICE_UNKNOWN;
    }
    return surface.suffers(Fault.Kind.FREEZE) ? ServingStatus.NOT_SERVING : ServingStatus.SERVING;
  }
}
