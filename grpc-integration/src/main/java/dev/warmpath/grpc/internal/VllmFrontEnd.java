package dev.warmpath.grpc.internal;

import dev.warmpath.api.Usage;
import dev.warmpath.proto.vllm.control.AbortRequest;
import dev.warmpath.proto.vllm.control.ControlGrpc;
import dev.warmpath.proto.vllm.control.GetModelInfoRequest;
import dev.warmpath.proto.vllm.control.GetServerInfoRequest;
import dev.warmpath.proto.vllm.control.ModelInfo;
import dev.warmpath.proto.vllm.control.ParallelismInfo;
import dev.warmpath.proto.vllm.control.PauseGenerationRequest;
import dev.warmpath.proto.vllm.control.ResumeGenerationRequest;
import dev.warmpath.proto.vllm.control.ServerInfo;
import dev.warmpath.proto.vllm.inference.CandidateTokenInfo;
import dev.warmpath.proto.vllm.inference.CandidateTokens;
import dev.warmpath.proto.vllm.inference.DecodingParameters;
import dev.warmpath.proto.vllm.inference.FinishInfo;
import dev.warmpath.proto.vllm.inference.GenerateRequest;
import dev.warmpath.proto.vllm.inference.GenerateResponse;
import dev.warmpath.proto.vllm.inference.InferenceGrpc;
import dev.warmpath.proto.vllm.inference.KVCacheParameters;
import dev.warmpath.proto.vllm.inference.RandomSampling;
import dev.warmpath.proto.vllm.inference.ResponseOptions;
import dev.warmpath.proto.vllm.inference.SequenceOutput;
import dev.warmpath.proto.vllm.inference.StoppingCriteria;
import dev.warmpath.proto.vllm.inference.TokenIds;
import dev.warmpath.transport.AdminCommand;
import dev.warmpath.transport.AdminReply;
import dev.warmpath.transport.AdminReply.Outcome;
import dev.warmpath.transport.HealthReport;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.PromptTokens;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerCapabilities;
import io.grpc.Metadata;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's own Rust front end: it takes tokens and decodes the answer itself. It tells no load and no
 * cached tokens, and a cancelled call is not aborted until {@code Control.Abort} says so (vLLM
 * 0.27).
 */
final class VllmFrontEnd extends GeneratingService {
  private static final Metadata.Key<String> RANK =
      Metadata.Key.of("x-data-parallel-rank", Metadata.ASCII_STRING_MARSHALLER);

  @Override
  public String name() {
    return "vllm";
  }

  @Override
  public EngineKind engine() {
    return EngineKind.VLLM;
  }

  @Override
  public boolean named(String serviceName) {
    return serviceName.equals(InferenceGrpc.SERVICE_NAME)
        || serviceName.equals(ControlGrpc.SERVICE_NAME);
  }

  /**
   * It tokenizes a completion's one text itself; only log probabilities name tokens by their text.
   */
  @Override
  boolean needsTokens(Generation generation) {
    return generation.promptText() == null || generation.topLogprobs() >= 0;
  }

  @Override
  void refuse(Generation generation) throws InexpressibleException {
    Refusals refusals = new Refusals("vLLM's gRPC front end");
    refusals.unless(generation.lora() == null, "lora_path");
    refusals.unless(generation.bootstrap() == null, "bootstrap_room");
    refusals.unless(generation.kvTransferParams() == null, "kv_transfer_params");
    refusals.unless(
        generation.sampling().spacesBetweenSpecialTokens(), "spaces_between_special_tokens");
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
    GenerateRequest.Builder message =
        GenerateRequest.newBuilder()
            .setRequestId(rid)
            .setModel(generation.model())
            .setTemperature((float) generation.sampling().temperature(facts.defaults()))
            .setSampling(sampling(generation, facts))
            .setDecoding(decoding(generation, facts))
            .setStopping(stopping(generation, facts, tokens))
            .setResponse(response(generation));
    String text = generation.promptText();
    if (tokens != null) {
      TokenIds.Builder ids = TokenIds.newBuilder();
      for (int id : tokens.ids()) {
        ids.addIds(id);
      }
      message.setTokenIds(ids);
    } else if (text != null) {
      message.setText(text);
    }
    String salt = generation.cacheSalt();
    if (salt != null) {
      message.setKv(KVCacheParameters.newBuilder().setCacheSalt(salt));
    }
    Integer priority = generation.priority();
    if (priority != null) {
      message.setPriority(priority);
    }
    Metadata headers = new Metadata();
    request.target().rank().ifPresent(rank -> headers.put(RANK, Integer.toString(rank)));
    return new WireCall<>(
        InferenceGrpc.getGenerateStreamMethod(),
        message.build(),
        headers,
        new GeneratedAnswer<>(
            new Reader(generation.topLogprobs()),
            generation,
            tokens,
            false,
            facts,
            engine(),
            rid,
            createdSeconds));
  }

  private static RandomSampling sampling(Generation generation, ModelFacts facts) {
    Sampling sampling = generation.sampling();
    RandomSampling.Builder random =
        RandomSampling.newBuilder()
            .setNumSequences(sampling.n())
            .setTopK(Math.max(0, sampling.topK(facts.defaults())))
            .setTopP((float) sampling.topP(facts.defaults()))
            .setMinP((float) sampling.minP(facts.defaults()));
    Long seed = sampling.seed();
    return seed == null ? random.build() : random.setSeed(seed).build();
  }

  private static DecodingParameters decoding(Generation generation, ModelFacts facts) {
    Sampling sampling = generation.sampling();
    DecodingParameters.Builder decoding =
        DecodingParameters.newBuilder()
            .setPresencePenalty((float) sampling.presencePenalty())
            .setFrequencyPenalty((float) sampling.frequencyPenalty())
            .setRepetitionPenalty((float) sampling.repetitionPenalty(facts.defaults()))
            .putAllLogitBias(sampling.logitBias());
    Constraint constraint = sampling.constraint();
    if (constraint != null) {
      switch (constraint.kind()) {
        case JSON_SCHEMA -> decoding.setJson(constraint.value());
        case JSON_OBJECT -> decoding.setJsonObject(true);
        case REGEX -> decoding.setRegex(constraint.value());
        case GRAMMAR -> decoding.setGrammar(constraint.value());
        case STRUCTURAL_TAG -> decoding.setStructuralTag(constraint.value());
        case CHOICE ->
            decoding.setChoice(
                DecodingParameters.StringChoices.newBuilder().addAllChoices(constraint.choices()));
      }
    }
    return decoding.build();
  }

  /** The limit is always said: 0 would mean 20 tokens. */
  private static StoppingCriteria stopping(
      Generation generation, ModelFacts facts, @Nullable PromptTokens tokens)
      throws InexpressibleException {
    Sampling sampling = generation.sampling();
    Integer most = generation.maxTokens(facts, tokens == null ? 0 : tokens.size());
    if (most == null) {
      throw new InexpressibleException(
          "the worker does not say how long its context is: set max_tokens");
    }
    return StoppingCriteria.newBuilder()
        .setMaxNewTokens(most)
        .setMinNewTokens(sampling.minTokens())
        .addAllStopTokenIds(sampling.stopTokenIds())
        .addAllStopStrings(sampling.stop())
        .setIncludeStopStrings(sampling.includeStop())
        .setIgnoreEos(sampling.ignoreEos())
        .build();
  }

  private static ResponseOptions response(Generation generation) {
    ResponseOptions.Builder options =
        ResponseOptions.newBuilder()
            .setOutputText(true)
            .setOutputTokenIds(true)
            .setSkipSpecialTokens(generation.sampling().skipSpecialTokens());
    int top = generation.topLogprobs();
    if (top >= 0) {
      options.setOutputLogprobs(true);
    }
    if (top > 0) {
      options.setOutputCandidates(CandidateTokens.newBuilder().setTopN(top));
    }
    return options.build();
  }

  private static final class Reader implements WireReader<GenerateResponse> {
    private final int topLogprobs;
    private @Nullable Integer promptTokens;

    Reader(int topLogprobs) {
      this.topLogprobs = topLogprobs;
    }

    @Override
    public void read(GenerateResponse message, Consumer<Delta> deltas) {
      if (message.hasPromptInfo()) {
        promptTokens = message.getPromptInfo().getNumPromptTokens();
      }
      if (message.hasOutputs()) {
        SequenceOutput output = message.getOutputs();
        deltas.accept(
            new Delta(
                output.getIndex(),
                output.getTokenIdsList(),
                output.getText(),
                topLogprobs < 0 ? List.of() : logprobs(output),
                output.hasFinishInfo() ? end(output.getFinishInfo()) : null));
      }
    }

    private static Delta.@Nullable End end(FinishInfo finish) {
      String reason =
          switch (finish.getFinishReason()) {
            case LENGTH -> "length";
            case STOP -> "stop";
            case ABORTED, UNRECOGNIZED -> "abort";
            case NOT_FINISHED -> null;
          };
      Object matched =
          switch (finish.getStopReasonCase()) {
            case STOP_TOKEN_ID -> finish.getStopTokenId();
            case STOP_STRING -> finish.getStopString();
            case EOS_TOKEN_ID, STOPREASON_NOT_SET -> null;
          };
      return reason == null ? null : new Delta.End(reason, matched);
    }

    /** The candidates are those other than the token itself. */
    private List<Delta.Logprob> logprobs(SequenceOutput output) {
      List<Delta.Logprob> logprobs = new ArrayList<>(output.getLogprobsCount());
      for (int i = 0; i < Math.min(output.getLogprobsCount(), output.getTokenIdsCount()); i++) {
        record Scored(int id, float value) {}
        List<Scored> all = new ArrayList<>();
        all.add(new Scored(output.getTokenIds(i), output.getLogprobs(i)));
        if (i < output.getCandidateTokensCount()) {
          for (CandidateTokenInfo.TokenInfo info : output.getCandidateTokens(i).getTokensList()) {
            if (info.getId() != output.getTokenIds(i)) {
              all.add(new Scored(info.getId(), info.getLogprob()));
            }
          }
        }
        all.sort(Comparator.comparingDouble(Scored::value).reversed());
        List<Scored> top = all.subList(0, Math.min(topLogprobs, all.size()));
        logprobs.add(
            new Delta.Logprob(
                output.getTokenIds(i),
                output.getLogprobs(i),
                top.stream().map(Scored::id).toList(),
                top.stream().map(Scored::value).toList()));
      }
      return logprobs;
    }

    @Override
    public Usage promptUsage() {
      return new Usage(promptTokens, null, null);
    }
  }

  @Override
  public @Nullable ServiceReport probe(ControlCalls calls, Worker worker)
      throws TransportException {
    ServerInfo server =
        calls.callIfThere(
            ControlGrpc.getGetServerInfoMethod(), GetServerInfoRequest.getDefaultInstance());
    if (server == null) {
      return null;
    }
    ModelInfo model =
        calls.call(ControlGrpc.getGetModelInfoMethod(), GetModelInfoRequest.getDefaultInstance());
    Integer context = Probed.positive(server.getMaxModelLen());
    Set<String> names = new LinkedHashSet<>();
    names.add(
        model.getServedModelName().isEmpty() ? model.getModelId() : model.getServedModelName());
    names.addAll(model.getServedModelAliasesList());
    names.remove("");
    ParallelismInfo parallelism = server.getParallelism();
    long tokens = server.getTotalKvBlocks() * server.getKvBlockSize();
    return new ServiceReport(
        new WorkerCapabilities(
            EngineKind.VLLM,
            Probed.text(server.getEngineVersion()),
            null,
            names.stream()
                .map(name -> new ServedModel(name, Probed.text(model.getModelId()), null, context))
                .toList(),
            Probed.positive(parallelism.getDataParallelSize()),
            Probed.positive(server.getKvBlockSize()),
            tokens > 0 ? Long.valueOf(tokens) : null,
            Probed.positive((double) server.getMaxRunningRequests()),
            false),
        Probed.text(server.getInstanceId()),
        new ModelFacts(context, Set.of(), SamplingDefaults.NEUTRAL));
  }

  /** It answers, so it lives: the engine's own health is that of its front end. */
  @Override
  public HealthReport health(ControlCalls calls) throws TransportException {
    var unused =
        calls.call(ControlGrpc.getGetServerInfoMethod(), GetServerInfoRequest.getDefaultInstance());
    return new HealthReport(true, "GetServerInfo answers");
  }

  @Override
  public LoadReport load(ControlCalls calls, Worker worker) {
    return new LoadReport(List.of(), "none", null, Double.NaN);
  }

  @Override
  public void abort(ControlCalls calls, String rid) throws TransportException {
    var unused =
        calls.call(
            ControlGrpc.getAbortMethod(), AbortRequest.newBuilder().addRequestIds(rid).build());
  }

  @Override
  public boolean outlivesCancel() {
    return true;
  }

  @Override
  public boolean flush(ControlCalls calls) throws TransportException {
    throw Statuses.notUnderstood("vLLM's gRPC front end has no call that empties the cache");
  }

  @Override
  public boolean flushes() {
    return false;
  }

  @Override
  public @Nullable AdminReply admin(ControlCalls calls, AdminCommand command)
      throws TransportException {
    if (command instanceof AdminCommand.Pause pause) {
      String refusal = pause.mode().refusedBy(EngineKind.VLLM);
      if (refusal != null) {
        return AdminReply.of(Outcome.UNSUPPORTED, refusal);
      }
      dev.warmpath.proto.vllm.control.PauseMode mode =
          switch (pause.mode()) {
            case ABORT -> dev.warmpath.proto.vllm.control.PauseMode.PAUSE_MODE_ABORT;
            case WAIT -> dev.warmpath.proto.vllm.control.PauseMode.PAUSE_MODE_WAIT;
            default -> dev.warmpath.proto.vllm.control.PauseMode.PAUSE_MODE_KEEP;
          };
      var unused =
          calls.call(
              ControlGrpc.getPauseGenerationMethod(),
              PauseGenerationRequest.newBuilder().setMode(mode).setClearCache(false).build());
      return AdminReply.of(Outcome.DONE, "");
    }
    if (command instanceof AdminCommand.Resume) {
      var unused =
          calls.call(
              ControlGrpc.getResumeGenerationMethod(),
              ResumeGenerationRequest.getDefaultInstance());
      return AdminReply.of(Outcome.DONE, "");
    }
    return null;
  }
}
