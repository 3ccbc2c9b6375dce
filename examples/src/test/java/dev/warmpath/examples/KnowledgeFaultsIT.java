package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.RouterClient;
import dev.warmpath.api.KnowledgeInfo;
import dev.warmpath.api.KnowledgeInjection;
import dev.warmpath.api.KnowledgeNeeds;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.kdn.FakeKdn;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.knowledge.InjectionSettings;
import dev.warmpath.knowledge.KnowledgeControlPlane;
import dev.warmpath.knowledge.KnowledgeIds;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.knowledge.RegistrySettings;
import dev.warmpath.okhttp.OkHttpKnowledgeTransport;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.policy.Policies;
import dev.warmpath.worker.EngineKind;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Knowledge nodes that lie, hang, flap or disappear, over sockets: no request pays for it. */
@Timeout(120)
class KnowledgeFaultsIT {
  private static final String MODEL = "m";
  private static final int REQUESTS = 10;
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final String LONG = "what only the node knows. ".repeat(200).strip();

  private final List<AutoCloseable> open = new ArrayList<>();
  private final AtomicInteger orders = new AtomicInteger();
  private final AtomicInteger forged = new AtomicInteger();
  private final FakeFleet fleet =
      opened(
          FakeFleet.start(
              "2",
              engine ->
                  engine
                      .kind(EngineKind.VLLM)
                      .model(MODEL)
                      .timing(LatencyModel.instant())
                      .onRequest(
                          request -> {
                            if (request.path().equals("/v1/kv/inject_ready")) {
                              orders.incrementAndGet();
                            }
                            String body = new String(request.body(), StandardCharsets.UTF_8);
                            if (body.contains("not what was asked for")) {
                              forged.incrementAndGet();
                            }
                          })));

  @AfterEach
  void close() throws Exception {
    for (int i = open.size() - 1; i >= 0; i--) {
      open.get(i).close();
    }
  }

  private <T extends AutoCloseable> T opened(T resource) {
    open.add(resource);
    return resource;
  }

  private static FakeKdn.Builder node(String id) {
    return FakeKdn.builder().id(id).speedup(1_000);
  }

  /** Timeouts that a node which hangs makes a request wait for. */
  private static KnowledgeRouting.Builder routing(Duration timeout) {
    RegistrySettings usual = RegistrySettings.DEFAULT;
    return KnowledgeRouting.builder()
        .transport(OkHttpKnowledgeTransport.create())
        .registry(
            new RegistrySettings(
                usual.ttl(),
                usual.refresh(),
                Duration.ofSeconds(1),
                Duration.ZERO,
                usual.maxNodes(),
                usual.maxTargets(),
                usual.maxPiecesPerNode()))
        .injection(
            InjectionSettings.builder()
                .way(KnowledgeInjection.KV)
                .textTimeout(timeout)
                .kvTimeout(timeout)
                .build());
  }

  private RouterClient client(KnowledgeRouting routing) {
    return client(routing, fleet.urls());
  }

  private RouterClient client(KnowledgeRouting routing, List<String> workers) {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .policy(Policies.knowledge())
            .knowledge(routing);
    workers.forEach(url -> builder.worker(url + ";knowledge-inject=" + url));
    return opened(builder.build());
  }

  private static RouterRequest request(int number, KnowledgeNeeds needs) {
    return RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS)
        .body(
            "{\"model\":\"m\",\"max_tokens\":2,\"messages\":[{\"role\":\"user\",\"content\":\"q"
                + number
                + "\"}]}")
        .knowledge(needs)
        .build();
  }

  /** Sends requests, all of which are answered, and returns what became of their knowledge. */
  private List<KnowledgeInfo> answered(RouterClient router, KnowledgeNeeds needs) {
    List<KnowledgeInfo> infos = new ArrayList<>();
    for (int i = 0; i < REQUESTS; i++) {
      RouterResponse response = router.send(request(i, needs));
      assertThat(response.status()).isEqualTo(200);
      infos.add(response.decision().knowledge());
    }
    assertThat(fleet.stats().failed()).isZero();
    assertThat(fleet.stats().served()).isEqualTo(REQUESTS);
    return infos;
  }

  private static void awaitKnown(KnowledgeRouting routing, int pieces) {
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> routing.registry().catalogue().size() == pieces);
  }

  @ParameterizedTest
  @CsvSource({"lie", "hang", "flap", "vanish=2"})
  void faultyNodeCostsNoRequest(String fault) {
    FakeKdn kdn = opened(node("a").start());
    String kid = kdn.addReady(LONG, MODEL);
    KnowledgeRouting routing =
        routing(Duration.ofMillis(40)).node("a", URI.create(kdn.url())).build();
    RouterClient router = client(routing);
    awaitKnown(routing, 1);

    kdn.faults().add(fault);
    List<KnowledgeInfo> infos = answered(router, KnowledgeNeeds.ids(kid));

    assertThat(infos).allMatch(info -> info.ids().contains(kid));
    assertThat(forged).as("a text that isn't the id's never reaches an engine").hasValue(0);
    kdn.faults().hang(false);
  }

  @ParameterizedTest
  @CsvSource({"lie", "hang", "flap", "vanish=2"})
  void knowledgeAtHandIsNeverLost(String fault) {
    FakeKdn kdn = opened(node("a").start());
    kdn.addReady(LONG, MODEL);
    KnowledgeRouting routing =
        routing(Duration.ofMillis(40)).node("a", URI.create(kdn.url())).build();
    RouterClient router = client(routing);
    awaitKnown(routing, 1);

    kdn.faults().add(fault);
    List<KnowledgeInfo> infos = answered(router, KnowledgeNeeds.texts(LONG));

    assertThat(infos).allMatch(info -> info.missing().isEmpty() && info.characters() > 0);
    kdn.faults().hang(false);
  }

  @Test
  void healthyNodeDeliversBesideOneThatComesAndGoes() throws IOException {
    KnowledgeRouting routing = routing(Duration.ofSeconds(30)).build();
    KnowledgeControlPlane plane = opened(KnowledgeControlPlane.of(routing).port(0).open());
    RouterClient router = client(routing);
    String url = "http://127.0.0.1:" + plane.address().getPort();
    FakeKdn well =
        opened(
            node("well")
                .ready(LONG, MODEL)
                .controlPlane(url)
                .heartbeat(Duration.ofMillis(50))
                .start());
    FakeKdn flaps =
        opened(
            node("flaps")
                .ready("another text ".repeat(200), MODEL)
                .controlPlane(url)
                .heartbeat(Duration.ofMillis(1))
                .start());
    String kid = KnowledgeIds.of(LONG);
    flaps.faults().flap(true);
    awaitPiece(routing, kid);

    List<KnowledgeInfo> infos = answered(router, KnowledgeNeeds.ids(kid));

    assertThat(infos).allMatch(info -> info.missing().isEmpty());
    assertThat(routing.stats().kvInjected()).isPositive();
    assertThat(well.stats().kvBytes()).isPositive();
    assertThat(fleet.stats().cachedTokens()).isPositive();
  }

  private static void awaitPiece(KnowledgeRouting routing, String kid) {
    await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () ->
                routing.registry().catalogue().nodes().stream()
                    .anyMatch(node -> node.items().containsKey(kid)));
  }

  @Test
  void nodeThatComesBackDeliversAgain() {
    FakeKdn kdn = opened(node("a").start());
    String kid = kdn.addReady(LONG, MODEL);
    KnowledgeRouting routing =
        routing(Duration.ofSeconds(30)).node("a", URI.create(kdn.url())).build();
    RouterClient router = client(routing);
    awaitKnown(routing, 1);
    kdn.kill();
    assertThat(router.send(request(0, KnowledgeNeeds.ids(kid))).status()).isEqualTo(200);
    assertThat(routing.stats().kvInjected()).isZero();

    kdn.restart();

    AtomicInteger number = new AtomicInteger();
    await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () -> {
              RouterResponse response =
                  router.send(request(number.incrementAndGet(), KnowledgeNeeds.ids(kid)));
              assertThat(response.status()).isEqualTo(200);
              return routing.stats().kvInjected() > 0;
            });
    assertThat(kdn.stats().kvBytes()).isPositive();
  }

  /** The node doesn't answer until all wait for it. */
  @Test
  void requestsThatNeedTheSameKvAtTheSameMomentShareItsTransfer() throws Exception {
    FakeKdn kdn = opened(node("a").start());
    kdn.addReady(LONG, MODEL);
    KnowledgeRouting routing =
        routing(Duration.ofSeconds(60)).node("a", URI.create(kdn.url())).build();
    RouterClient router = client(routing, fleet.urls().subList(0, 1));
    awaitKnown(routing, 1);
    kdn.faults().hang(true);
    List<CompletableFuture<RouterResponse>> answers = new ArrayList<>();
    answers.add(router.sendAsync(request(0, KnowledgeNeeds.texts(LONG))));
    await().atMost(SOON).until(() -> orders.get() == 1);
    for (int i = 1; i < REQUESTS; i++) {
      answers.add(router.sendAsync(request(i, KnowledgeNeeds.texts(LONG))));
    }
    await().atMost(SOON).until(() -> routing.stats().kvShared() == REQUESTS - 1);

    answers.get(0).cancel(true);
    kdn.faults().hang(false);

    List<KnowledgeInfo> infos = new ArrayList<>();
    for (CompletableFuture<RouterResponse> answer : answers.subList(1, REQUESTS)) {
      infos.add(answer.get(60, TimeUnit.SECONDS).decision().knowledge());
    }
    assertThat(infos).allMatch(info -> info.kv().equals("injected with another request's"));
    assertThat(orders).hasValue(1);
    assertThat(kdn.stats().transfers()).isEqualTo(1);
    assertThat(routing.stats().kvInjected()).isEqualTo(1);
    assertThat(routing.stats().kvFailed()).isZero();
    assertThat(routing.stats().kvBytes()).isEqualTo(kdn.stats().kvBytes());
  }
}
