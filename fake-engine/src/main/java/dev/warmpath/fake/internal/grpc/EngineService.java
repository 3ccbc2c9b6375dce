package dev.warmpath.fake.internal.grpc;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.internal.surface.EngineSettings;
import dev.warmpath.fake.internal.surface.EngineSurface;
import dev.warmpath.fake.internal.surface.Life;
import dev.warmpath.fake.internal.surface.TokenRequest;
import dev.warmpath.fake.internal.surface.VllmSurface;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.wire.MetricNames;
import dev.warmpath.proto.smg.FlushCacheRequest;
import dev.warmpath.proto.smg.FlushCacheResponse;
import dev.warmpath.proto.smg.GetTokenizerChunk;
import dev.warmpath.proto.smg.GetTokenizerRequest;
import dev.warmpath.proto.smg.KvEventBatch;
import dev.warmpath.proto.smg.SubscribeKvEventsRequest;
import dev.warmpath.proto.vllm.engine.AbortRequest;
import dev.warmpath.proto.vllm.engine.AbortResponse;
import dev.warmpath.proto.vllm.engine.EmbedRequest;
import dev.warmpath.proto.vllm.engine.EmbedResponse;
import dev.warmpath.proto.vllm.engine.GenerateRequest;
import dev.warmpath.proto.vllm.engine.GenerateResponse;
import dev.warmpath.proto.vllm.engine.GetLoadsRequest;
import dev.warmpath.proto.vllm.engine.GetLoadsResponse;
import dev.warmpath.proto.vllm.engine.GetModelInfoRequest;
import dev.warmpath.proto.vllm.engine.GetModelInfoResponse;
import dev.warmpath.proto.vllm.engine.GetServerInfoRequest;
import dev.warmpath.proto.vllm.engine.GetServerInfoResponse;
import dev.warmpath.proto.vllm.engine.HealthCheckRequest;
import dev.warmpath.proto.vllm.engine.HealthCheckResponse;
import dev.warmpath.proto.vllm.engine.SamplingParams;
import dev.warmpath.proto.vllm.engine.SchedulerLoad;
import dev.warmpath.proto.vllm.engine.VllmEngineGrpc;
import dev.warmpath.worker.WorkerRole;
import io.grpc.stub.StreamObserver;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** vLLM behind smg's servicer ({@code grpc_servicer/smg_grpc_servicer/vllm/servicer.py} 0.8.0). */
final class EngineService extends VllmEngineGrpc.VllmEngineImplBase {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final VllmSurface surface;
  private final Rpcs rpcs;
  private final Life life;
  private final EngineSettings settings;
  private final @Nullable Path tokenizer;

  EngineService(VllmSurface surface, Rpcs rpcs, @Nullable Path tokenizer) {
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
    Bodies.require(
        sampling.getTopP() > 0 && sampling.getTopP() <= 1,
        "top_p must be in (0, 1], got " + sampling.getTopP());
    Bodies.require(
        sampling.getRepetitionPenalty() > 0, "repetition_penalty must be greater than zero");
    ObjectNode body =
        Bodies.generate(
            request.getStream(),
            sampling.getN(),
            sampling.getStopList(),
            sampling.getStopTokenIdsList());
    body.put("request_id", request.getRequestId());
    if (sampling.hasSeed()) {
      body.put("seed", sampling.getSeed());
    }
    if (request.hasKvTransferParamsJson()) {
      body.set("kv_transfer_params", kvTransferParams(request.getKvTransferParamsJson()));
    }
    Map<String, String> headers = new HashMap<>();
    if (request.hasDataParallelRank()) {
      headers.put("x-data-parallel-rank", Integer.toString(request.getDataParallelRank()));
    }
    surface.generate(
        new TokenRequest(
            EngineSurface.Endpoint.GENERATE,
            body,
            headers,
            List.of(prompt(request)),
            sampling.hasMaxTokens() ? sampling.getMaxTokens() : -1,
            false),
        new EngineOutput(call, fault, request));
  }

  private int[] prompt(GenerateRequest request) {
    return switch (request.getInputCase()) {
      case TOKENIZED -> Bodies.ids(request.getTokenized().getInputIdsList());
      case TEXT -> settings.encoder().encode(request.getText(), true);
      case INPUT_NOT_SET -> throw Bodies.invalid("a prompt is needed");
    };
  }

  private static JsonNode kvTransferParams(String json) {
    try {
      JsonNode params = JSON.readTree(json);
      Bodies.require(params.isObject(), "kv_transfer_params_json must be a JSON object");
      return params;
    } catch (JsonProcessingException e) {
      throw Bodies.invalid("kv_transfer_params_json must be a JSON object");
    }
  }

  @Override
  public void embed(EmbedRequest request, StreamObserver<EmbedResponse> to) {
    rpcs.generate(
        request,
        to,
        (call, fault) -> {
          Bodies.require(request.hasTokenized(), "EmbedRequest requires tokenized input");
          surface.generate(
              Bodies.embedding(
                  request.getTokenized().getInputIdsList(),
                  Bodies.object().put("request_id", request.getRequestId())),
              new EmbedOutput<>(call, fault, surface, EngineService::embedding));
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
    rpcs.answer(
        Scope.HEALTH,
        request,
        to,
        () -> HealthCheckResponse.newBuilder().setHealthy(true).setMessage("Health").build());
  }

  @Override
  public void abort(AbortRequest request, StreamObserver<AbortResponse> to) {
    rpcs.answer(
        Scope.ADMIN,
        request,
        to,
        () -> {
          request.getRequestIdsList().forEach(surface::abortCall);
          return AbortResponse.getDefaultInstance();
        });
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
                .setIsGeneration(true)
                .setMaxContextLength(settings.core().maxModelLen())
                .setVocabSize(ModelFacts.VOCABULARY)
                .setServedModelName(settings.servedModel())
                .setTokenizerPath(settings.model())
                .setModelType(ModelFacts.TYPE)
                .addArchitectures(ModelFacts.ARCHITECTURE)
                .addEosTokenIds(ModelFacts.END_OF_TEXT)
                .setBosTokenId(ModelFacts.BEGIN_OF_TEXT)
                .setMaxReqInputLen(settings.core().maxModelLen())
                .build());
  }

  /** Only what the servicer fills in. */
  @Override
  public void getServerInfo(
      GetServerInfoRequest request, StreamObserver<GetServerInfoResponse> to) {
    rpcs.answer(
        Scope.INFO,
        request,
        to,
        () -> {
          GetServerInfoResponse.Builder info =
              GetServerInfoResponse.newBuilder().setDataParallelSize(settings.dpSize());
          if (settings.role() != WorkerRole.REGULAR) {
            boolean prefill = settings.role() == WorkerRole.PREFILL;
            info.setKvConnector("NixlConnector")
                .setKvRole(prefill ? "kv_producer" : "kv_consumer")
                .setKvEngineId(life.engineId());
          }
          return info.build();
        });
  }

  /** One rank, whatever there are, and zeros where the engine keeps no statistics. */
  @Override
  public void getLoads(GetLoadsRequest request, StreamObserver<GetLoadsResponse> to) {
    rpcs.answer(
        Scope.LOAD,
        request,
        to,
        () -> {
          SchedulerLoad.Builder load = SchedulerLoad.newBuilder();
          if (settings.metricNames() != MetricNames.ABSENT) {
            CoreMetrics metrics = life.snapshots().get(0).metrics();
            load.setNumRunningReqs(metrics.running())
                .setNumWaitingReqs(metrics.waiting())
                .setNumTotalReqs(metrics.running() + metrics.waiting())
                .setTokenUsage(metrics.usage());
          }
          return GetLoadsResponse.newBuilder()
              .setTimestamp(life.now().toString())
              .setVersion(settings.version())
              .setDpRankCount(1)
              .addLoads(load)
              .build();
        });
  }

  @Override
  public void flushCache(FlushCacheRequest request, StreamObserver<FlushCacheResponse> to) {
    rpcs.answerLater(Scope.ADMIN, request, to, () -> Flushes.flush(life));
  }

  @Override
  public void getTokenizer(GetTokenizerRequest request, StreamObserver<GetTokenizerChunk> to) {
    rpcs.stream(Scope.INFO, request, to, call -> TokenizerBundle.serve(tokenizer, call));
  }

  @Override
  public void subscribeKvEvents(SubscribeKvEventsRequest request, StreamObserver<KvEventBatch> to) {
    rpcs.stream(Scope.INFO, request, to, call -> KvEventStream.serve(life, call));
  }
}
