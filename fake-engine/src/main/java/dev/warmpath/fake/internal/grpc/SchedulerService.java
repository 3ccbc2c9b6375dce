package dev.warmpath.fake.internal.grpc;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.Timestamp;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.internal.surface.EngineSettings;
import dev.warmpath.fake.internal.surface.EngineSurface;
import dev.warmpath.fake.internal.surface.Life;
import dev.warmpath.fake.internal.surface.SglangSurface;
import dev.warmpath.fake.internal.surface.TokenRequest;
import dev.warmpath.proto.sglang.scheduler.AbortRequest;
import dev.warmpath.proto.sglang.scheduler.AbortResponse;
import dev.warmpath.proto.sglang.scheduler.EmbedRequest;
import dev.warmpath.proto.sglang.scheduler.EmbedResponse;
import dev.warmpath.proto.sglang.scheduler.GenerateRequest;
import dev.warmpath.proto.sglang.scheduler.GenerateResponse;
import dev.warmpath.proto.sglang.scheduler.GetLoadsRequest;
import dev.warmpath.proto.sglang.scheduler.GetLoadsResponse;
import dev.warmpath.proto.sglang.scheduler.GetModelInfoRequest;
import dev.warmpath.proto.sglang.scheduler.GetModelInfoResponse;
import dev.warmpath.proto.sglang.scheduler.GetServerInfoRequest;
import dev.warmpath.proto.sglang.scheduler.GetServerInfoResponse;
import dev.warmpath.proto.sglang.scheduler.HealthCheckRequest;
import dev.warmpath.proto.sglang.scheduler.HealthCheckResponse;
import dev.warmpath.proto.sglang.scheduler.ListLoadedLoRAAdaptersRequest;
import dev.warmpath.proto.sglang.scheduler.ListLoadedLoRAAdaptersResponse;
import dev.warmpath.proto.sglang.scheduler.LoadedLoRAAdapter;
import dev.warmpath.proto.sglang.scheduler.SamplingParams;
import dev.warmpath.proto.sglang.scheduler.SglangSchedulerGrpc;
import dev.warmpath.proto.smg.FlushCacheRequest;
import dev.warmpath.proto.smg.FlushCacheResponse;
import dev.warmpath.proto.smg.GetTokenizerChunk;
import dev.warmpath.proto.smg.GetTokenizerRequest;
import dev.warmpath.proto.smg.KvEventBatch;
import dev.warmpath.proto.smg.ProfileResponse;
import dev.warmpath.proto.smg.StartProfileRequest;
import dev.warmpath.proto.smg.StopProfileRequest;
import dev.warmpath.proto.smg.SubscribeKvEventsRequest;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * SGLang behind smg's servicer ({@code grpc_servicer/smg_grpc_servicer/sglang/servicer.py} 0.8.0).
 * Adapters can be listed, not loaded.
 */
final class SchedulerService extends SglangSchedulerGrpc.SglangSchedulerImplBase {
  private final SglangSurface surface;
  private final Rpcs rpcs;
  private final Life life;
  private final EngineSettings settings;
  private final @Nullable Path tokenizer;

  SchedulerService(SglangSurface surface, Rpcs rpcs, @Nullable Path tokenizer) {
    this.surface = surface;
    this.rpcs = rpcs;
    this.life = surface.life();
    this.settings = life.settings();
    this.tokenizer = tokenizer;
  }

  @Override
  public void generate(GenerateRequest request, StreamObserver<GenerateResponse> to) {
    rpcs.generate(request, to, (call, fault) -> generate(request, call, fault));
  }

  private void generate(
      GenerateRequest request, GrpcCall<GenerateResponse> call, @Nullable Fault fault) {
    SamplingParams sampling = request.getSamplingParams();
    Bodies.require(request.hasTokenized(), "Tokenized input must be provided");
    verify(sampling);
    ObjectNode body =
        Bodies.generate(
            request.getStream(),
            sampling.getN(),
            sampling.getStopList(),
            sampling.getStopTokenIdsList());
    body.put("rid", request.getRequestId());
    if (!request.getLoraId().isEmpty()) {
      body.put("lora_path", request.getLoraId());
    }
    if (request.hasDisaggregatedParams()) {
      body.put("bootstrap_host", request.getDisaggregatedParams().getBootstrapHost());
      body.put("bootstrap_port", request.getDisaggregatedParams().getBootstrapPort());
      body.put("bootstrap_room", request.getDisaggregatedParams().getBootstrapRoom());
    }
    surface.generate(
        new TokenRequest(
            EngineSurface.Endpoint.GENERATE,
            body,
            Map.of(),
            List.of(Bodies.ids(request.getTokenized().getInputIdsList())),
            sampling.hasMaxNewTokens() ? sampling.getMaxNewTokens() : -1,
            false),
        new SchedulerOutput(call, fault, request));
  }

  /** SGLang's {@code SamplingParams.verify}, which the zeros of an unset message don't pass. */
  private static void verify(SamplingParams sampling) {
    Bodies.require(sampling.getTemperature() >= 0, "temperature must be non-negative");
    Bodies.require(
        sampling.getTopP() > 0 && sampling.getTopP() <= 1,
        "top_p must be in (0, 1], got " + sampling.getTopP());
    Bodies.require(
        sampling.getMinP() >= 0 && sampling.getMinP() <= 1,
        "min_p must be in [0, 1], got " + sampling.getMinP());
    Bodies.require(
        sampling.getTopK() == -1 || sampling.getTopK() >= 1,
        "top_k must be -1 (disable) or at least 1, got " + sampling.getTopK());
    Bodies.require(
        Math.abs(sampling.getFrequencyPenalty()) <= 2, "frequency_penalty must be in [-2, 2]");
    Bodies.require(
        Math.abs(sampling.getPresencePenalty()) <= 2, "presence_penalty must be in [-2, 2]");
    Bodies.require(
        sampling.getRepetitionPenalty() >= 0 && sampling.getRepetitionPenalty() <= 2,
        "repetition_penalty must be in [0, 2]");
  }

  @Override
  public void embed(EmbedRequest request, StreamObserver<EmbedResponse> to) {
    rpcs.generate(
        request,
        to,
        (call, fault) -> {
          Bodies.require(request.hasTokenized(), "Tokenized input must be provided");
          surface.generate(
              Bodies.embedding(
                  request.getTokenized().getInputIdsList(),
                  Bodies.object().put("rid", request.getRequestId())),
              new EmbedOutput<>(call, fault, surface, SchedulerService::embedding));
        });
  }

  private static EmbedResponse embedding(float[] vector, int promptTokens) {
    EmbedResponse.Builder response =
        EmbedResponse.newBuilder().setEmbeddingDim(vector.length).setPromptTokens(promptTokens);
    for (float value : vector) {
      response.addEmbedding(value);
    }
    return response.build();
  }

  @Override
  public void healthCheck(HealthCheckRequest request, StreamObserver<HealthCheckResponse> to) {
    rpcs.answerLater(
        Scope.HEALTH,
        request,
        to,
        () ->
            surface
                .probe()
                .thenApply(
                    healthy ->
                        HealthCheckResponse.newBuilder()
                            .setHealthy(healthy)
                            .setMessage(
                                healthy ? "Health check passed" : "Health check timeout after 20s")
                            .build()));
  }

  @Override
  public void abort(AbortRequest request, StreamObserver<AbortResponse> to) {
    rpcs.answer(
        Scope.ADMIN,
        request,
        to,
        () -> {
          boolean found = surface.abortCall(request.getRequestId());
          return AbortResponse.newBuilder()
              .setSuccess(found)
              .setMessage("Request " + request.getRequestId() + (found ? " aborted" : " not found"))
              .build();
        });
  }

  /** The context length is the KV capacity, as the servicer fills it in. */
  @Override
  public void getModelInfo(GetModelInfoRequest request, StreamObserver<GetModelInfoResponse> to) {
    rpcs.answer(
        Scope.INFO,
        request,
        to,
        () ->
            GetModelInfoResponse.newBuilder()
                .setModelPath(settings.model())
                .setTokenizerPath(settings.model())
                .setIsGeneration(true)
                .setWeightVersion("default")
                .setServedModelName(settings.servedModel())
                .setMaxContextLength(settings.totalTokens())
                .setVocabSize(ModelFacts.VOCABULARY)
                .setModelType(ModelFacts.TYPE)
                .addEosTokenIds(ModelFacts.END_OF_TEXT)
                .setBosTokenId(ModelFacts.BEGIN_OF_TEXT)
                .setMaxReqInputLen(surface.serverInfo().path("max_req_input_len").asInt())
                .addArchitectures(ModelFacts.ARCHITECTURE)
                .build());
  }

  @Override
  public void getServerInfo(
      GetServerInfoRequest request, StreamObserver<GetServerInfoResponse> to) {
    rpcs.answer(Scope.INFO, request, to, this::serverInfo);
  }

  private GetServerInfoResponse serverInfo() {
    ObjectNode args = surface.serverInfo();
    args.remove(List.of("internal_states", "version", "status"));
    ObjectNode scheduler = Bodies.object().put("status", "ready");
    for (String name : List.of("max_total_num_tokens", "max_req_input_len")) {
      scheduler.set(name, args.remove(name));
    }
    double started = life.startedAt().toEpochMilli() / 1e3;
    double now = life.epochSecondsExactly();
    return GetServerInfoResponse.newBuilder()
        .setServerArgs(Structs.of(args))
        .setSchedulerInfo(Structs.of(scheduler))
        .setActiveRequests(life.activeSequences())
        .setIsPaused(life.paused())
        .setLastReceiveTimestamp(now)
        .setUptimeSeconds(now - started)
        .setSglangVersion(settings.version())
        .setServerType("grpc")
        .setStartTime(Timestamp.newBuilder().setSeconds(life.startedAt().getEpochSecond()))
        .setMaxTotalNumTokens(settings.totalTokens())
        .build();
  }

  @Override
  public void getLoads(GetLoadsRequest request, StreamObserver<GetLoadsResponse> to) {
    rpcs.answer(
        Scope.LOAD,
        request,
        to,
        () -> {
          Set<String> include =
              request.getIncludeCount() == 0 ? Set.of("all") : Set.copyOf(request.getIncludeList());
          JsonNode loads = surface.loads(include, request.hasDpRank() ? request.getDpRank() : null);
          return SchedulerLoads.of(loads);
        });
  }

  @Override
  public void flushCache(FlushCacheRequest request, StreamObserver<FlushCacheResponse> to) {
    rpcs.answerLater(Scope.ADMIN, request, to, () -> Flushes.flush(life));
  }

  @Override
  public void startProfile(StartProfileRequest request, StreamObserver<ProfileResponse> to) {
    rpcs.answer(Scope.ADMIN, request, to, () -> profile("Start profiling."));
  }

  @Override
  public void stopProfile(StopProfileRequest request, StreamObserver<ProfileResponse> to) {
    rpcs.answer(Scope.ADMIN, request, to, () -> profile("Stop profiling."));
  }

  private static ProfileResponse profile(String message) {
    return ProfileResponse.newBuilder().setSuccess(true).setMessage(message).build();
  }

  @Override
  public void getTokenizer(GetTokenizerRequest request, StreamObserver<GetTokenizerChunk> to) {
    rpcs.stream(Scope.INFO, request, to, call -> TokenizerBundle.serve(tokenizer, call));
  }

  @Override
  public void subscribeKvEvents(SubscribeKvEventsRequest request, StreamObserver<KvEventBatch> to) {
    rpcs.stream(Scope.INFO, request, to, call -> KvEventStream.serve(life, call));
  }

  @Override
  public void listLoadedLoRAAdapters(
      ListLoadedLoRAAdaptersRequest request, StreamObserver<ListLoadedLoRAAdaptersResponse> to) {
    rpcs.answer(
        Scope.INFO,
        request,
        to,
        () -> {
          ListLoadedLoRAAdaptersResponse.Builder list = ListLoadedLoRAAdaptersResponse.newBuilder();
          for (String name : settings.loraAdapters()) {
            list.addLoadedAdapters(
                LoadedLoRAAdapter.newBuilder().setLoraId(name).setLoraName(name).setLoraPath(name));
          }
          return list.build();
        });
  }
}
