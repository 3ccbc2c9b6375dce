package dev.warmpath.grpc.internal;

import dev.warmpath.proto.smg.FlushCacheRequest;
import dev.warmpath.proto.smg.KvEventBatch;
import dev.warmpath.proto.smg.SubscribeKvEventsRequest;
import dev.warmpath.proto.vllm.engine.AbortRequest;
import dev.warmpath.proto.vllm.engine.ChoiceConstraint;
import dev.warmpath.proto.vllm.engine.GenerateComplete;
import dev.warmpath.proto.vllm.engine.GenerateRequest;
import dev.warmpath.proto.vllm.engine.GenerateResponse;
import dev.warmpath.proto.vllm.engine.GenerateStreamChunk;
import dev.warmpath.proto.vllm.engine.GetLoadsRequest;
import dev.warmpath.proto.vllm.engine.GetModelInfoRequest;
import dev.warmpath.proto.vllm.engine.GetModelInfoResponse;
import dev.warmpath.proto.vllm.engine.GetServerInfoRequest;
import dev.warmpath.proto.vllm.engine.GetServerInfoResponse;
import dev.warmpath.proto.vllm.engine.HealthCheckRequest;
import dev.warmpath.proto.vllm.engine.HealthCheckResponse;
import dev.warmpath.proto.vllm.engine.OutputLogProbs;
import dev.warmpath.proto.vllm.engine.SamplingParams;
import dev.warmpath.proto.vllm.engine.SchedulerLoad;
import dev.warmpath.proto.vllm.engine.TokenizedInput;
import dev.warmpath.proto.vllm.engine.TopLogProbs;
import dev.warmpath.proto.vllm.engine.VllmEngineGrpc;
import dev.warmpath.transport.HealthReport;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.PromptTokens;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerCapabilities;
import dev.warmpath.worker.WorkerRole;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * vLLM behind smg's servicer: tokens in, tokens out, the data-parallel rank as a field. A cancelled
 * call aborts its request (smg-grpc-servicer 0.8.0).
 */
final class VllmEngine extends GeneratingService {
  @Override
  public String name() {
    return "vllm-engine";
  }

  @Override
  public EngineKind engine() {
    return EngineKind.VLLM;
  }

  @Override
  public boolean named(String serviceName) {
    return serviceName.equals(VllmEngineGrpc.SERVICE_NAME);
  }

  @Override
  void refuse(Generation generation) throws InexpressibleException {
    Refusals refusals = new Refusals("vLLM's engine service");
    refusals.unless(generation.cacheSalt() == null, "cache_salt");
    refusals.unless(generation.lora() == null, "lora_path");
    refusals.unless(generation.priority() == null, "priority");
    refusals.unless(generation.bootstrap() == null, "bootstrap_room");
    Long seed = generation.sampling().seed();
    refusals.unless(seed == null || seed == seed.intValue(), "a seed of more than 32 bits");
  }

  @Override
  WireCall<?, ?> call(
      Generation generation,
      OutboundRequest request,
      String rid,
      ModelFacts facts,
      long createdSeconds)
      throws InexpressibleException {
    PromptTokens tokens = request.tokens();
    int[] ids = Refusals.tokens(tokens, null).ids();
    TokenizedInput.Builder input = TokenizedInput.newBuilder();
    for (int id : ids) {
      input.addInputIds(id);
    }
    GenerateRequest.Builder message =
        GenerateRequest.newBuilder()
            .setRequestId(rid)
            .setTokenized(input)
            .setSamplingParams(sampling(generation, facts, ids.length))
            .setStream(generation.stream());
    request.target().rank().ifPresent(message::setDataParallelRank);
    String transfer = generation.kvTransferParams();
    if (transfer != null) {
      message.setKvTransferParamsJson(transfer);
    }
    return new WireCall<>(
        VllmEngineGrpc.getGenerateMethod(),
        message.build(),
        new Metadata(),
        new GeneratedAnswer<>(
            new Reader(), generation, tokens, true, facts, engine(), rid, createdSeconds));
  }

  private static SamplingParams sampling(
      Generation generation, ModelFacts facts, int promptTokens) {
    Sampling sampling = generation.sampling();
    SamplingDefaults otherwise = facts.defaults();
    SamplingParams.Builder params =
        SamplingParams.newBuilder()
            .setTemperature((float) sampling.temperature(otherwise))
            .setTopP((float) sampling.topP(otherwise))
            .setTopK(Math.max(0, sampling.topK(otherwise)))
            .setMinP((float) sampling.minP(otherwise))
            .setFrequencyPenalty((float) sampling.frequencyPenalty())
            .setPresencePenalty((float) sampling.presencePenalty())
            .setRepetitionPenalty((float) sampling.repetitionPenalty(otherwise))
            .setMinTokens(sampling.minTokens())
            .addAllStop(sampling.stop())
            .addAllStopTokenIds(sampling.stopTokenIds())
            .setSkipSpecialTokens(sampling.skipSpecialTokens())
            .setSpacesBetweenSpecialTokens(sampling.spacesBetweenSpecialTokens())
            .setIgnoreEos(sampling.ignoreEos())
            .setN(sampling.n())
            .setIncludeStopStrInOutput(sampling.includeStop())
            .putAllLogitBias(sampling.logitBias());
    Integer most = generation.maxTokens(facts, promptTokens);
    if (most != null) {
      params.setMaxTokens(most);
    }
    if (generation.topLogprobs() >= 0) {
      params.setLogprobs(generation.topLogprobs());
    }
    Long seed = sampling.seed();
    if (seed != null) {
      params.setSeed(seed.intValue());
    }
    Constraint constraint = sampling.constraint();
    if (constraint != null) {
      switch (constraint.kind()) {
        case JSON_SCHEMA -> params.setJsonSchema(constraint.value());
        case JSON_OBJECT -> params.setJsonObject(true);
        case REGEX -> params.setRegex(constraint.value());
        case GRAMMAR -> params.setGrammar(constraint.value());
        case STRUCTURAL_TAG -> params.setStructuralTag(constraint.value());
        case CHOICE ->
            params.setChoice(ChoiceConstraint.newBuilder().addAllChoices(constraint.choices()));
      }
    }
    return params.build();
  }

  private static final class Reader extends ChunkedReader<GenerateResponse> {
    private @Nullable String transfer;

    @Override
    public void read(GenerateResponse message, Consumer<Delta> deltas) throws EngineErrorException {
      switch (message.getResponseCase()) {
        case CHUNK -> {
          GenerateStreamChunk chunk = message.getChunk();
          counted(chunk.getPromptTokens(), chunk.getCachedTokens());
          chunk(
              chunk.getIndex(),
              chunk.getTokenIdsList(),
              logprobs(chunk.getOutputLogprobs()),
              deltas);
        }
        case COMPLETE -> {
          GenerateComplete complete = message.getComplete();
          counted(complete.getPromptTokens(), complete.getCachedTokens());
          if (complete.hasKvTransferParamsJson()) {
            transfer = complete.getKvTransferParamsJson();
          }
          Object matched =
              switch (complete.getMatchedStopCase()) {
                case MATCHED_TOKEN_ID -> complete.getMatchedTokenId();
                case MATCHED_STOP_STR -> complete.getMatchedStopStr();
                case MATCHEDSTOP_NOT_SET -> null;
              };
          complete(
              complete.getIndex(),
              complete.getOutputIdsList(),
              logprobs(complete.getOutputLogprobs()),
              complete.getFinishReason(),
              matched,
              deltas);
        }
        case RESPONSE_NOT_SET -> {
          // a kind of message that is newer than this client
        }
      }
    }

    @Override
    public @Nullable String kvTransferParams() {
      return transfer;
    }

    private static List<Delta.Logprob> logprobs(OutputLogProbs all) {
      return logprobs(
          all.getTokenLogprobsList(),
          all.getTokenIdsList(),
          all.getTopLogprobsList(),
          TopLogProbs::getTokenIdsList,
          TopLogProbs::getValuesList);
    }
  }

  @Override
  public @Nullable ServiceReport probe(ControlCalls calls, Worker worker)
      throws TransportException {
    GetModelInfoResponse model =
        calls.callIfThere(
            VllmEngineGrpc.getGetModelInfoMethod(), GetModelInfoRequest.getDefaultInstance());
    if (model == null) {
      return null;
    }
    GetServerInfoResponse server =
        calls.call(
            VllmEngineGrpc.getGetServerInfoMethod(), GetServerInfoRequest.getDefaultInstance());
    Integer context = Probed.positive(model.getMaxContextLength());
    WorkerRole role =
        switch (server.getKvRole()) {
          case "kv_producer" -> WorkerRole.PREFILL;
          case "kv_consumer" -> WorkerRole.DECODE;
          default -> null; // kv_both says nothing of it, and without a connector it is not set
        };
    return new ServiceReport(
        new WorkerCapabilities(
                EngineKind.VLLM,
                null,
                role,
                Probed.served(model.getServedModelName(), model.getModelPath(), context),
                Probed.positive(server.getDataParallelSize()),
                Probed.positive(server.getBlockSize()),
                null,
                null,
                true)
            .withTransfer(transfer(server)),
        // Drawn anew with every start, unless it is configured.
        Probed.text(server.getKvEngineId()),
        new ModelFacts(
            context,
            Set.copyOf(model.getEosTokenIdsList()),
            SamplingDefaults.read(model.getDefaultSamplingParamsJson())));
  }

  /** Which connector hands its KV over, as pairs are configured with it, and its engine's id. */
  private static Map<String, String> transfer(GetServerInfoResponse server) {
    String protocol =
        switch (server.getKvConnector()) {
          case "NixlConnector" -> "nixl";
          case "NixlPushConnector" -> "nixl-push";
          case "MooncakeConnector" -> "mooncake";
          case "P2pNcclConnector" -> "p2pnccl";
          default -> null; // MoRIIO's writes or reads, which is not told
        };
    if (protocol == null) {
      return Map.of();
    }
    return server.getKvEngineId().isEmpty()
        ? Map.of("pd", protocol)
        : Map.of("pd", protocol, "engine-id", server.getKvEngineId());
  }

  @Override
  public HealthReport health(ControlCalls calls) throws TransportException {
    HealthCheckResponse health =
        calls.call(VllmEngineGrpc.getHealthCheckMethod(), HealthCheckRequest.getDefaultInstance());
    return new HealthReport(health.getHealthy(), Probed.healthy(health.getHealthy()));
  }

  @Override
  public LoadReport load(ControlCalls calls, Worker worker) throws TransportException {
    LoadSum sum = new LoadSum();
    for (SchedulerLoad load :
        calls
            .call(VllmEngineGrpc.getGetLoadsMethod(), GetLoadsRequest.getDefaultInstance())
            .getLoadsList()) {
      sum.add(
          new RankLoad(
              -1,
              load.getNumRunningReqs(),
              load.getNumWaitingReqs(),
              Double.NaN,
              load.getTokenUsage(),
              Double.NaN,
              Double.NaN,
              Double.NaN,
              Double.NaN,
              Double.NaN));
    }
    return new LoadReport(sum.ranks(), "GetLoads", null, Double.NaN);
  }

  /** All figures are zero where the engine keeps no statistics. */
  @Override
  public boolean zeroMayBeUnknown() {
    return true;
  }

  @Override
  public void abort(ControlCalls calls, String rid) throws TransportException {
    var unused =
        calls.call(
            VllmEngineGrpc.getAbortMethod(), AbortRequest.newBuilder().addRequestIds(rid).build());
  }

  @Override
  public boolean flush(ControlCalls calls) throws TransportException {
    return calls
        .call(VllmEngineGrpc.getFlushCacheMethod(), FlushCacheRequest.getDefaultInstance())
        .getSuccess();
  }

  @Override
  public MethodDescriptor<SubscribeKvEventsRequest, KvEventBatch> kvEvents() {
    return VllmEngineGrpc.getSubscribeKvEventsMethod();
  }
}
