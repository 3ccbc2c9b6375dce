package dev.warmpath.fake.grpc;

import static dev.warmpath.fake.grpc.GrpcClient.all;
import static dev.warmpath.fake.grpc.GrpcClient.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.grpc.GrpcClient.Taker;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.wire.GrpcApi;
import dev.warmpath.proto.sglang.scheduler.GenerateRequest;
import dev.warmpath.proto.sglang.scheduler.GenerateResponse;
import dev.warmpath.proto.sglang.scheduler.HealthCheckRequest;
import dev.warmpath.proto.sglang.scheduler.SamplingParams;
import dev.warmpath.proto.sglang.scheduler.SglangSchedulerGrpc;
import dev.warmpath.proto.sglang.scheduler.TokenizedInput;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a gRPC client sees of each fault, over real sockets. */
class GrpcFaultsIT {
  private FakeEngine engine;
  private GrpcClient client;
  private SglangSchedulerGrpc.SglangSchedulerBlockingStub stub;

  @BeforeEach
  void start() {
    engine = FakeEngine.builder().timing(LatencyModel.instant()).speedup(1_000).grpcPort(0).start();
    client = new GrpcClient(engine);
    stub = SglangSchedulerGrpc.newBlockingStub(client.channel());
  }

  @AfterEach
  void stop() {
    client.close();
    engine.close();
  }

  private static GenerateRequest request(int promptTokens, int tokens) {
    TokenizedInput.Builder input = TokenizedInput.newBuilder();
    for (int i = 0; i < promptTokens; i++) {
      input.addInputIds(1_000 + i);
    }
    return GenerateRequest.newBuilder()
        .setRequestId("r")
        .setTokenized(input)
        .setStream(true)
        .setSamplingParams(
            SamplingParams.newBuilder()
                .setTopP(1)
                .setTopK(-1)
                .setN(1)
                .setRepetitionPenalty(1)
                .setMaxNewTokens(tokens))
        .build();
  }

  private List<GenerateResponse> generate() {
    return all(stub.generate(request(8, 4)));
  }

  /**
   * Takes what comes until the stream fails. A client drops what it has not handed over yet when
   * its connection goes, so that fewer messages may come than were sent.
   */
  private Status broken(int messages) {
    Iterator<GenerateResponse> stream = stub.generate(request(8, 4));
    List<GenerateResponse> got = new ArrayList<>();
    Status status = failure(() -> stream.forEachRemaining(got::add));
    assertThat(got).hasSizeLessThanOrEqualTo(messages);
    return status;
  }

  @ParameterizedTest
  @CsvSource({
    "400, INVALID_ARGUMENT",
    "401, UNAUTHENTICATED",
    "404, NOT_FOUND",
    "413, RESOURCE_EXHAUSTED",
    "429, RESOURCE_EXHAUSTED",
    "500, INTERNAL",
    "501, UNIMPLEMENTED",
    "503, UNAVAILABLE",
    "504, DEADLINE_EXCEEDED"
  })
  void statusesAreGrpcs(int http, Status.Code code) {
    engine.faults().add(Fault.status(http).times(1));
    assertThat(broken(0).getCode()).isEqualTo(code);
    assertThat(generate()).hasSize(5);
    assertThat(engine.stats().failed()).isEqualTo(1);
    assertThat(engine.stats().served()).isEqualTo(1);
  }

  @Test
  void busyEnginesSayWhenToComeBack() {
    engine.faults().add(Fault.tooManyRequests(Duration.ofSeconds(2)));
    Throwable error = Assertions.catchThrowable(this::generate);
    assertThat(error).isInstanceOf(StatusRuntimeException.class);
    assertThat(
            ((StatusRuntimeException) error)
                .getTrailers()
                .get(Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER)))
        .isEqualTo("2000");
  }

  @Test
  void connectionsAreResetInMidStream() {
    engine.faults().add(Fault.reset(2).times(1));
    Status status = broken(2);
    assertThat(status.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(status.getCause()).isInstanceOf(IOException.class);
    assertThat(generate()).hasSize(5);
  }

  @Test
  void connectionsAreResetBeforeAnything() {
    engine.faults().add(Fault.reset(0).times(1));
    assertThat(broken(0).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(engine.stats().running()).isZero();
  }

  @Test
  void connectionsAreCutInMidStream() {
    engine.faults().add(Fault.cut(1).times(1));
    assertThat(broken(1).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(generate()).hasSize(5);
  }

  @Test
  void streamsEndWithoutTheirEnd() {
    engine.faults().add(Fault.truncate(2).times(1));
    assertThat(generate()).hasSize(2).noneMatch(GenerateResponse::hasComplete);
    assertThat(engine.stats().failed()).isEqualTo(1);
  }

  @Test
  void errorsComeInMidStream() {
    engine.faults().add("error:chunks=3,status=503,count=1");
    Status status = broken(3);
    assertThat(status.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(status.getDescription()).isEqualTo("injected fault");
  }

  @Test
  void garbageIsNoHttp2() {
    engine.faults().add(Fault.garbage().times(1));
    assertThat(broken(0).getCode()).isIn(Status.Code.UNAVAILABLE, Status.Code.INTERNAL);
    assertThat(generate()).hasSize(5);
  }

  @Test
  void hangingCallsWaitUntilTheirClientLeaves() throws Exception {
    engine.faults().add(Fault.hang().times(1));
    Taker<GenerateResponse> taker = new Taker<>();
    io.grpc.Context.CancellableContext context = io.grpc.Context.current().withCancellation();
    context.run(() -> SglangSchedulerGrpc.newStub(client.channel()).generate(request(8, 4), taker));
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.faults().fired(Fault.Kind.HANG) == 1);
    assertThat(generate()).hasSize(5);
    assertThat(taker.hasEnded()).isFalse();
    context.cancel(null);
    assertThat(taker.end().getCode()).isEqualTo(Status.Code.CANCELLED);
  }

  @Test
  void streamsHangInTheMiddle() throws Exception {
    engine.faults().add("hang:chunks=2,count=1");
    Taker<GenerateResponse> taker = new Taker<>();
    SglangSchedulerGrpc.newStub(client.channel()).generate(request(8, 4), taker);
    taker.next();
    taker.next();
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().running() == 0);
    assertThat(taker.messages).isEmpty();
    assertThat(taker.hasEnded()).isFalse();
  }

  @Test
  void goAwaySparesWhatIsUnderWay() {
    generate();
    assertThat(engine.stats().connections()).isEqualTo(1);
    engine.pause();
    engine.faults().add(Fault.goAway().times(1));
    Taker<GenerateResponse> first = new Taker<>();
    Taker<GenerateResponse> second = new Taker<>();
    SglangSchedulerGrpc.newStub(client.channel()).generate(request(8, 4), first);
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 1);
    SglangSchedulerGrpc.newStub(client.channel()).generate(request(8, 4), second);
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 2);
    assertThat(engine.stats().connections()).isEqualTo(2);
    engine.resume();
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(() -> assertThat(first.end()).isEqualTo(Status.OK));
    await()
        .atMost(Duration.ofMinutes(1))
        .untilAsserted(() -> assertThat(second.end()).isEqualTo(Status.OK));
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().connections() == 1);
    assertThat(engine.stats().served()).isEqualTo(3);
  }

  @Test
  void refusedConnectionsAndBackAgain() {
    String url = engine.grpcUrl();
    engine.faults().add(Fault.refuse());
    Status refused = broken(0);
    assertThat(refused.getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(refused.getCause()).hasRootCauseInstanceOf(ConnectException.class);
    engine.faults().clear();
    try (GrpcClient other = new GrpcClient(engine)) {
      assertThat(all(SglangSchedulerGrpc.newBlockingStub(other.channel()).generate(request(8, 4))))
          .hasSize(5);
    }
    assertThat(engine.grpcUrl()).isEqualTo(url);
  }

  @Test
  void refusalTakesTheRequestThatTriggersItAlong() {
    engine.faults().add("refuse:after=1");
    assertThat(generate()).hasSize(5);
    assertThat(broken(0).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(broken(0).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    engine.faults().clear();
    try (GrpcClient other = new GrpcClient(engine)) {
      assertThat(all(SglangSchedulerGrpc.newBlockingStub(other.channel()).generate(request(8, 4))))
          .hasSize(5);
    }
  }

  @Test
  void killedEnginesResetAndComeBackEmpty() throws Exception {
    generate();
    engine.pause();
    Taker<GenerateResponse> taker = new Taker<>();
    SglangSchedulerGrpc.newStub(client.channel()).generate(request(200, 4), taker);
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 1);
    engine.kill();
    assertThat(taker.end().getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    engine.restart();
    try (GrpcClient other = new GrpcClient(engine)) {
      List<GenerateResponse> again =
          all(
              SglangSchedulerGrpc.newBlockingStub(other.channel())
                  .withWaitForReady()
                  .generate(request(200, 4)));
      assertThat(again.get(0).getChunk().getCachedTokens()).isZero();
    }
    assertThat(engine.stats().starts()).isEqualTo(2);
  }

  @Test
  void restartByFaultTakesTheRequestAlong() {
    engine.faults().add(Fault.restart());
    assertThat(broken(0).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().starts() == 2);
    assertThat(all(stub.withWaitForReady().generate(request(8, 4)))).hasSize(5);
  }

  @Test
  void faultsAreConfinedToTheirScope() {
    engine.faults().add(Fault.status(503).on(Scope.HEALTH));
    assertThat(failure(() -> stub.healthCheck(HealthCheckRequest.getDefaultInstance())).getCode())
        .isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(generate()).hasSize(5);
    engine.faults().set(Fault.parse("slow:delay=1ms"));
    assertThat(generate()).hasSize(5);
    assertThat(engine.faults().fired(Fault.Kind.SLOW)).isEqualTo(1);
  }

  @Test
  void messagesHaveALimitThatDependsOnTheServer() {
    try (FakeEngine runtime =
            FakeEngine.builder().grpcPort(0).grpcApi(GrpcApi.SGLANG_RUNTIME).start();
        GrpcClient small = new GrpcClient(runtime)) {
      var tokens = dev.warmpath.proto.sglang.runtime.GenerateRequest.newBuilder();
      for (int i = 0; i < 1_100_000; i++) {
        tokens.addInputIds(100_000_000);
      }
      var service =
          dev.warmpath.proto.sglang.runtime.SglangServiceGrpc.newBlockingStub(small.channel());
      Status status = failure(() -> all(service.generate(tokens.build())));
      assertThat(status.getCode()).isEqualTo(Status.Code.OUT_OF_RANGE);
      assertThat(status.getDescription()).contains("message length too large");
    }
    // The servicer takes it, and the engine finds the prompt too long.
    assertThat(failure(() -> all(stub.generate(request(1_500_000, 4)))).getCode())
        .isEqualTo(Status.Code.INVALID_ARGUMENT);
  }
}
