package dev.warmpath.fake.internal.grpc;

import dev.warmpath.fake.internal.surface.ApiError;
import dev.warmpath.fake.internal.surface.EngineSurface;
import dev.warmpath.fake.internal.surface.SglangSurface;
import dev.warmpath.fake.internal.surface.VllmSurface;
import dev.warmpath.fake.wire.GrpcApi;
import dev.warmpath.proto.sglang.scheduler.SglangSchedulerGrpc;
import dev.warmpath.proto.vllm.control.ControlGrpc;
import dev.warmpath.proto.vllm.engine.VllmEngineGrpc;
import dev.warmpath.proto.vllm.inference.InferenceGrpc;
import io.grpc.BindableService;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The services of each gRPC server that an engine can have, with that server's limits. */
public final class GrpcServices {
  /** grpcio's {@code max_receive_message_length} in SGLang's servicer. */
  private static final long SGLANG_SERVICER_BYTES = 256L << 20;

  /** tonic's default. */
  private static final long TONIC_BYTES = 4L << 20;

  private GrpcServices() {}

  /**
   * Makes the services of one life.
   *
   * @param api the server
   * @param surface the surface of the life, of the kind of engine that has this server
   * @param tokenizer the directory of the model's files, or null if there is none to give away
   * @return the services
   */
  public static List<ServerServiceDefinition> of(
      GrpcApi api, EngineSurface surface, @Nullable Path tokenizer) {
    return switch (api) {
      case SGLANG_SCHEDULER -> {
        Rpcs rpcs = grpcio(surface, SGLANG_SERVICER_BYTES);
        yield bind(
            new SchedulerService((SglangSurface) surface, rpcs, tokenizer),
            new HealthService(surface, rpcs, Set.of(SglangSchedulerGrpc.SERVICE_NAME)));
      }
      case SGLANG_RUNTIME ->
          bind(new RuntimeService((SglangSurface) surface, tonic(surface, GrpcServices::internal)));
      case VLLM_ENGINE -> {
        Rpcs rpcs = grpcio(surface, Long.MAX_VALUE);
        yield bind(
            new EngineService((VllmSurface) surface, rpcs, tokenizer),
            new HealthService(surface, rpcs, Set.of(VllmEngineGrpc.SERVICE_NAME)));
      }
      case VLLM_INFERENCE -> {
        Rpcs rpcs = tonic(surface, Statuses::of);
        yield bind(
            new InferenceService((VllmSurface) surface, rpcs),
            new ControlService((VllmSurface) surface, rpcs),
            new HealthService(
                surface, rpcs, Set.of(InferenceGrpc.SERVICE_NAME, ControlGrpc.SERVICE_NAME)));
      }
    };
  }

  private static Rpcs grpcio(EngineSurface surface, long maxRequestBytes) {
    return new Rpcs(surface.gate(), maxRequestBytes, Status.RESOURCE_EXHAUSTED, Statuses::of);
  }

  private static Rpcs tonic(EngineSurface surface, Rpcs.Errors errors) {
    return new Rpcs(surface.gate(), TONIC_BYTES, Status.OUT_OF_RANGE, errors);
  }

  /** All that SGLang's native server makes of what its engine refuses. */
  private static Status internal(ApiError error) {
    return Status.INTERNAL.withDescription(error.detail());
  }

  private static List<ServerServiceDefinition> bind(BindableService... services) {
    return List.of(services).stream().map(BindableService::bindService).toList();
  }
}
