package dev.warmpath.grpc.internal;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import dev.warmpath.proto.sglang.scheduler.AbortRequest;
import dev.warmpath.proto.sglang.scheduler.DisaggregatedParams;
import dev.warmpath.proto.sglang.scheduler.GenerateComplete;
import dev.warmpath.proto.sglang.scheduler.GenerateRequest;
import dev.warmpath.proto.sglang.scheduler.GenerateResponse;
import dev.warmpath.proto.sglang.scheduler.GenerateStreamChunk;
import dev.warmpath.proto.sglang.scheduler.GetLoadsRequest;
import dev.warmpath.proto.sglang.scheduler.GetModelInfoRequest;
import dev.warmpath.proto.sglang.scheduler.GetModelInfoResponse;
import dev.warmpath.proto.sglang.scheduler.GetServerInfoRequest;
import dev.warmpath.proto.sglang.scheduler.GetServerInfoResponse;
import dev.warmpath.proto.sglang.scheduler.HealthCheckRequest;
import dev.warmpath.proto.sglang.scheduler.HealthCheckResponse;
import dev.warmpath.proto.sglang.scheduler.OutputLogProbs;
import dev.warmpath.proto.sglang.scheduler.SamplingParams;
import dev.warmpath.proto.sglang.scheduler.SchedulerLoad;
import dev.warmpath.proto.sglang.scheduler.SglangSchedulerGrpc;
import dev.warmpath.proto.sglang.scheduler.TokenizedInput;
import dev.warmpath.proto.sglang.scheduler.TopLogProbs;
import dev.warmpath.proto.smg.FlushCacheRequest;
import dev.warmpath.proto.smg.KvEventBatch;
import dev.warmpath.proto.smg.ProfileResponse;
import dev.warmpath.proto.smg.StartProfileRequest;
import dev.warmpath.proto.smg.StopProfileRequest;
import dev.warmpath.proto.smg.SubscribeKvEventsRequest;
import dev.warmpath.transport.AdminCommand;
import dev.warmpath.transport.AdminReply;
import dev.warmpath.transport.AdminReply.Outcome;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * SGLang behind smg's servicer: tokens in, tokens out. A cancelled call aborts its request. The
 * servicer ignores the data-parallel rank, so a worker is one rank whatever it runs
 * (smg-grpc-servicer 0.8.0).
 */
final class SglangScheduler extends GeneratingService {
  /** The bootstrap server's port where a request names none. */
  private static final int BOOTSTRAP_PORT = 8998;

  @Override
  public String name() {
    return "sglang-scheduler";
  }

  @Override
  public EngineKind engine() {
    return EngineKind.SGLANG;
  }

  @Override
  public boolean named(String serviceName) {
    return serviceName.equals(SglangSchedulerGrpc.SERVICE_NAME);
  }

  @Override
  void refuse(Generation generation) throws InexpressibleException {
    Refusals refusals = new Refusals("SGLang's scheduler service");
    refusals.unless(generation.sampling().seed() == null, "seed");
    refusals.unless(generation.cacheSalt() == null, "cache_salt");
    refusals.unless(generation.lora() == null, "lora_path");
    refusals.unless(generation.priority() == null, "priority");
    refusals.unless(generation.kvTransferParams() == null, "kv_transfer_params");
    Constraint constraint = generation.sampling().constraint();
    refusals.unless(
        constraint == null || constraint.kind() != Constraint.Kind.CHOICE, "a list of choices");
    Generation.Bootstrap bootstrap = generation.bootstrap();
    refusals.unless(
        bootstrap == null || bootstrap.room() == (int) bootstrap.room(),
        "a bootstrap_room of more than 31 bits");
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
            .setReturnLogprob(generation.topLogprobs() >= 0)
            .setLogprobStartLen(-1)
            .setTopLogprobsNum(Math.max(0, generation.topLogprobs()))
            .setLogMetrics(true)
            .setStream(generation.stream());
    Generation.Bootstrap bootstrap = generation.bootstrap();
    if (bootstrap != null) {
      Integer port = bootstrap.port();
      message.setDisaggregatedParams(
          DisaggregatedParams.newBuilder()
              .setBootstrapHost(bootstrap.host())
              .setBootstrapPort(port == null ? BOOTSTRAP_PORT : port)
              .setBootstrapRoom((int) bootstrap.room()));
    }
    return new WireCall<>(
        SglangSchedulerGrpc.getGenerateMethod(),
        message.build(),
        new Metadata(),
        new GeneratedAnswer<>(
            new Reader(), generation, tokens, true, facts, engine(), rid, createdSeconds));
  }

  private static SamplingParams sampling(
      Generation generation, ModelFacts facts, int promptTokens) {
    Sampling sampling = generation.sampling();
    SamplingDefaults otherwise = facts.defaults();
    int topK = sampling.topK(otherwise);
    SamplingParams.Builder params =
        SamplingParams.newBuilder()
            .setTemperature((float) sampling.temperature(otherwise))
            .setTopP((float) sampling.topP(otherwise))
            .setTopK(topK < 1 ? -1 : topK)
            .setMinP((float) sampling.minP(otherwise))
            .setFrequencyPenalty((float) sampling.frequencyPenalty())
            .setPresencePenalty((float) sampling.presencePenalty())
            .setRepetitionPenalty((float) sampling.repetitionPenalty(otherwise))
            .addAllStop(sampling.stop())
            .addAllStopTokenIds(sampling.stopTokenIds())
            .setSkipSpecialTokens(sampling.skipSpecialTokens())
            .setSpacesBetweenSpecialTokens(sampling.spacesBetweenSpecialTokens())
            .setN(sampling.n())
            .setMinNewTokens(sampling.minTokens())
            .setIgnoreEos(sampling.ignoreEos())
            .setNoStopTrim(sampling.includeStop());
    Integer most = generation.maxTokens(facts, promptTokens);
    if (most != null) {
      params.setMaxNewTokens(most);
    }
    sampling.logitBias().forEach((id, bias) -> params.putLogitBias(Integer.toString(id), bias));
    Constraint constraint = sampling.constraint();
    if (constraint != null) {
      switch (constraint.kind()) {
        case JSON_SCHEMA -> params.setJsonSchema(constraint.value());
        case JSON_OBJECT -> params.setJsonSchema("{\"type\":\"object\"}");
        case REGEX -> params.setRegex(constraint.value());
        case GRAMMAR -> params.setEbnfGrammar(constraint.value());
        case STRUCTURAL_TAG -> params.setStructuralTag(constraint.value());
        case CHOICE -> throw new IllegalStateException("refused before");
      }
    }
    return params.build();
  }

  private static final class Reader extends ChunkedReader<GenerateResponse> {
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
            SglangSchedulerGrpc.getGetModelInfoMethod(), GetModelInfoRequest.getDefaultInstance());
    if (model == null) {
      return null;
    }
    GetServerInfoResponse server =
        calls.call(
            SglangSchedulerGrpc.getGetServerInfoMethod(),
            GetServerInfoRequest.getDefaultInstance());
    Struct args = server.getServerArgs();
    // The model info's max_context_length is the KV capacity, not the context.
    Integer context = Probed.positive(number(args, "context_length"));
    context = context == null ? Probed.positive(model.getMaxReqInputLen()) : context;
    WorkerRole role =
        switch (text(args, "disaggregation_mode")) {
          case "prefill" -> WorkerRole.PREFILL;
          case "decode" -> WorkerRole.DECODE;
          case "" -> null;
          default -> WorkerRole.REGULAR;
        };
    Integer capacity = Probed.positive(server.getMaxTotalNumTokens());
    WorkerCapabilities capabilities =
        new WorkerCapabilities(
                EngineKind.SGLANG,
                server.getSglangVersion().isEmpty() ? null : server.getSglangVersion(),
                role,
                Probed.served(model.getServedModelName(), model.getModelPath(), context),
                1,
                Probed.positive(number(args, "page_size")),
                capacity == null ? null : Long.valueOf(capacity),
                Probed.positive(number(args, "max_running_requests")),
                true)
            .withTransfer(transfer(args, role));
    String incarnation =
        server.hasStartTime()
            ? server.getStartTime().getSeconds() + "." + server.getStartTime().getNanos()
            : null;
    return new ServiceReport(
        capabilities,
        incarnation,
        new ModelFacts(
            context,
            Set.copyOf(model.getEosTokenIdsList()),
            SamplingDefaults.read(model.getDefaultSamplingParamsJson())));
  }

  /** As over HTTP: only prefill's bootstrap port is its own. */
  private static Map<String, String> transfer(Struct args, @Nullable WorkerRole role) {
    if (role != WorkerRole.PREFILL && role != WorkerRole.DECODE) {
      return Map.of();
    }
    Map<String, String> said = new HashMap<>();
    Integer port = Probed.positive(number(args, "disaggregation_bootstrap_port"));
    if (role == WorkerRole.PREFILL && port != null) {
      said.put("bootstrap-port", port.toString());
    }
    String backend = text(args, "disaggregation_transfer_backend");
    if (!backend.isEmpty()) {
      said.put("kv-transport", backend);
    }
    String type = text(args, "kv_cache_dtype");
    if (!type.isEmpty() && !type.equals("auto")) {
      said.put("kv-dtype", type);
    }
    return said;
  }

  private static double number(Struct args, String name) {
    Value value = args.getFieldsOrDefault(name, Value.getDefaultInstance());
    return value.hasNumberValue() ? value.getNumberValue() : 0;
  }

  private static String text(Struct args, String name) {
    return args.getFieldsOrDefault(name, Value.getDefaultInstance()).getStringValue();
  }

  @Override
  public HealthReport health(ControlCalls calls) throws TransportException {
    HealthCheckResponse health =
        calls.call(
            SglangSchedulerGrpc.getHealthCheckMethod(), HealthCheckRequest.getDefaultInstance());
    return new HealthReport(health.getHealthy(), Probed.healthy(health.getHealthy()));
  }

  @Override
  public LoadReport load(ControlCalls calls, Worker worker) throws TransportException {
    List<SchedulerLoad> loads =
        calls
            .call(
                SglangSchedulerGrpc.getGetLoadsMethod(),
                GetLoadsRequest.newBuilder().addInclude("core").build())
            .getLoadsList();
    LoadSum sum = new LoadSum();
    for (SchedulerLoad load : loads) {
      sum.add(
          new RankLoad(
              -1,
              load.getNumRunningReqs(),
              load.getNumWaitingReqs(),
              load.getNumUsedTokens(),
              load.getTokenUsage(),
              LoadSum.unlessZero(load.getMaxTotalNumTokens()),
              LoadSum.unlessZero(load.getMaxRunningRequests()),
              load.getCacheHitRate(),
              load.getGenThroughput(),
              load.getNumWaitingUncachedTokens()));
    }
    return new LoadReport(sum.ranks(), "GetLoads", null, Double.NaN);
  }

  @Override
  public void abort(ControlCalls calls, String rid) throws TransportException {
    var unused =
        calls.call(
            SglangSchedulerGrpc.getAbortMethod(),
            AbortRequest.newBuilder().setRequestId(rid).setReason("cancelled").build());
  }

  @Override
  public boolean flush(ControlCalls calls) throws TransportException {
    return calls
        .call(SglangSchedulerGrpc.getFlushCacheMethod(), FlushCacheRequest.getDefaultInstance())
        .getSuccess();
  }

  @Override
  public @Nullable AdminReply admin(ControlCalls calls, AdminCommand command)
      throws TransportException {
    ProfileResponse response;
    if (command instanceof AdminCommand.StartProfile) {
      response =
          calls.call(
              SglangSchedulerGrpc.getStartProfileMethod(),
              StartProfileRequest.getDefaultInstance());
    } else if (command instanceof AdminCommand.StopProfile) {
      response =
          calls.call(
              SglangSchedulerGrpc.getStopProfileMethod(), StopProfileRequest.getDefaultInstance());
    } else {
      return null;
    }
    return AdminReply.of(
        response.getSuccess() ? Outcome.DONE : Outcome.FAILED, response.getMessage());
  }

  @Override
  public MethodDescriptor<SubscribeKvEventsRequest, KvEventBatch> kvEvents() {
    return SglangSchedulerGrpc.getSubscribeKvEventsMethod();
  }
}
