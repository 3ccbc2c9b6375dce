package dev.warmpath.examples;

import static dev.warmpath.examples.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.warmpath.RouterClient;
import dev.warmpath.api.NoWorkerAvailableException;
import dev.warmpath.api.PdInfo;
import dev.warmpath.api.PrefillDecodeException;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.scheduler.KvTransfer;
import dev.warmpath.fake.text.ModelPromptEncoder;
import dev.warmpath.fake.wire.GrpcApi;
import dev.warmpath.grpc.ChannelSettings;
import dev.warmpath.grpc.GrpcTransport;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.policy.Policies;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.proto.sglang.scheduler.AbortRequest;
import dev.warmpath.proto.sglang.scheduler.GenerateRequest;
import dev.warmpath.proto.sglang.scheduler.GenerateResponse;
import dev.warmpath.proto.sglang.scheduler.SglangSchedulerGrpc;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.MethodDescriptor;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two prefill and two decode workers that are reached by smg's gRPC services alone, which tell
 * their roles and how they hand KV over. Every test ends with no KV held, no room live and nothing
 * in flight, on both sides and in the clients.
 */
@Timeout(120)
@Tag("long")
class PrefillDecodeGrpcIT {
  private static final String MODEL = "small";
  private static final KvTransfer QUICK = new KvTransfer(100_000, 10);

  /** A link on which the KV of a prompt is under way for as long as a test looks. */
  private static final KvTransfer SLOW = new KvTransfer(100_000, 1e-6);

  /** Longer than a busy machine takes from prefill's end to decode's first look. */
  private static final Duration LEASE = Duration.ofSeconds(2);

  /** Where a decode worker that refuses leaves the KV to it. */
  private static final Duration SHORT_LEASE = Duration.ofMillis(300);

  @TempDir private static Path folder;
  private static ModelFiles files;

  private final Queue<Call> calls = new ConcurrentLinkedQueue<>();
  private final List<RouterClient> clients = new ArrayList<>();
  private FakeFleet fleet;

  /** A message that the client sent to a worker. */
  private record Call(WorkerId worker, Object message) {}

  @BeforeAll
  static void layOutTheModel() {
    files = ModelFiles.of(SmallModel.writeTo(folder.resolve(MODEL)));
  }

  private void start(GrpcApi api, KvTransfer link) {
    start(api, link, LEASE);
  }

  private void start(GrpcApi api, KvTransfer link, Duration lease) {
    fleet =
        FakeFleet.start(
            "2p2d",
            worker ->
                worker
                    .kind(api.engine())
                    .model(MODEL)
                    .promptEncoder(new ModelPromptEncoder(files, api.engine()))
                    .speedup(20)
                    .grpcPort(0)
                    .grpcApi(api)
                    .disconnectDelay(Duration.ZERO)
                    .kvTransfer(link)
                    .handoffTimeouts(
                        new HandoffTimeouts(
                            Duration.ofSeconds(30), Duration.ofSeconds(30), lease)));
  }

  private RouterClient client(long seed) {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .transport(GrpcTransport.builder().channels(this::channel).build())
            .model(MODEL, files)
            .prefillPolicy(Policies.roundRobin())
            .decodePolicy(Policies.roundRobin())
            .seed(seed);
    for (FakeEngine engine : fleet.engines()) {
      builder.worker(Objects.requireNonNull(engine.grpcUrl()));
    }
    RouterClient client = builder.build();
    clients.add(client);
    await()
        .until(
            () ->
                client.workers().list().stream()
                    .allMatch(view -> view.worker().role() != WorkerRole.REGULAR));
    return client;
  }

  private ManagedChannel channel(WorkerId id) {
    ClientInterceptor recorder =
        new ClientInterceptor() {
          @Override
          public <Q, A> ClientCall<Q, A> interceptCall(
              MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
            return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
              @Override
              public void sendMessage(Q message) {
                calls.add(new Call(id, message));
                super.sendMessage(message);
              }
            };
          }
        };
    return ChannelSettings.ENGINE
        .apply(ManagedChannelBuilder.forAddress(id.uri().getHost(), id.uri().getPort()))
        .usePlaintext()
        .intercept(recorder)
        .build();
  }

  @AfterEach
  void nothingIsHeld() {
    await()
        .untilAsserted(
            () -> {
              for (FakeEngine engine : fleet.engines()) {
                assertThat(engine.handoffs()).as(engine.toString()).isZero();
                assertThat(engine.heldBlocks()).isZero();
                assertThat(engine.liveRooms()).isZero();
              }
              assertThat(fleet.stats().activeBlocks()).isZero();
              assertThat(fleet.stats().running() + fleet.stats().waiting()).isZero();
              for (RouterClient client : clients) {
                assertThat(client.stats().pd().liveSessions()).isZero();
                assertThat(client.stats().pd().liveRooms()).isZero();
                assertThat(client.stats().inFlight()).isZero();
              }
            });
    clients.forEach(
        client ->
            client
                .workers()
                .list()
                .forEach(
                    worker ->
                        worker.ranks().forEach(rank -> assertThat(rank.inFlight()).isZero())));
    clients.forEach(RouterClient::close);
    fleet.close();
  }

  private static String body(String prompt, int tokens, boolean stream, String more) {
    return "{\"model\":\"small\",\"max_tokens\":"
        + tokens
        + ",\"ignore_eos\":true,\"stream\":"
        + stream
        + more
        + ",\"messages\":[{\"role\":\"user\",\"content\":\""
        + prompt
        + "\"}]}";
  }

  private static RouterRequest chat(String prompt, int tokens, boolean stream) {
    return RouterRequest.chatCompletions(body(prompt, tokens, stream, ""));
  }

  /** What came of a request, streamed or not. */
  private record Answer(String text, PdInfo pair) {}

  private static Answer ask(RouterClient client, String prompt, int tokens, boolean stream) {
    if (!stream) {
      RouterResponse response = client.send(chat(prompt, tokens, false));
      assertThat(response.status()).as(response.text()).isEqualTo(200);
      return new Answer(
          Run.text(response.text(), "choices", 0, "message", "content"), response.decision().pd());
    }
    StringBuilder text = new StringBuilder();
    try (RouterStream events = client.stream(chat(prompt, tokens, true))) {
      events.forEach(
          event -> text.append(Run.text(event.data(), "choices", 0, "delta", "content")));
      return new Answer(text.toString(), events.decision().pd());
    }
  }

  private List<FakeEngine> workers(WorkerRole role) {
    return fleet.engines().stream().filter(engine -> engine.role() == role).toList();
  }

  private <T> List<T> sent(WorkerRole role, Class<T> kind) {
    Set<String> urls = new HashSet<>();
    workers(role).forEach(engine -> urls.add(engine.grpcUrl()));
    return calls.stream()
        .filter(call -> urls.contains(call.worker().value()) && kind.isInstance(call.message()))
        .map(call -> kind.cast(call.message()))
        .toList();
  }

  @ParameterizedTest
  @CsvSource({"SGLANG_SCHEDULER,sglang", "VLLM_ENGINE,nixl"})
  void pairsAreFoundByAskingAndGiveTheTextOfOneEngine(GrpcApi api, String protocol) {
    start(api, QUICK);
    RouterClient client = client(7);
    String expected;
    try (FakeEngine one =
            FakeEngine.builder()
                .kind(api.engine())
                .model(MODEL)
                .promptEncoder(new ModelPromptEncoder(files, api.engine()))
                .speedup(20)
                .start();
        RouterClient direct =
            RouterClient.builder().transport(OkHttpTransport.create()).worker(one.url()).build()) {
      assertThat(direct.awaitReady(Duration.ofSeconds(30))).isTrue();
      RouterResponse alone = direct.send(chat("a story of two pools", 24, false));
      expected = Run.text(alone.text(), "choices", 0, "message", "content");
    }
    assertThat(expected).isNotEmpty();
    Set<String> pairs = new HashSet<>();
    for (int i = 0; i < 8; i++) {
      Answer answer = ask(client, "a story of two pools", 24, i % 2 == 1);
      assertThat(answer.text()).isEqualTo(expected);
      assertThat(answer.pair().protocol()).isEqualTo(protocol);
      assertThat(answer.pair().attempts()).isEqualTo(1);
      pairs.add(answer.pair().prefill() + answer.pair().decode());
    }
    assertThat(pairs).hasSize(4);
    assertThat(client.stats().pd().recomputes()).as("decode computed no prompt").isZero();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void roomsFitTheWireAndBothLegsNamePrefillsBootstrapServer(boolean stream) {
    start(GrpcApi.SGLANG_SCHEDULER, QUICK);
    RouterClient client = client(7);
    for (int i = 0; i < 8; i++) {
      PdInfo pair = ask(client, "where do we meet", 4, stream).pair();
      assertThat(pair.room()).isBetween(1L, (long) Integer.MAX_VALUE);
    }
    List<GenerateRequest> prefills = sent(WorkerRole.PREFILL, GenerateRequest.class);
    assertThat(sent(WorkerRole.DECODE, GenerateRequest.class))
        .as("both legs are told the same")
        .containsExactlyInAnyOrderElementsOf(prefills);
    Set<Integer> ports = new HashSet<>();
    workers(WorkerRole.PREFILL).forEach(engine -> ports.add(engine.sideChannelPort()));
    Set<Integer> named = new HashSet<>();
    Set<Integer> rooms = new HashSet<>();
    Set<String> ids = new HashSet<>();
    prefills.forEach(
        request -> {
          named.add(request.getDisaggregatedParams().getBootstrapPort());
          rooms.add(request.getDisaggregatedParams().getBootstrapRoom());
          ids.add(request.getRequestId());
        });
    assertThat(named).as("told by the workers' own probes").isEqualTo(ports);
    assertThat(rooms).hasSize(8);
    assertThat(ids).hasSize(8);
  }

  static List<Arguments> failures() {
    List<Arguments> all = new ArrayList<>();
    for (GrpcApi api : List.of(GrpcApi.SGLANG_SCHEDULER, GrpcApi.VLLM_ENGINE)) {
      for (WorkerRole role : List.of(WorkerRole.PREFILL, WorkerRole.DECODE)) {
        for (boolean stream : new boolean[] {false, true}) {
          // A vLLM decode worker that fails leaves KV to its lease, which takes some time.
          if (api == GrpcApi.SGLANG_SCHEDULER || !stream) {
            all.add(Arguments.of(api, role, stream, "503:count=1"));
          }
          if (api == GrpcApi.SGLANG_SCHEDULER || stream) {
            all.add(Arguments.of(api, role, stream, "reset:count=1"));
          }
        }
      }
    }
    return all;
  }

  @ParameterizedTest
  @MethodSource("failures")
  void aFailureOfEitherRoleBeforeTheFirstTokenIsRetriedAsAFreshPair(
      GrpcApi api, WorkerRole role, boolean stream, String fault) {
    start(api, QUICK, role == WorkerRole.DECODE ? SHORT_LEASE : LEASE);
    RouterClient client = client(7);
    workers(role).get(0).faults().add(fault);
    int attempts = 0;
    int requests = 0;
    // Chance may send some to the worker that is well; not all of so many.
    while (attempts == requests && requests < 60) {
      Answer answer = ask(client, "what fails on the way", 8, stream);
      assertThat(answer.text()).isNotEmpty();
      attempts += answer.pair().attempts();
      requests++;
    }
    assertThat(attempts).as("one of them met the fault").isGreaterThan(requests);
    if (api == GrpcApi.SGLANG_SCHEDULER) {
      assertThat(attempts).isEqualTo(requests + 1);
      Set<String> ids = new HashSet<>();
      Set<Integer> rooms = new HashSet<>();
      sent(WorkerRole.DECODE, GenerateRequest.class)
          .forEach(
              request -> {
                ids.add(request.getRequestId());
                rooms.add(request.getDisaggregatedParams().getBootstrapRoom());
              });
      assertThat(ids).as("each attempt has an id of its own").hasSizeGreaterThanOrEqualTo(requests);
      assertThat(rooms).hasSameSizeAs(ids);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = GrpcApi.class,
      names = {"SGLANG_SCHEDULER", "VLLM_ENGINE"})
  void aDecodeWorkerThatDiesMidStreamIsAnErrorAndNothingIsSentAgain(GrpcApi api) {
    start(api, QUICK);
    RouterClient client = client(7);
    try (RouterStream stream = client.stream(chat("a long answer", 100_000, true))) {
      assertThat(stream.next()).isNotNull();
      FakeEngine victim = at(stream.decision().pd().decode());
      victim.kill();
      PrefillDecodeException failed =
          catchThrowableOfType(
              PrefillDecodeException.class,
              () -> {
                while (stream.next() != null) {
                  // reads what had come
                }
              });
      assertThat(failed.partialOutput()).isTrue();
      assertThat(failed.retryable()).isFalse();
      assertThat(failed.blamed()).isEqualTo("decode");
      victim.restart();
    }
    assertThat(client.stats().pd().attempts()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aCancelAbortsOnceAndByTheExactIdAtEachWorkerThatStillRuns(boolean streaming) {
    start(GrpcApi.SGLANG_SCHEDULER, streaming ? QUICK : SLOW);
    RouterClient client = client(7);
    CompletableFuture<RouterStream> stream = client.streamAsync(chat("given up", 100_000, true));
    if (streaming) {
      try (RouterStream open = stream.join()) {
        assertThat(open.next()).isNotNull();
      }
    } else {
      await().until(() -> workers(WorkerRole.PREFILL).stream().anyMatch(by -> by.heldBlocks() > 0));
      assertThat(stream.cancel(true)).isTrue();
    }
    await().until(() -> client.stats().pd().liveSessions() == 0);
    List<String> id =
        sent(WorkerRole.DECODE, GenerateRequest.class).stream()
            .map(GenerateRequest::getRequestId)
            .toList();
    assertThat(id).hasSize(1);
    assertThat(sent(WorkerRole.PREFILL, GenerateRequest.class))
        .extracting(GenerateRequest::getRequestId)
        .isEqualTo(id);
    await()
        .untilAsserted(
            () -> {
              assertThat(sent(WorkerRole.DECODE, AbortRequest.class))
                  .extracting(AbortRequest::getRequestId)
                  .isEqualTo(id);
              assertThat(sent(WorkerRole.PREFILL, AbortRequest.class))
                  .extracting(AbortRequest::getRequestId)
                  .as("a prefill that has delivered has nothing to abort")
                  .isEqualTo(streaming ? List.of() : id);
            });
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aRoomThatAnotherClientHoldsIsLeftToItAndTheRequestTriedInAFreshOne(boolean stream) {
    start(GrpcApi.SGLANG_SCHEDULER, QUICK);
    // Of one seed and on one thread two clients draw the same room, which 31 bits make likely
    // enough.
    Answer before = ask(client(7), "who was here first", 4, false);
    FakeEngine prefill = at(before.pair().prefill());
    FakeEngine decode = at(before.pair().decode());
    prefill.faults().add("hang:count=1,on=transfer");
    GenerateRequest taken =
        sent(WorkerRole.PREFILL, GenerateRequest.class).get(0).toBuilder()
            .setRequestId("somebody-elses")
            .build();
    RouterClient late = client(7);
    calls.clear();
    List<ManagedChannel> channels = new ArrayList<>();
    try {
      for (FakeEngine engine : List.of(prefill, decode)) {
        ManagedChannel channel = channel(WorkerSpec.parse(engine.grpcUrl()).id());
        channels.add(channel);
        Iterator<GenerateResponse> unread =
            SglangSchedulerGrpc.newBlockingStub(channel).generate(taken);
        assertThat(unread).isNotNull();
      }
      await().until(() -> prefill.heldBlocks() > 0 && decode.handoffs() == 1);
      calls.clear();
      Answer answer = ask(late, "who was here first", 4, stream);
      assertThat(answer.text()).isEqualTo(before.text());
      List<Integer> rooms =
          sent(WorkerRole.PREFILL, GenerateRequest.class).stream()
              .map(request -> request.getDisaggregatedParams().getBootstrapRoom())
              .toList();
      assertThat(rooms).hasSize(2).doesNotHaveDuplicates().startsWith((int) before.pair().room());
      assertThat(answer.pair().room()).isEqualTo((long) rooms.get(1));
      assertThat(answer.pair().attempts()).isEqualTo(2);
      late.workers()
          .list()
          .forEach(
              view ->
                  assertThat(late.breaker(view.worker())).as("nobody failed").isEqualTo("closed"));
      assertThat(prefill.heldBlocks()).as("the other client's is untouched").isPositive();
      assertThat(decode.handoffs()).isEqualTo(1);
    } finally {
      channels.forEach(ManagedChannel::shutdownNow);
    }
  }

  private FakeEngine at(String url) {
    return fleet.engines().stream()
        .filter(engine -> url.equals(engine.grpcUrl()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void whatTheServiceHasNoWordsForIsRefusedBeforeAPairIsChosen() {
    start(GrpcApi.SGLANG_SCHEDULER, QUICK);
    RouterClient client = client(7);
    RouterRequest seeded =
        RouterRequest.chatCompletions(body("no words for it", 4, false, ",\"seed\":3"));
    assertThatThrownBy(() -> client.send(seeded))
        .isInstanceOf(NoWorkerAvailableException.class)
        .hasMessageContaining("seed");
    assertThatThrownBy(() -> client.explain(seeded))
        .isInstanceOf(NoWorkerAvailableException.class)
        .hasMessageContaining("seed");
    assertThat(sent(WorkerRole.PREFILL, GenerateRequest.class)).isEmpty();
    assertThat(sent(WorkerRole.DECODE, GenerateRequest.class)).isEmpty();
    assertThat(client.stats().pd().sessions()).doesNotContainKey("concurrent/failed");
  }

  @Test
  void samplesAreSessionsOfTheirOwn() {
    start(GrpcApi.SGLANG_SCHEDULER, QUICK);
    RouterClient client = client(7);
    RouterResponse three =
        client.send(RouterRequest.chatCompletions(body("three times", 4, false, ",\"n\":3")));
    assertThat(three.status()).as(three.text()).isEqualTo(200);
    for (int i = 0; i < 3; i++) {
      assertThat(Run.text(three.text(), "choices", i, "message", "content")).isNotEmpty();
    }
    assertThat(sent(WorkerRole.DECODE, GenerateRequest.class))
        .hasSize(3)
        .allSatisfy(request -> assertThat(request.getSamplingParams().getN()).isEqualTo(1))
        .extracting(request -> request.getDisaggregatedParams().getBootstrapRoom())
        .doesNotHaveDuplicates();
  }

  @Test
  void manyAtOnceComeThroughAndStreamsThatAreLeftFreeBothSides() {
    start(GrpcApi.SGLANG_SCHEDULER, QUICK);
    RouterClient client = client(7);
    List<CompletableFuture<RouterResponse>> answers = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      answers.add(client.sendAsync(chat("session " + (i % 5) + " question " + i, 8, false)));
    }
    for (int i = 0; i < 10; i++) {
      try (RouterStream stream = client.stream(chat("a long answer " + i, 100_000, true))) {
        assertThat(stream.next()).isNotNull();
      }
    }
    answers.forEach(answer -> assertThat(answer.join().status()).isEqualTo(200));
  }

  @Test
  void aPrefillWorkerThatIsGoneIsPassedOver() {
    start(GrpcApi.SGLANG_SCHEDULER, QUICK);
    RouterClient client = client(7);
    FakeEngine victim = workers(WorkerRole.PREFILL).get(0);
    victim.kill();
    await()
        .ignoreExceptionsInstanceOf(RouterException.class)
        .untilAsserted(
            () ->
                assertThat(ask(client, "who is left", 4, false).pair().prefill())
                    .isEqualTo(workers(WorkerRole.PREFILL).get(1).grpcUrl()));
    victim.restart();
  }
}
