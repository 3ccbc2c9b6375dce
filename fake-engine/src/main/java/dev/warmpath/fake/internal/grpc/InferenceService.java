package dev.warmpath.fake.internal.grpc;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.internal.surface.EngineSettings;
import dev.warmpath.fake.internal.surface.EngineSurface;
import dev.warmpath.fake.internal.surface.TokenRequest;
import dev.warmpath.fake.internal.surface.VllmSurface;
import dev.warmpath.proto.vllm.inference.GenerateRequest;
import dev.warmpath.proto.vllm.inference.GenerateResponse;
import dev.warmpath.proto.vllm.inference.InferenceGrpc;
import dev.warmpath.proto.vllm.inference.StoppingCriteria;
import io.grpc.stub.StreamObserver;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Generation at vLLM's own Rust front end ({@code rust/src/server/src/grpc}, vLLM 0.27). A client
 * that leaves leaves its request running: only {@code Control.Abort} ends it.
 */
final class InferenceService extends InferenceGrpc.InferenceImplBase {
  /** What a limit of 0 stands for. */
  private static final int DEFAULT_NEW_TOKENS = 20;

  private final VllmSurface surface;
  private final Rpcs rpcs;
  private final EngineSettings settings;

  InferenceService(VllmSurface surface, Rpcs rpcs) {
    this.surface = surface;
    this.rpcs = rpcs;
    this.settings = surface.life().settings();
  }

  @Override
  public void generate(GenerateRequest request, StreamObserver<GenerateResponse> to) {
    rpcs.generate(
        request,
        to,
        (call, fault) -> {
          Bodies.require(
              request.getSampling().getNumSequences() <= 1, "several sequences are only streamed");
          start(request, false, call, fault);
        });
  }

  @Override
  public void generateStream(GenerateRequest request, StreamObserver<GenerateResponse> to) {
    rpcs.generate(request, to, (call, fault) -> start(request, true, call, fault));
  }

  private void start(
      GenerateRequest request,
      boolean stream,
      GrpcCall<GenerateResponse> call,
      @Nullable Fault fault) {
    StoppingCriteria stopping = request.getStopping();
    int limit = stopping.getMaxNewTokens();
    surface.generate(
        new TokenRequest(
            EngineSurface.Endpoint.GENERATE,
            body(request, stream),
            call.headers(),
            List.of(prompt(request)),
            limit == 0 ? DEFAULT_NEW_TOKENS : limit,
            true),
        new InferenceOutput(call, fault, stream, request.getResponse()));
  }

  private static ObjectNode body(GenerateRequest request, boolean stream) {
    StoppingCriteria stopping = request.getStopping();
    ObjectNode body =
        Bodies.generate(
            stream,
            Math.max(1, request.getSampling().getNumSequences()),
            stopping.getStopStringsList(),
            stopping.getStopTokenIdsList());
    body.put("request_id", request.getRequestId());
    if (!request.getLoraName().isEmpty()) {
      body.put("model", request.getLoraName());
    } else if (!request.getModel().isEmpty()) {
      body.put("model", request.getModel());
    }
    if (request.getSampling().hasSeed()) {
      body.put("seed", request.getSampling().getSeed());
    }
    if (!request.getKv().getCacheSalt().isEmpty()) {
      body.put("cache_salt", request.getKv().getCacheSalt());
    }
    if (request.getKv().hasKvTransferParams()) {
      body.set("kv_transfer_params", Structs.json(request.getKv().getKvTransferParams()));
    }
    return body;
  }

  private int[] prompt(GenerateRequest request) {
    return switch (request.getPromptCase()) {
      case TOKEN_IDS -> Bodies.ids(request.getTokenIds().getIdsList());
      case TEXT -> settings.encoder().encode(request.getText(), true);
      case PROMPT_NOT_SET -> throw Bodies.invalid("a prompt is needed");
    };
  }
}
