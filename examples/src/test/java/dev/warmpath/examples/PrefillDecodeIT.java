package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.examples.PairTraffic.Shape;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.ReceivedRequest;
import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.scheduler.KvTransfer;
import dev.warmpath.health.Availability;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.okhttp.RoutingInterceptor;
import dev.warmpath.policy.Policies;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import java.io.IOException;
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
import java.util.concurrent.ConcurrentLinkedQueue;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two prefill and two decode workers over real sockets, by SGLang's rooms and by vLLM's leases.
 * Every test ends with no KV held, no room live and nothing in flight, on both sides and in the
 * client.
 */
@Timeout(120)
class PrefillDecodeIT {
  private final Queue<ReceivedRequest> received = new ConcurrentLinkedQueue<>();
  private FakeFleet fleet;
  private RouterClient router;

  private void start(EngineKind kind, String policy) {
    start(kind, policy, new KvTransfer(100_000, 10));
  }

  private void start(EngineKind kind, String policy, KvTransfer link) {
    fleet =
        FakeFleet.start(
            "2p2d",
            worker ->
                worker
                    .kind(kind)
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

  private static String post(OkHttpClient http, String url, String body) throws IOException {
    Request request =
        new Request.Builder()
            .url(url)
            .post(RequestBody.create(body, MediaType.get("application/json")))
            .build();
    try (Response response = http.newCall(request).execute()) {
      String text = response.body().string();
      assertThat(response.code()).as(text).isEqualTo(200);
      return text;
    }
  }

  static List<Arguments> kindsAndShapes() {
    List<Arguments> all = new ArrayList<>();
    for (EngineKind kind : List.of(EngineKind.SGLANG, EngineKind.VLLM)) {
      Shape.of(kind).forEach(shape -> all.add(Arguments.of(kind, shape)));
    }
    return all;
  }

  @ParameterizedTest
  @MethodSource("kindsAndShapes")
  void theSameTextAsOneEngineGivesWhicheverWayItIsSent(EngineKind kind, Shape shape)
      throws IOException {
    start(kind, "round_robin");
    String prompt = "tell me a story of two pools";
    String whole = shape.body(prompt, 24, 3, false).toString();
    String streamed = shape.body(prompt, 24, 3, true).toString();
    OkHttpClient.Builder plain = new OkHttpClient.Builder();
    RoutingInterceptor.tune(plain);
    List<String> expected;
    try (FakeEngine one = FakeEngine.builder().kind(kind).model("m").speedup(20).start();
        RouterClient alone =
            RouterClient.builder().transport(OkHttpTransport.create()).worker(one.url()).build()) {
      expected = PairTraffic.whole(post(plain.build(), one.url() + shape.path(), whole));
      assertThat(expected).hasSize(shape.answers()).doesNotHaveDuplicates().doesNotContain("");
      assertThat(alone.awaitReady(Duration.ofSeconds(30))).isTrue();
      assertText("alone", alone, shape, whole, streamed, expected);
    }
    assertText("in a pair", router, shape, whole, streamed, expected);
    OkHttpClient routed = plain.addInterceptor(RoutingInterceptor.of(router)).build();
    String url = "http://" + RoutingInterceptor.DEFAULT_HOST + shape.path();
    assertThat(PairTraffic.whole(post(routed, url, whole))).isEqualTo(expected);
    String wire = post(routed, url, streamed);
    assertThat(wire).endsWith("data: [DONE]\n\n");
    assertThat(PairTraffic.streamed(PairTraffic.events(wire))).isEqualTo(expected);
    assertThat(routed.connectionPool().connectionCount())
        .isEqualTo(routed.connectionPool().idleConnectionCount());
    routed.dispatcher().executorService().shutdown();
    routed.connectionPool().evictAll();
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
    Set<String> pairs = new HashSet<>();
    for (int round = 0; round < 10; round++) {
      List<CompletableFuture<RouterResponse>> whole = new ArrayList<>();
      List<CompletableFuture<Integer>> streams = new ArrayList<>();
      for (int i = 0; i < 15; i++) {
        String prompt = "session " + (i % 5) + " round " + round + " question " + i;
        whole.add(router.sendAsync(RouterRequest.chatCompletions(body(prompt, 8, false))));
        streams.add(
            router
                .streamAsync(RouterRequest.chatCompletions(body(prompt, 8, true)))
                .thenApply(PrefillDecodeIT::drain));
      }
      for (CompletableFuture<RouterResponse> answer : whole) {
        RouterResponse response = answer.join();
        assertThat(response.status()).isEqualTo(200);
        pairs.add(response.decision().pd().prefill() + response.decision().pd().decode());
      }
      streams.forEach(stream -> assertThat(stream.join()).isPositive());
    }
    if (policy.equals("round_robin")) {
      assertThat(pairs).hasSize(4);
    }
    assertThat(router.stats().pd().sessions().keySet()).allMatch(key -> key.endsWith("/completed"));
    assertThat(router.stats().pd().sessions().values()).containsExactly(300L);
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
