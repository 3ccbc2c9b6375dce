package dev.warmpath.fake.wire;

import dev.warmpath.worker.EngineKind;

/** The gRPC servers that the imitated engines have; no two of them understand each other. */
public enum GrpcApi {
  /** SGLang behind smg's servicer: {@code sglang.grpc.scheduler.SglangScheduler}. */
  SGLANG_SCHEDULER(EngineKind.SGLANG),
  /** SGLang's own Rust server: {@code sglang.runtime.v1.SglangService}. */
  SGLANG_RUNTIME(EngineKind.SGLANG),
  /** vLLM behind smg's servicer: {@code vllm.grpc.engine.VllmEngine}. */
  VLLM_ENGINE(EngineKind.VLLM),
  /** vLLM's own Rust front end: {@code vllm.Inference} and {@code vllm.Control}. */
  VLLM_INFERENCE(EngineKind.VLLM);

  private final EngineKind engine;

  GrpcApi(EngineKind engine) {
    this.engine = engine;
  }

  /**
   * Returns whose server it is.
   *
   * @return the kind of engine
   */
  public EngineKind engine() {
    return engine;
  }

  /**
   * Returns the server that smg's router would speak to.
   *
   * @param engine the kind of engine
   * @return the server behind smg's servicer
   * @throws IllegalArgumentException if that engine has no gRPC server
   */
  public static GrpcApi of(EngineKind engine) {
    return switch (engine) {
      case SGLANG -> SGLANG_SCHEDULER;
      case VLLM -> VLLM_ENGINE;
      case ATOM, UNKNOWN ->
          throw new IllegalArgumentException(engine.label() + " has no gRPC server");
    };
  }
}
