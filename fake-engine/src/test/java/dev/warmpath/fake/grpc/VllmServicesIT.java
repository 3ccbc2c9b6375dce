package dev.warmpath.fake.grpc;

import static dev.warmpath.fake.grpc.GrpcClient.all;
import static dev.warmpath.fake.grpc.GrpcClient.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.grpc.GrpcClient.Taker;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.text.FakeTokenizer;
import dev.warmpath.fake.wire.GrpcApi;
import dev.warmpath.fake.wire.MetricNames;
import dev.warmpath.proto.health.HealthCheckRequest;
import dev.warmpath.proto.health.HealthCheckResponse.ServingStatus;
import dev.warmpath.proto.health.HealthGrpc;
import dev.warmpath.proto.vllm.control.AbortRequest;
import dev.warmpath.proto.vllm.control.ControlGrpc;
import dev.warmpath.proto.vllm.control.GetKvEventSourcesRequest;
import dev.warmpath.proto.vllm.control.GetModelInfoRequest;
import dev.warmpath.proto.vllm.control.GetServerInfoRequest;
import dev.warmpath.proto.vllm.control.IsPausedRequest;
import dev.warmpath.proto.vllm.control.IsSleepingRequest;
import dev.warmpath.proto.vllm.control.PauseGenerationRequest;
import dev.warmpath.proto.vllm.control.PauseMode;
import dev.warmpath.proto.vllm.control.ResumeGenerationRequest;
import dev.warmpath.proto.vllm.control.ServerInfo;
import dev.warmpath.proto.vllm.control.ShutdownRequest;
import dev.warmpath.proto.vllm.control.SleepRequest;
import dev.warmpath.proto.vllm.control.WakeUpRequest;
import dev.warmpath.proto.vllm.engine.GetLoadsRequest;
import dev.warmpath.proto.vllm.engine.GetLoadsResponse;
import dev.warmpath.proto.vllm.engine.SamplingParams;
import dev.warmpath.proto.vllm.engine.TokenizedInput;
import dev.warmpath.proto.vllm.engine.VllmEngineGrpc;
import dev.warmpath.proto.vllm.inference.FinishInfo.FinishReason;
import dev.warmpath.proto.vllm.inference.GenerateRequest;
import dev.warmpath.proto.vllm.inference.GenerateResponse;
import dev.warmpath.proto.vllm.inference.InferenceGrpc;
import dev.warmpath.proto.vllm.inference.RandomSampling;
import dev.warmpath.proto.vllm.inference.ResponseOptions;
import dev.warmpath.proto.vllm.inference.StoppingCriteria;
import dev.warmpath.proto.vllm.inference.TokenIds;
import dev.warmpath.worker.EngineKind;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.MetadataUtils;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** vLLM behind smg's servicer and vLLM's own front end, by plain stubs over real sockets. */
class VllmServicesIT {
  private static final int[] PROMPT = FakeTokenizer.encode("a prompt of seven tokens, or so");

  private static dev.warmpath.fake.FakeEngineBuilder vllm(GrpcApi api) {
    return FakeEngine.builder()
        .kind(EngineKind.VLLM)
        .model("m")
        .blockSize(4)
        .timing(LatencyModel.instant())
        .grpcPort(0)
        .grpcApi(api);
  }

  private static SamplingParams.Builder sampling(int tokens) {
    return SamplingParams.newBuilder()
        .setTopP(1)
        .setN(1)
        .setRepetitionPenalty(1)
        .setMaxTokens(tokens);
  }

  private static dev.warmpath.proto.vllm.engine.GenerateRequest.Builder tokenized(
      String id, SamplingParams.Builder sampling) {
    TokenizedInput.Builder input = TokenizedInput.newBuilder();
    Arrays.stream(PROMPT).forEach(input::addInputIds);
    return dev.warmpath.proto.vllm.engine.GenerateRequest.newBuilder()
        .setRequestId(id)
        .setTokenized(input)
        .setSamplingParams(sampling);
  }

  private static GenerateRequest.Builder inference(String id, int tokens) {
    TokenIds.Builder ids = TokenIds.newBuilder();
    Arrays.stream(PROMPT).forEach(ids::addIds);
    return GenerateRequest.newBuilder()
        .setRequestId(id)
        .setTokenIds(ids)
        .setStopping(StoppingCriteria.newBuilder().setMaxNewTokens(tokens));
  }

  @Test
  void chunksCountThemselvesAlone() {
    try (FakeEngine engine = vllm(GrpcApi.VLLM_ENGINE).start();
        GrpcClient client = new GrpcClient(engine)) {
      var stub = VllmEngineGrpc.newBlockingStub(client.channel());
      var stream = all(stub.generate(tokenized("s", sampling(4)).setStream(true).build()));
      assertThat(stream).hasSize(5);
      assertThat(stream.subList(0, 4))
          .allSatisfy(each -> assertThat(each.getChunk().getCompletionTokens()).isEqualTo(1));
      var last = stream.get(4).getComplete();
      assertThat(last.getCompletionTokens()).isEqualTo(1);
      assertThat(last.getOutputIdsList()).isEqualTo(stream.get(3).getChunk().getTokenIdsList());
      assertThat(last.getFinishReason()).isEqualTo("length");
      var plain =
          all(stub.generate(
                  tokenized("p", sampling(4).setLogprobs(1).setPromptLogprobs(1)).build()))
              .get(0)
              .getComplete();
      assertThat(plain.getCompletionTokens()).isEqualTo(4);
      assertThat(plain.getOutputIds(3)).isEqualTo(last.getOutputIds(0));
      assertThat(plain.getCachedTokens()).isEqualTo(4);
      assertThat(plain.getOutputLogprobs().getTopLogprobs(2).getTokenIds(0))
          .isEqualTo(plain.getOutputIds(2));
      assertThat(plain.getInputLogprobs().getTokenLogprobsCount()).isEqualTo(PROMPT.length);
      var stopped =
          all(stub.generate(
                  tokenized("t", sampling(4).addStopTokenIds(plain.getOutputIds(1))).build()))
              .get(0)
              .getComplete();
      assertThat(stopped.getMatchedTokenId()).isEqualTo(plain.getOutputIds(1));
      var seeded =
          all(stub.generate(tokenized("x", sampling(4).setSeed(9)).build())).get(0).getComplete();
      assertThat(seeded.getOutputIdsList()).isNotEqualTo(plain.getOutputIdsList());
      assertThat(
              failure(() -> all(stub.generate(tokenized("z", sampling(1).setTopP(0)).build())))
                  .getCode())
          .isEqualTo(Status.Code.INVALID_ARGUMENT);
    }
  }

  @Test
  void ranksAreHonoured() {
    try (FakeEngine engine = vllm(GrpcApi.VLLM_ENGINE).dpSize(2).start();
        GrpcClient client = new GrpcClient(engine)) {
      var stub = VllmEngineGrpc.newBlockingStub(client.channel());
      all(stub.generate(tokenized("r", sampling(1)).setDataParallelRank(1).build()));
      assertThat(engine.ranks().get(0).metrics().promptTokens()).isZero();
      assertThat(engine.ranks().get(1).metrics().promptTokens()).isEqualTo(PROMPT.length);
      assertThat(
              failure(
                      () ->
                          all(
                              stub.generate(
                                  tokenized("r", sampling(1)).setDataParallelRank(2).build())))
                  .getCode())
          .isEqualTo(Status.Code.INVALID_ARGUMENT);
      var info =
          stub.getServerInfo(
              dev.warmpath.proto.vllm.engine.GetServerInfoRequest.getDefaultInstance());
      assertThat(info.getDataParallelSize()).isEqualTo(2);
      assertThat(info.getServerType()).isEmpty();
      var model =
          stub.getModelInfo(
              dev.warmpath.proto.vllm.engine.GetModelInfoRequest.getDefaultInstance());
      assertThat(model.getMaxContextLength()).isEqualTo(131_072);
    }
  }

  @Test
  void loadsAreZeroWhereNothingIsCounted() throws Exception {
    for (MetricNames names : List.of(MetricNames.CURRENT, MetricNames.ABSENT)) {
      try (FakeEngine engine = vllm(GrpcApi.VLLM_ENGINE).metricNames(names).start();
          GrpcClient client = new GrpcClient(engine)) {
        engine.pause();
        Taker<dev.warmpath.proto.vllm.engine.GenerateResponse> taker = new Taker<>();
        VllmEngineGrpc.newStub(client.channel())
            .generate(tokenized("w", sampling(1)).build(), taker);
        await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 1);
        var stub = VllmEngineGrpc.newBlockingStub(client.channel());
        GetLoadsResponse loads = stub.getLoads(GetLoadsRequest.getDefaultInstance());
        assertThat(loads.getDpRankCount()).isEqualTo(1);
        assertThat(loads.getLoads(0).getNumWaitingReqs())
            .isEqualTo(names == MetricNames.ABSENT ? 0 : 1);
        assertThat(loads.getLoads(0).getMaxTotalNumTokens()).isZero();
        stub.abort(
            dev.warmpath.proto.vllm.engine.AbortRequest.newBuilder().addRequestIds("w").build());
        engine.resume();
        assertThat(taker.end()).isEqualTo(Status.OK);
        assertThat(taker.messages.remove().getComplete().getFinishReason()).isEqualTo("abort");
      }
    }
  }

  @Test
  void inferenceTellsTextAndTokens() {
    try (FakeEngine engine = vllm(GrpcApi.VLLM_INFERENCE).start();
        GrpcClient client = new GrpcClient(engine)) {
      var stub = InferenceGrpc.newBlockingStub(client.channel());
      ResponseOptions both = ResponseOptions.newBuilder().setOutputTokenIds(true).build();
      GenerateResponse plain = stub.generate(inference("p", 5).setResponse(both).build());
      assertThat(plain.getPromptInfo().getNumPromptTokens()).isEqualTo(PROMPT.length);
      assertThat(plain.getOutputs().getTokenIdsCount()).isEqualTo(5);
      assertThat(plain.getOutputs().getText())
          .isEqualTo(
              FakeTokenizer.instance()
                  .decode(
                      plain.getOutputs().getTokenIdsList().stream()
                          .mapToInt(Integer::intValue)
                          .toArray()));
      assertThat(plain.getOutputs().getFinishInfo().getFinishReason())
          .isEqualTo(FinishReason.LENGTH);
      List<GenerateResponse> stream = all(stub.generateStream(inference("s", 5).build()));
      assertThat(stream).hasSize(5);
      assertThat(stream.get(0).hasPromptInfo()).isTrue();
      assertThat(stream.get(1).hasPromptInfo()).isFalse();
      StringBuilder text = new StringBuilder();
      stream.forEach(each -> text.append(each.getOutputs().getText()));
      assertThat(text.toString()).isEqualTo(plain.getOutputs().getText());
      assertThat(stream.get(3).getOutputs().hasFinishInfo()).isFalse();
      assertThat(stream.get(4).getOutputs().getFinishInfo().getNumOutputTokens()).isEqualTo(5);
      // No limit is a limit of 20, which is a length and no natural end.
      assertThat(stub.generate(inference("d", 0).build()).getOutputs().getFinishInfo())
          .matches(info -> info.getNumOutputTokens() == 20);
      GenerateResponse stopped =
          stub.generate(
              inference("t", 5)
                  .setStopping(
                      StoppingCriteria.newBuilder()
                          .setMaxNewTokens(5)
                          .addStopStrings(text.substring(6, 9)))
                  .build());
      assertThat(stopped.getOutputs().getText()).isEqualTo(text.substring(0, 6));
      assertThat(stopped.getOutputs().getFinishInfo().getStopString())
          .isEqualTo(text.substring(6, 9));
      GenerateRequest several =
          inference("n", 1).setSampling(RandomSampling.newBuilder().setNumSequences(2)).build();
      assertThat(failure(() -> stub.generate(several)).getCode())
          .isEqualTo(Status.Code.INVALID_ARGUMENT);
      assertThat(all(stub.generateStream(several)))
          .extracting(each -> each.getOutputs().getIndex())
          .containsExactlyInAnyOrder(0, 1);
      assertThat(
              failure(() -> stub.generate(inference("m", 1).setModel("other").build())).getCode())
          .isEqualTo(Status.Code.NOT_FOUND);
    }
  }

  @Test
  void aDroppedStreamRunsOnUntilItIsAborted() throws Exception {
    try (FakeEngine engine = vllm(GrpcApi.VLLM_INFERENCE).start();
        GrpcClient client = new GrpcClient(engine)) {
      engine.pause();
      Taker<GenerateResponse> taker = new Taker<>();
      io.grpc.Context.CancellableContext context = io.grpc.Context.current().withCancellation();
      context.run(
          () ->
              InferenceGrpc.newStub(client.channel())
                  .generateStream(inference("gone", 30).build(), taker));
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 1);
      context.cancel(null);
      assertThat(taker.end().getCode()).isEqualTo(Status.Code.CANCELLED);
      var control = ControlGrpc.newBlockingStub(client.channel());
      // Whatever comes behind the cancellation on the same connection finds it still there.
      assertThat(control.isPaused(IsPausedRequest.getDefaultInstance()).getPaused()).isTrue();
      assertThat(engine.stats().waiting()).isEqualTo(1);
      control.abort(AbortRequest.newBuilder().addRequestIds("gone").build());
      control.abort(AbortRequest.newBuilder().addRequestIds("gone").build());
      control.resumeGeneration(ResumeGenerationRequest.getDefaultInstance());
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> engine.stats().waiting() + engine.stats().running() == 0);
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().aborted() == 1);
      assertThat(engine.stats().generatedTokens()).isZero();
    }
  }

  @Test
  void ranksComeAsMetadata() {
    try (FakeEngine engine = vllm(GrpcApi.VLLM_INFERENCE).dpSize(2).start();
        GrpcClient client = new GrpcClient(engine)) {
      Metadata metadata = new Metadata();
      metadata.put(Metadata.Key.of("x-data-parallel-rank", Metadata.ASCII_STRING_MARSHALLER), "1");
      var stub =
          InferenceGrpc.newBlockingStub(client.channel())
              .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata));
      assertThat(stub.generate(inference("r", 1).build()).hasOutputs()).isTrue();
      assertThat(engine.ranks().get(1).metrics().promptTokens()).isEqualTo(PROMPT.length);
    }
  }

  @Test
  void controlSaysWhatItIsAndObeys() {
    try (FakeEngine engine =
            vllm(GrpcApi.VLLM_INFERENCE)
                .kvEvents(KvEventSettings.builder().replayPort(0).topic("kv").build())
                .start();
        GrpcClient client = new GrpcClient(engine)) {
      var control = ControlGrpc.newBlockingStub(client.channel());
      ServerInfo info = control.getServerInfo(GetServerInfoRequest.getDefaultInstance());
      assertThat(info.getEngineVersion()).isEqualTo("0.24.0");
      assertThat(info.getKvBlockSize()).isEqualTo(4);
      assertThat(info.getTotalKvBlocks()).isEqualTo(16_384);
      assertThat(info.getParallelism().getDataParallelSize()).isEqualTo(1);
      assertThat(
              control.getModelInfo(GetModelInfoRequest.getDefaultInstance()).getServedModelName())
          .isEqualTo("m");
      var source =
          control.getKvEventSources(GetKvEventSourcesRequest.getDefaultInstance()).getSources(0);
      assertThat(source.getEndpoint()).isEqualTo("tcp://*:" + engine.kvEvents().port());
      assertThat(source.getTopic()).isEqualTo("kv");
      assertThat(source.getReplayEndpoint()).startsWith("tcp://*:");
      assertThat(
              HealthGrpc.newBlockingStub(client.channel())
                  .check(HealthCheckRequest.newBuilder().setService("vllm.Inference").build())
                  .getStatus())
          .isEqualTo(ServingStatus.SERVING);
      control.pauseGeneration(
          PauseGenerationRequest.newBuilder().setMode(PauseMode.PAUSE_MODE_KEEP).build());
      assertThat(control.isPaused(IsPausedRequest.getDefaultInstance()).getPaused()).isTrue();
      control.resumeGeneration(ResumeGenerationRequest.getDefaultInstance());
      assertThat(control.isPaused(IsPausedRequest.getDefaultInstance()).getPaused()).isFalse();
      control.sleep(SleepRequest.getDefaultInstance());
      assertThat(control.isSleeping(IsSleepingRequest.getDefaultInstance()).getSleeping()).isTrue();
      control.wakeUp(WakeUpRequest.getDefaultInstance());
      assertThat(control.isSleeping(IsSleepingRequest.getDefaultInstance()).getSleeping())
          .isFalse();
      assertThat(failure(() -> control.shutdown(ShutdownRequest.getDefaultInstance())).getCode())
          .isEqualTo(Status.Code.UNIMPLEMENTED);
      String before = info.getInstanceId();
      engine.restart();
      assertThat(
              control
                  .withWaitForReady()
                  .getServerInfo(GetServerInfoRequest.getDefaultInstance())
                  .getInstanceId())
          .isNotEqualTo(before);
    }
  }

  @Test
  void otherEnginesHaveNoSuchServer() {
    Assertions.assertThatIllegalArgumentException()
        .isThrownBy(() -> FakeEngine.builder().grpcPort(0).grpcApi(GrpcApi.VLLM_ENGINE).start())
        .withMessageContaining("sglang has no gRPC server");
    Assertions.assertThatIllegalArgumentException()
        .isThrownBy(() -> FakeEngine.builder().kind(EngineKind.ATOM).grpcPort(0).start());
    try (FakeEngine engine = vllm(GrpcApi.VLLM_ENGINE).start();
        GrpcClient client = new GrpcClient(engine)) {
      assertThat(
              failure(
                      () ->
                          ControlGrpc.newBlockingStub(client.channel())
                              .getServerInfo(GetServerInfoRequest.getDefaultInstance()))
                  .getCode())
          .isEqualTo(Status.Code.UNIMPLEMENTED);
      assertThat(engine.faults().fired(Fault.Kind.STATUS)).isZero();
    }
  }
}
