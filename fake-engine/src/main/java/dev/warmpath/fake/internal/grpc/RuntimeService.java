package dev.warmpath.fake.internal.grpc;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.internal.surface.EngineSettings;
import dev.warmpath.fake.internal.surface.EngineSurface;
import dev.warmpath.fake.internal.surface.Generation;
import dev.warmpath.fake.internal.surface.Life;
import dev.warmpath.fake.internal.surface.SglangSurface;
import dev.warmpath.fake.internal.surface.TokenRequest;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.proto.sglang.runtime.AbortRequest;
import dev.warmpath.proto.sglang.runtime.AbortResponse;
import dev.warmpath.proto.sglang.runtime.ContinueGenerationRequest;
import dev.warmpath.proto.sglang.runtime.ContinueGenerationResponse;
import dev.warmpath.proto.sglang.runtime.DetokenizeRequest;
import dev.warmpath.proto.sglang.runtime.DetokenizeResponse;
import dev.warmpath.proto.sglang.runtime.DisaggregatedParams;
import dev.warmpath.proto.sglang.runtime.EmbedRequest;
import dev.warmpath.proto.sglang.runtime.EmbedResponse;
import dev.warmpath.proto.sglang.runtime.FlushCacheRequest;
import dev.warmpath.proto.sglang.runtime.FlushCacheResponse;
import dev.warmpath.proto.sglang.runtime.GenerateRequest;
import dev.warmpath.proto.sglang.runtime.GenerateResponse;
import dev.warmpath.proto.sglang.runtime.GetLoadRequest;
import dev.warmpath.proto.sglang.runtime.GetLoadResponse;
import dev.warmpath.proto.sglang.runtime.GetModelInfoRequest;
import dev.warmpath.proto.sglang.runtime.GetModelInfoResponse;
import dev.warmpath.proto.sglang.runtime.GetServerInfoRequest;
import dev.warmpath.proto.sglang.runtime.GetServerInfoResponse;
import dev.warmpath.proto.sglang.runtime.HealthCheckRequest;
import dev.warmpath.proto.sglang.runtime.HealthCheckResponse;
import dev.warmpath.proto.sglang.runtime.ListModelsRequest;
import dev.warmpath.proto.sglang.runtime.ListModelsResponse;
import dev.warmpath.proto.sglang.runtime.ModelCard;
import dev.warmpath.proto.sglang.runtime.OpenAIRequest;
import dev.warmpath.proto.sglang.runtime.OpenAIResponse;
import dev.warmpath.proto.sglang.runtime.OpenAIStreamChunk;
import dev.warmpath.proto.sglang.runtime.PauseGenerationRequest;
import dev.warmpath.proto.sglang.runtime.PauseGenerationResponse;
import dev.warmpath.proto.sglang.runtime.SamplingParams;
import dev.warmpath.proto.sglang.runtime.SglangServiceGrpc;
import dev.warmpath.proto.sglang.runtime.StartProfileRequest;
import dev.warmpath.proto.sglang.runtime.StartProfileResponse;
import dev.warmpath.proto.sglang.runtime.StopProfileRequest;
import dev.warmpath.proto.sglang.runtime.StopProfileResponse;
import dev.warmpath.proto.sglang.runtime.TextEmbedRequest;
import dev.warmpath.proto.sglang.runtime.TextEmbedResponse;
import dev.warmpath.proto.sglang.runtime.TextGenerateRequest;
import dev.warmpath.proto.sglang.runtime.TextGenerateResponse;
import dev.warmpath.proto.sglang.runtime.TokenizeRequest;
import dev.warmpath.proto.sglang.runtime.TokenizeResponse;
import io.grpc.stub.StreamObserver;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's own Rust server beside its HTTP server ({@code rust/sglang-grpc/src/server.rs}, main of
 * July 2026). It classifies, scores and reranks nothing, and has no weights to update.
 */
final class RuntimeService extends SglangServiceGrpc.SglangServiceImplBase {
  /** SGLang's own where a request names no limit. */
  private static final int DEFAULT_NEW_TOKENS = 128;

  private final SglangSurface surface;
  private final Rpcs rpcs;
  private final Life life;
  private final EngineSettings settings;

  RuntimeService(SglangSurface surface, Rpcs rpcs) {
    this.surface = surface;
    this.rpcs = rpcs;
    this.life = surface.life();
    this.settings = life.settings();
  }

  @Override
  public void generate(GenerateRequest request, StreamObserver<GenerateResponse> to) {
    rpcs.generate(
        request,
        to,
        (call, fault) -> {
          ObjectNode body = body(request.getSamplingParams(), request.getStream());
          identify(body, request.hasRid() ? request.getRid() : null, request.getLoraPath());
          place(
              body,
              request.hasRoutedDpRank() ? request.getRoutedDpRank() : null,
              request.hasDisaggregatedParams() ? request.getDisaggregatedParams() : null);
          surface.generate(
              request(body, request.getSamplingParams(), Bodies.ids(request.getInputIdsList())),
              new RuntimeOutput<>(call, fault, request.getStream(), RuntimeService::tokens));
        });
  }

  private static GenerateResponse tokens(
      Generation.Item item, Map<String, String> facts, boolean finished) {
    GenerateResponse.Builder response =
        GenerateResponse.newBuilder().putAllMetaInfo(facts).setFinished(finished);
    for (int i = 0; i < item.generated(); i++) {
      response.addOutputIds(item.text().tokens()[i]);
    }
    return response.build();
  }

  @Override
  public void textGenerate(TextGenerateRequest request, StreamObserver<TextGenerateResponse> to) {
    rpcs.generate(
        request,
        to,
        (call, fault) -> {
          ObjectNode body = body(request.getSamplingParams(), request.getStream());
          identify(body, request.hasRid() ? request.getRid() : null, request.getLoraPath());
          place(
              body,
              request.hasRoutedDpRank() ? request.getRoutedDpRank() : null,
              request.hasDisaggregatedParams() ? request.getDisaggregatedParams() : null);
          surface.generate(
              request(
                  body,
                  request.getSamplingParams(),
                  settings.encoder().encode(request.getText(), true)),
              new RuntimeOutput<>(call, fault, request.getStream(), RuntimeService::text));
        });
  }

  private static TextGenerateResponse text(
      Generation.Item item, Map<String, String> facts, boolean finished) {
    return TextGenerateResponse.newBuilder()
        .setText(item.all())
        .putAllMetaInfo(facts)
        .setFinished(finished)
        .build();
  }

  private static ObjectNode body(SamplingParams sampling, boolean stream) {
    return Bodies.generate(
        stream,
        sampling.hasN() ? sampling.getN() : 1,
        sampling.getStopList(),
        sampling.getStopTokenIdsList());
  }

  private static void identify(ObjectNode body, @Nullable String rid, String lora) {
    if (rid != null) {
      body.put("rid", rid);
    }
    if (!lora.isEmpty()) {
      body.put("lora_path", lora);
    }
  }

  private static void place(
      ObjectNode body, @Nullable Integer rank, @Nullable DisaggregatedParams params) {
    if (rank != null) {
      body.put("routed_dp_rank", rank);
    }
    if (params != null) {
      body.put("bootstrap_host", params.getBootstrapHost());
      body.put("bootstrap_port", params.getBootstrapPort());
      body.put("bootstrap_room", params.getBootstrapRoom());
    }
  }

  private static TokenRequest request(ObjectNode body, SamplingParams sampling, int[] prompt) {
    int limit = sampling.hasMaxNewTokens() ? sampling.getMaxNewTokens() : DEFAULT_NEW_TOKENS;
    return new TokenRequest(
        EngineSurface.Endpoint.GENERATE,
        body,
        Map.of(),
        List.of(prompt),
        Math.max(0, limit),
        false);
  }

  @Override
  public void embed(EmbedRequest request, StreamObserver<EmbedResponse> to) {
    rpcs.generate(
        request,
        to,
        (call, fault) ->
            surface.generate(
                Bodies.embedding(
                    request.getInputIdsList(), rid(request.hasRid() ? request.getRid() : null)),
                new EmbedOutput<>(
                    call,
                    fault,
                    surface,
                    (vector, tokens) ->
                        EmbedResponse.newBuilder()
                            .addAllEmbedding(floats(vector))
                            .putMetaInfo("prompt_tokens", Integer.toString(tokens))
                            .build())));
  }

  @Override
  public void textEmbed(TextEmbedRequest request, StreamObserver<TextEmbedResponse> to) {
    rpcs.generate(
        request,
        to,
        (call, fault) ->
            surface.generate(
                Bodies.embedding(
                    ids(settings.encoder().encode(request.getText(), true)),
                    rid(request.hasRid() ? request.getRid() : null)),
                new EmbedOutput<>(
                    call,
                    fault,
                    surface,
                    (vector, tokens) ->
                        TextEmbedResponse.newBuilder()
                            .addAllEmbedding(floats(vector))
                            .putMetaInfo("prompt_tokens", Integer.toString(tokens))
                            .build())));
  }

  private static ObjectNode rid(@Nullable String rid) {
    ObjectNode body = Bodies.object();
    identify(body, rid, "");
    return body;
  }

  private static List<Integer> ids(int[] tokens) {
    return java.util.Arrays.stream(tokens).boxed().toList();
  }

  private static List<Float> floats(float[] vector) {
    Float[] values = new Float[vector.length];
    for (int i = 0; i < vector.length; i++) {
      values[i] = vector[i];
    }
    return List.of(values);
  }

  @Override
  public void tokenize(TokenizeRequest request, StreamObserver<TokenizeResponse> to) {
    rpcs.answer(
        Scope.INFO,
        request,
        to,
        () -> {
          boolean special = !request.hasAddSpecialTokens() || request.getAddSpecialTokens();
          int[] tokens = settings.encoder().encode(request.getText(), special);
          return TokenizeResponse.newBuilder()
              .addAllTokens(ids(tokens))
              .setCount(tokens.length)
              .setMaxModelLen(settings.core().maxModelLen())
              .setInputText(request.getText())
              .build();
        });
  }

  @Override
  public void detokenize(DetokenizeRequest request, StreamObserver<DetokenizeResponse> to) {
    rpcs.answer(
        Scope.INFO,
        request,
        to,
        () -> {
          int[] tokens = Bodies.ids(request.getTokensList());
          for (int token : tokens) {
            Bodies.require(token >= 0, "Detokenize tokens must be non-negative");
          }
          return DetokenizeResponse.newBuilder().setText(settings.encoder().decode(tokens)).build();
        });
  }

  @Override
  public void healthCheck(HealthCheckRequest request, StreamObserver<HealthCheckResponse> to) {
    rpcs.answer(
        Scope.HEALTH,
        request,
        to,
        () ->
            HealthCheckResponse.newBuilder()
                .setHealthy(!surface.suffers(Fault.Kind.FREEZE))
                .build());
  }

  @Override
  public void getModelInfo(GetModelInfoRequest request, StreamObserver<GetModelInfoResponse> to) {
    rpcs.answer(
        Scope.INFO,
        request,
        to,
        () ->
            GetModelInfoResponse.newBuilder()
                .setModelPath(settings.model())
                .setJsonInfo(surface.modelInfo().toString())
                .build());
  }

  @Override
  public void getServerInfo(
      GetServerInfoRequest request, StreamObserver<GetServerInfoResponse> to) {
    rpcs.answer(
        Scope.INFO,
        request,
        to,
        () ->
            GetServerInfoResponse.newBuilder()
                .setJsonInfo(surface.serverInfo().toString())
                .build());
  }

  @Override
  public void listModels(ListModelsRequest request, StreamObserver<ListModelsResponse> to) {
    rpcs.answer(
        Scope.INFO,
        request,
        to,
        () -> {
          ListModelsResponse.Builder list = ListModelsResponse.newBuilder();
          for (JsonNode model : surface.modelList().path("data")) {
            ModelCard.Builder card =
                ModelCard.newBuilder()
                    .setId(model.path("id").asText())
                    .setRoot(model.path("root").asText())
                    .setMaxModelLen(model.path("max_model_len").asInt());
            if (model.path("parent").isTextual()) {
              card.setParent(model.path("parent").asText());
            }
            list.addModels(card);
          }
          return list.build();
        });
  }

  @Override
  public void getLoad(GetLoadRequest request, StreamObserver<GetLoadResponse> to) {
    rpcs.answer(
        Scope.LOAD,
        request,
        to,
        () ->
            GetLoadResponse.newBuilder()
                .setJsonInfo(
                    surface.legacyLoad(request.hasDpRank() ? request.getDpRank() : null).toString())
                .build());
  }

  @Override
  public void abort(AbortRequest request, StreamObserver<AbortResponse> to) {
    rpcs.answer(
        Scope.ADMIN,
        request,
        to,
        () -> {
          surface.abortRequests(request.getRid(), request.getAbortAll());
          return AbortResponse.newBuilder().setSuccess(true).build();
        });
  }

  @Override
  public void flushCache(FlushCacheRequest request, StreamObserver<FlushCacheResponse> to) {
    rpcs.answerLater(
        Scope.ADMIN,
        request,
        to,
        () ->
            life.flush()
                .thenApply(
                    done ->
                        FlushCacheResponse.newBuilder()
                            .setSuccess(done)
                            .setMessage(done ? "Cache flushed." : "Flush cache failed.")
                            .build()));
  }

  @Override
  public void pauseGeneration(
      PauseGenerationRequest request, StreamObserver<PauseGenerationResponse> to) {
    rpcs.answerLater(
        Scope.ADMIN,
        request,
        to,
        () ->
            life.applyToAll(
                    new EngineCommand.Pause(
                        surface.pauseMode(
                            request.getMode().isEmpty() ? "abort" : request.getMode())))
                .thenApply(
                    done ->
                        PauseGenerationResponse.newBuilder()
                            .setMessage("Generation paused successfully.")
                            .build()));
  }

  @Override
  public void continueGeneration(
      ContinueGenerationRequest request, StreamObserver<ContinueGenerationResponse> to) {
    rpcs.answerLater(
        Scope.ADMIN,
        request,
        to,
        () ->
            life.applyToAll(new EngineCommand.Resume())
                .thenApply(
                    done ->
                        ContinueGenerationResponse.newBuilder()
                            .setMessage("Generation continued successfully.")
                            .build()));
  }

  @Override
  public void chatComplete(OpenAIRequest request, StreamObserver<OpenAIStreamChunk> to) {
    stream("/v1/chat/completions", request, to);
  }

  @Override
  public void complete(OpenAIRequest request, StreamObserver<OpenAIStreamChunk> to) {
    stream("/v1/completions", request, to);
  }

  private void stream(String path, OpenAIRequest request, StreamObserver<OpenAIStreamChunk> to) {
    rpcs.generate(
        request,
        to,
        (call, fault) ->
            surface.serve(
                new OpenAiStream(path, request.getJsonBody().toByteArray(), call, fault), fault));
  }

  @Override
  public void openAIEmbed(OpenAIRequest request, StreamObserver<OpenAIResponse> to) {
    rpcs.generate(
        request,
        to,
        (call, fault) ->
            surface.serve(
                new OpenAiUnary("/v1/embeddings", request.getJsonBody().toByteArray(), call, fault),
                fault));
  }

  @Override
  public void startProfile(StartProfileRequest request, StreamObserver<StartProfileResponse> to) {
    rpcs.answer(
        Scope.ADMIN,
        request,
        to,
        () -> StartProfileResponse.newBuilder().setMessage("Start profiling.").build());
  }

  @Override
  public void stopProfile(StopProfileRequest request, StreamObserver<StopProfileResponse> to) {
    rpcs.answer(
        Scope.ADMIN,
        request,
        to,
        () -> StopProfileResponse.newBuilder().setMessage("Stop profiling.").build());
  }
}
