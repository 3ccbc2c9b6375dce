package dev.warmpath.examples;

import static dev.warmpath.examples.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.RouterClient;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.examples.PairTraffic.Shape;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.ReceivedRequest;
import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.handoff.TransferProtocol;
import dev.warmpath.fake.scheduler.KvTransfer;
import dev.warmpath.health.Availability;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.okhttp.RoutingInterceptor;
import dev.warmpath.pd.PdSettings;
import dev.warmpath.pd.PdTimeouts;
import dev.warmpath.policy.Policies;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.SocketFactory;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Two prefill and two decode workers over real sockets, by SGLang's rooms and by vLLM's leases.
 * Every test ends with no KV held, no room live and nothing in flight, on both sides and in the
 * client.
 */
@Timeout(120)
class PrefillDecodeIT {
  private final Queue<ReceivedRequest> received = new ConcurrentLinkedQueue<>();
  private PdSettings settings = PdSettings.DEFAULT;
  private FakeFleet fleet;
  private RouterClient router;

  private void start(EngineKind kind, String policy) {
    start(kind, policy, new KvTransfer(100_000, 10));
  }

  private void start(EngineKind kind, String policy, KvTransfer link) {
    start(TransferProtocol.usual(kind), policy, link);
  }

  private void start(TransferProtocol protocol, String policy, KvTransfer link) {
    fleet =
        FakeFleet.start(
            "2p2d",
            worker ->
                worker
                    .kind(protocol.engine())
                    .transfer(protocol)
                    .model("m")
                    .speedup(20)
                    .disconnectDelay(Duration.ZERO)
                    .kvTransfer(link)
                    .onRequest(received::add)
                    .handoffTimeouts(
                        new HandoffTimeouts(
                            Duration.ofSeconds(5), Duration.ofSeconds(5), Duration.ofSeconds(2))));
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .prefillPolicy(Policies.parse(policy))
            .decodePolicy(Policies.roundRobin())
            .prefillDecode(settings)
            .seed(7);
    for (FakeEngine engine : fleet.engines()) {
      builder.worker(engine.workerSpec());
    }
    router = builder.build();
    await()
        .until(
            () ->
                router.workers().list().stream()
                    .allMatch(worker -> worker.availability() == Availability.UP));
  }

  @AfterEach
  void nothingIsHeld() {
    await()
        .untilAsserted(
            () -> {
              for (FakeEngine engine : fleet.engines()) {
                assertThat(engine.handoffs()).as(engine.toString()).isZero();
              }
              assertThat(fleet.stats().activeBlocks()).isZero();
              assertThat(fleet.stats().running() + fleet.stats().waiting()).isZero();
              assertThat(router.stats().pd().liveSessions()).isZero();
              assertThat(router.stats().pd().liveRooms()).isZero();
              assertThat(router.stats().inFlight()).isZero();
            });
    router
        .workers()
        .list()
        .forEach(worker -> worker.ranks().forEach(rank -> assertThat(rank.inFlight()).isZero()));
    router.close();
    fleet.close();
  }

  private static String body(String prompt, int tokens, boolean stream) {
    return "{\"model\":\"m\",\"max_tokens\":"
        + tokens
        + ",\"seed\":3,\"stream\":"
        + stream
        + ",\"messages\":[{\"role\":\"user\",\"content\":\""
        + prompt
        + "\"}]}";
  }

  private static Request posting(String url, String body) {
    return new Request.Builder()
        .url(url)
        .post(RequestBody.create(body, MediaType.get("application/json")))
        .build();
  }

  private static String post(OkHttpClient http, String url, String body) throws IOException {
    try (Response response = http.newCall(posting(url, body)).execute()) {
      String text = response.body().string();
      assertThat(response.code()).as(text).isEqualTo(200);
      return text;
    }
  }

  @ParameterizedTest
  @EnumSource
  void theSameTextAsOneEngineGivesWhicheverWayItIsSent(TransferProtocol protocol)
      throws IOException {
    start(protocol, "round_robin", new KvTransfer(100_000, 10));
    OkHttpClient.Builder plain = new OkHttpClient.Builder();
    RoutingInterceptor.tune(plain);
    OkHttpClient direct = plain.build();
    OkHttpClient routed = plain.addInterceptor(RoutingInterceptor.of(router)).build();
    try (FakeEngine one =
            FakeEngine.builder().kind(protocol.engine()).model("m").speedup(20).start();
        RouterClient alone =
            RouterClient.builder().transport(OkHttpTransport.create()).worker(one.url()).build()) {
      assertThat(alone.awaitReady(Duration.ofSeconds(30))).isTrue();
      for (Shape shape : Shape.of(protocol)) {
        String prompt = "tell me a story of two pools";
        String whole = shape.body(prompt, 24, 3, false).toString();
        String streamed = shape.body(prompt, 24, 3, true).toString();
        List<String> expected = PairTraffic.whole(post(direct, one.url() + shape.path(), whole));
        assertThat(expected).hasSize(shape.answers()).doesNotHaveDuplicates().doesNotContain("");
        assertText(shape + " alone", alone, shape, whole, streamed, expected);
        assertText(shape + " in a pair", router, shape, whole, streamed, expected);
        String url = "http://" + RoutingInterceptor.DEFAULT_HOST + shape.path();
        assertThat(PairTraffic.whole(post(routed, url, whole))).as("%s", shape).isEqualTo(expected);
        String wire = post(routed, url, streamed);
        assertThat(wire).endsWith("data: [DONE]\n\n");
        assertThat(PairTraffic.streamed(PairTraffic.events(wire)))
            .as("%s streamed", shape)
            .isEqualTo(expected);
        assertThat(routed.connectionPool().connectionCount())
            .isEqualTo(routed.connectionPool().idleConnectionCount());
      }
    }
    assertThat(router.stats().pd().recomputes()).as("decode computed no prompt").isZero();
    end(routed);
  }

  private static void end(OkHttpClient http) {
    http.dispatcher().executorService().shutdown();
    http.connectionPool().evictAll();
  }

  private static void assertText(
      String how,
      RouterClient client,
      Shape shape,
      String whole,
      String streamed,
      List<String> expected) {
    RouterRequest request = RouterRequest.builder(shape.path()).body(whole).build();
    RouterResponse sent = client.send(request);
    assertThat(PairTraffic.whole(sent.text())).as(how).isEqualTo(expected);
    if (sent.usage() != null) { // an array of answers has none
      assertThat(sent.usage().completionTokens()).isEqualTo(24 * shape.answers());
    }
    assertThat(PairTraffic.whole(client.sendAsync(request).join().text()))
        .as(how + ", async")
        .isEqualTo(expected);
    List<String> events = new ArrayList<>();
    try (RouterStream stream =
        client.stream(RouterRequest.builder(shape.path()).body(streamed).build())) {
      stream.forEach(event -> events.add(event.data()));
    }
    assertThat(PairTraffic.streamed(events)).as(how + ", streamed").isEqualTo(expected);
  }

  private static PdTimeouts settling(Duration idle, Duration settle) {
    PdTimeouts usual = PdTimeouts.DEFAULT;
    return new PdTimeouts(
        usual.prefill(),
        usual.rendezvous(),
        usual.grace(),
        usual.handOff(),
        usual.firstPayload(),
        idle,
        usual.drain(),
        settle,
        usual.release(),
        usual.abort());
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM"})
  void anInterceptedStreamOutlivesTheLimitOfSilenceWhileTokensFlow(EngineKind kind)
      throws IOException {
    Duration idle = Duration.ofMillis(50);
    settings = settings.withTimeouts(settling(idle, PdTimeouts.DEFAULT.settle()));
    start(kind, "round_robin");
    OkHttpClient.Builder plain = new OkHttpClient.Builder();
    RoutingInterceptor.tune(plain);
    OkHttpClient routed = plain.addInterceptor(RoutingInterceptor.of(router)).build();
    String url = "http://" + RoutingInterceptor.DEFAULT_HOST + RouterRequest.CHAT_COMPLETIONS;
    try (Response response =
        routed.newCall(posting(url, body("a long answer", 5_000, true))).execute()) {
      long begun = System.nanoTime();
      do {
        assertThat(response.body().source().readUtf8Line())
            .isNotNull()
            .doesNotContain("[DONE]", "\"error\"");
      } while (System.nanoTime() - begun < 5 * idle.toNanos());
      assertThat(router.stats().pd().liveSessions()).isEqualTo(1);
    }
    end(routed);
  }

  @Test
  void aDecodeLegThatIsDroppedWhileItConnectsLeavesTheCallToAnotherPair() throws IOException {
    settings = settings.withTimeouts(settling(PdTimeouts.DEFAULT.idle(), Duration.ofMillis(200)));
    start(EngineKind.SGLANG, "round_robin");
    AtomicBoolean held = new AtomicBoolean();
    CountDownLatch again = new CountDownLatch(1);
    OkHttpClient.Builder plain =
        new OkHttpClient.Builder().socketFactory(new HeldSockets(held, again));
    RoutingInterceptor.tune(plain);
    OkHttpClient routed = plain.addInterceptor(RoutingInterceptor.of(router)).build();
    String url = "http://" + RoutingInterceptor.DEFAULT_HOST + RouterRequest.CHAT_COMPLETIONS;
    String expected = post(routed, url, body("asked twice", 8, false));
    routed.connectionPool().evictAll();
    int before = ids(WorkerRole.PREFILL, RouterRequest.CHAT_COMPLETIONS).size();
    held.set(true);
    workers(WorkerRole.PREFILL).forEach(worker -> worker.faults().add("503:count=1"));
    CompletableFuture<Void> release =
        CompletableFuture.runAsync(
            () -> {
              await()
                  .until(
                      () ->
                          ids(WorkerRole.PREFILL, RouterRequest.CHAT_COMPLETIONS).size()
                              > before + 1);
              again.countDown();
            });
    String answer = post(routed, url, body("asked twice", 8, false));
    assertThat(PairTraffic.whole(answer)).isEqualTo(PairTraffic.whole(expected));
    release.join();
    workers(WorkerRole.PREFILL).forEach(worker -> worker.faults().clear());
    end(routed);
  }

  /** Makes sockets that connect when they are let. */
  private static final class HeldSockets extends SocketFactory {
    private final AtomicBoolean held;
    private final CountDownLatch released;

    HeldSockets(AtomicBoolean held, CountDownLatch released) {
      this.held = held;
      this.released = released;
    }

    @Override
    public Socket createSocket() {
      return new Socket() {
        @Override
        public void connect(SocketAddress to, int timeout) throws IOException {
          try {
            assertThat(!held.get() || released.await(30, TimeUnit.SECONDS)).isTrue();
          } catch (InterruptedException e) {
            throw new InterruptedIOException("while it was held");
          }
          super.connect(to, timeout);
        }
      };
    }

    @Override
    public Socket createSocket(String host, int port) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress local, int localPort) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Socket createSocket(InetAddress host, int port) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) {
      throw new UnsupportedOperationException();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "SGLANG,round_robin",
    "SGLANG,cache_aware",
    "SGLANG,linear_cost",
    "VLLM,round_robin",
    "VLLM,cache_aware",
    "VLLM,linear_cost"
  })
  void hundredsOfRequestsAllSucceed(EngineKind kind, String policy) {
    start(kind, policy);
    Set<String> pairs = ConcurrentHashMap.newKeySet();
    for (int round = 0; round < 10; round++) {
      List<CompletableFuture<RouterResponse>> whole = new ArrayList<>();
      List<CompletableFuture<Integer>> streams = new ArrayList<>();
      for (int i = 0; i < 15; i++) {
        String prompt = "session " + (i % 5) + " round " + round + " question " + i;
        whole.add(router.sendAsync(RouterRequest.chatCompletions(body(prompt, 8, false))));
        streams.add(
            router
                .streamAsync(RouterRequest.chatCompletions(body(prompt, 8, true)))
                .thenApply(
                    stream -> {
                      pairs.add(pair(stream.decision()));
                      return drain(stream);
                    }));
      }
      for (CompletableFuture<RouterResponse> answer : whole) {
        RouterResponse response = answer.join();
        assertThat(response.status()).isEqualTo(200);
        pairs.add(pair(response.decision()));
      }
      streams.forEach(stream -> assertThat(stream.join()).isPositive());
    }
    if (policy.equals("round_robin")) {
      assertThat(pairs).hasSize(4);
    }
    // A session ends with prefill, which may come after its answer.
    await()
        .untilAsserted(
            () -> assertThat(router.stats().pd().sessions().values()).containsExactly(300L));
    assertThat(router.stats().pd().sessions().keySet()).allMatch(key -> key.endsWith("/completed"));
  }

  private static String pair(RouteDecision decision) {
    return decision.pd().prefill() + decision.pd().decode();
  }

  private static int drain(RouterStream stream) {
    try (stream) {
      int events = 0;
      while (stream.next() != null) {
        events++;
      }
      return events;
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM"})
  void streamsThatAreLeftFreeBothSides(EngineKind kind) {
    start(kind, "round_robin");
    for (int i = 0; i < 20; i++) {
      String prompt = "a long answer " + i;
      try (RouterStream stream =
          router.stream(RouterRequest.chatCompletions(body(prompt, 5_000, true)))) {
        assertThat(stream.next()).isNotNull();
      }
    }
  }

  /** When a request is given up. */
  enum Moment {
    PREFILL,
    TRANSFER,
    STREAMING
  }

  @ParameterizedTest
  @EnumSource(Moment.class)
  void aCancelIsToldOnceAndByTheExactIdToEachWorkerThatStillRuns(Moment moment) {
    start(
        EngineKind.SGLANG,
        "round_robin",
        new KvTransfer(100_000, moment == Moment.TRANSFER ? 1e-6 : 10));
    if (moment == Moment.PREFILL) {
      workers(WorkerRole.PREFILL).forEach(FakeEngine::pause);
    }
    CompletableFuture<RouterStream> stream =
        router.streamAsync(RouterRequest.chatCompletions(body("given up", 5_000, true)));
    await()
        .until(
            () ->
                ids(WorkerRole.PREFILL, RouterRequest.CHAT_COMPLETIONS).size() == 1
                    && ids(WorkerRole.DECODE, RouterRequest.CHAT_COMPLETIONS).size() == 1);
    if (moment == Moment.TRANSFER) {
      await().until(() -> workers(WorkerRole.PREFILL).stream().anyMatch(by -> by.heldBlocks() > 0));
    }
    if (moment == Moment.STREAMING) {
      try (RouterStream open = stream.join()) {
        assertThat(open.next()).isNotNull();
      }
    } else {
      assertThat(stream.cancel(true)).isTrue();
    }
    await().until(() -> router.stats().pd().liveSessions() == 0);
    List<String> id = ids(WorkerRole.DECODE, RouterRequest.CHAT_COMPLETIONS);
    assertThat(ids(WorkerRole.PREFILL, RouterRequest.CHAT_COMPLETIONS)).isEqualTo(id);
    await()
        .untilAsserted(
            () -> {
              assertThat(ids(WorkerRole.DECODE, "/abort_request")).isEqualTo(id);
              assertThat(ids(WorkerRole.PREFILL, "/abort_request"))
                  .as("a prefill that has delivered has nothing to abort")
                  .isEqualTo(moment == Moment.STREAMING ? List.of() : id);
            });
    workers(WorkerRole.PREFILL).forEach(FakeEngine::resume);
  }

  private List<FakeEngine> workers(WorkerRole role) {
    return fleet.engines().stream().filter(engine -> engine.role() == role).toList();
  }

  /** The ids of the requests on a path that workers of a role have received. */
  private List<String> ids(WorkerRole role, String path) {
    Set<String> hosts = new HashSet<>();
    workers(role).forEach(engine -> hosts.add(URI.create(engine.url()).getAuthority()));
    List<String> ids = new ArrayList<>();
    for (ReceivedRequest request : received) {
      if (request.path().equals(path) && hosts.contains(request.headers().get("host"))) {
        String body = new String(request.body(), StandardCharsets.UTF_8);
        ids.add(PairTraffic.read(body).path("rid").asText());
      }
    }
    return ids;
  }

  @ParameterizedTest
  @CsvSource({"SGLANG,PREFILL", "SGLANG,DECODE", "VLLM,PREFILL", "VLLM,DECODE"})
  void aWorkerThatDiesLeavesNothingBehind(EngineKind kind, WorkerRole role) {
    start(kind, "round_robin");
    FakeEngine victim =
        fleet.engines().stream().filter(engine -> engine.role() == role).findFirst().orElseThrow();
    List<CompletableFuture<Integer>> streams = new ArrayList<>();
    for (int i = 0; i < 24; i++) {
      String prompt = "what dies meanwhile " + i;
      streams.add(
          router
              .streamAsync(RouterRequest.chatCompletions(body(prompt, 400, true)))
              .thenApply(PrefillDecodeIT::drain));
    }
    await().until(() -> victim.stats().received() > 2);
    victim.kill();
    int failed = 0;
    for (CompletableFuture<Integer> stream : streams) {
      try {
        stream.join();
      } catch (CompletionException e) {
        assertThat(e).hasCauseInstanceOf(RouterException.class);
        failed++;
      }
    }
    assertThat(failed).as("what streamed from the other workers came through").isLessThan(24);
    victim.restart();
    await()
        .ignoreExceptionsInstanceOf(RouterException.class)
        .untilAsserted(
            () ->
                assertThat(
                        router
                            .send(RouterRequest.chatCompletions(body("again", 4, false)))
                            .status())
                    .isEqualTo(200));
  }
}
