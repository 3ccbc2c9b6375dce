package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.kv.KvEventEndpoint;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.grpc.GrpcTransport;
import dev.warmpath.index.KvStream;
import dev.warmpath.index.kv.KvEventStats;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.policy.Policies;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.worker.EngineKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What routers know of fake engines that tell of their KV caches over gRPC. */
class GrpcKvEventsIT {
  private static final String MODEL = "m";
  private static final Duration SOON = Duration.ofSeconds(60);

  @TempDir private static Path folder;
  private static ModelFiles files;

  @BeforeAll
  static void loadModel() {
    files = ModelFiles.of(SmallModel.writeTo(folder.resolve(MODEL)));
  }

  private static FakeEngine engine(EngineKind kind) {
    return FakeEngine.builder()
        .kind(kind)
        .model(MODEL)
        .blockSize(16)
        .blocks(200)
        .timing(LatencyModel.instant())
        .kvEvents(KvEventSettings.builder().replayPort(0).build())
        .grpcPort(0)
        .start();
  }

  /** A router that hears all workers. */
  private static RouterClient route(String... workers) {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .transport(GrpcTransport.create())
            .policy(Policies.roundRobin())
            .model(MODEL, files)
            .kvEvents(dev.warmpath.index.kv.KvEventSettings.DEFAULT)
            .seed(5);
    for (String worker : workers) {
      builder.worker(worker);
    }
    RouterClient router = builder.build();
    assertThat(router.awaitReady(Duration.ofSeconds(30))).isTrue();
    await()
        .atMost(SOON)
        .pollInterval(Duration.ofMillis(10))
        .until(() -> connected(router) == workers.length);
    return router;
  }

  private static long connected(RouterClient router) {
    return router.stats().kvEvents().ranks().stream().filter(KvEventStats.Rank::connected).count();
  }

  private static void send(RouterClient router, int words, int from) {
    String text =
        IntStream.range(from, from + words)
            .mapToObj(Integer::toString)
            .collect(Collectors.joining(" "));
    assertThat(router.send(RouterRequest.chatCompletions(body(text))).status()).isEqualTo(200);
  }

  private static String body(String text) {
    return "{\"model\":\"m\",\"max_tokens\":2,\"messages\":[{\"role\":\"user\",\"content\":\""
        + text
        + "\"}]}";
  }

  /** What is known of the worker with an address. */
  private static KvStream.Stats known(RouterClient router, String address) {
    return router.stats().kvEvents().ranks().stream()
        .filter(rank -> rank.rank().startsWith(address))
        .findFirst()
        .orElseThrow()
        .stream();
  }

  /** Until as many blocks are known as the engine has. */
  private static void awaitResident(RouterClient router, String address, FakeEngine engine) {
    await()
        .atMost(SOON)
        .pollInterval(Duration.ofMillis(10))
        .untilAsserted(
            () -> {
              assertThat(engine.stats().cachedBlocks()).isPositive();
              assertThat(known(router, address).rank().blocks())
                  .isEqualTo(engine.stats().cachedBlocks());
            });
  }

  private static String grpc(FakeEngine engine) {
    return Objects.requireNonNull(engine.grpcUrl());
  }

  @Test
  void oneClientHearsWorkersOverGrpcAndOverZeroMq() {
    try (FakeEngine sglang = engine(EngineKind.SGLANG);
        FakeEngine vllm = engine(EngineKind.VLLM);
        FakeEngine http = engine(EngineKind.VLLM)) {
      KvEventEndpoint endpoint = Objects.requireNonNull(http.kvEvents());
      String labels =
          ";kv-events=tcp://*:"
              + endpoint.port()
              + ";kv-replay=tcp://*:"
              + endpoint.replayPort().orElseThrow();
      try (RouterClient router = route(grpc(sglang), grpc(vllm), http.url() + labels)) {
        for (int i = 0; i < 40; i++) {
          send(router, 40 + 40 * (i % 5), 1_000 * (i % 7));
        }
        awaitResident(router, grpc(sglang), sglang);
        awaitResident(router, grpc(vllm), vllm);
        awaitResident(router, http.url(), http);
        for (String address : List.of(grpc(sglang), grpc(vllm), http.url())) {
          KvStream.Stats stats = known(router, address);
          assertThat(stats.complete()).as(address).isTrue();
          assertThat(stats.rank().unplaced()).as(address).isZero();
        }
        for (String address : List.of(grpc(sglang), grpc(vllm))) {
          assertThat(known(router, address).rank().removed()).as("evicted").isPositive();
        }
      }
    }
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .doesNotContain("warmpath-grpc-kv-events");
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM"})
  void aGapEndsWhatIsKnownToBeAll(EngineKind kind) {
    try (FakeEngine engine = engine(kind);
        RouterClient router = route(grpc(engine))) {
      String address = grpc(engine);
      send(router, 40, 0);
      awaitResident(router, address, engine);
      assertThat(known(router, address).complete()).isTrue();
      engine.faults().add(Fault.gap().times(1));
      send(router, 40, 1_000);
      await().atMost(SOON).until(() -> engine.faults().fired(Fault.Kind.GAP) == 1);
      send(router, 40, 2_000);
      await().atMost(SOON).until(() -> known(router, address).losses() == 1);
      assertThat(known(router, address).complete()).isFalse();
      assertThat(engine.flushCache()).isTrue();
      await().atMost(SOON).until(() -> known(router, address).complete());
      send(router, 60, 0);
      awaitResident(router, address, engine);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM"})
  void whoJoinsLateKnowsWhatItDoesNotKnow(EngineKind kind) {
    try (FakeEngine engine = engine(kind);
        RouterClient first = route(grpc(engine))) {
      String address = grpc(engine);
      send(first, 60, 0);
      awaitResident(first, address, engine);
      assertThat(explained(first)).contains("KV events tell all that 1 of 1 ranks hold");
      try (RouterClient late = route(address)) {
        send(late, 60, 1_000);
        await().atMost(SOON).until(() -> known(late, address).rank().blocks() > 0);
        assertThat(known(late, address).complete()).isFalse();
        assertThat(late.stats().blocks().authoritative()).isZero();
        assertThat(explained(late))
            .contains(
                "KV events tell all that 0 of 1 ranks hold; of "
                    + address
                    + " they tell a part, and the rest is guessed");
        assertThat(metric(late, "warmpath_kv_event_complete")).isZero();
        assertThat(metric(late, "warmpath_kv_events_per_second")).isPositive();
        assertThat(metric(late, "warmpath_kv_event_lag_seconds")).isNotNaN();

        assertThat(engine.flushCache()).isTrue();
        await().atMost(SOON).until(() -> known(late, address).complete());
        send(late, 60, 2_000);
        awaitResident(late, address, engine);
        assertThat(explained(late)).contains("KV events tell all that 1 of 1 ranks hold");
        assertThat(metric(late, "warmpath_kv_event_complete")).isEqualTo(1);
      }
    }
  }

  private static List<String> explained(RouterClient router) {
    return router.explain(RouterRequest.chatCompletions(body("why"))).steps();
  }

  private static double metric(RouterClient router, String name) {
    return router.metrics().stream()
        .filter(family -> family.name().equals(name))
        .flatMap(family -> family.samples().stream())
        .findFirst()
        .orElseThrow()
        .value();
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM"})
  void aRestartedEngineBeginsAnew(EngineKind kind) {
    try (FakeEngine engine = engine(kind);
        RouterClient router = route(grpc(engine))) {
      String address = grpc(engine);
      send(router, 120, 0);
      awaitResident(router, address, engine);
      engine.kill();
      await().atMost(SOON).until(() -> connected(router) == 0);
      engine.restart();
      await().atMost(SOON).until(() -> connected(router) == 1);
      await().atMost(SOON).ignoreExceptions().untilAsserted(() -> send(router, 40, 1_000));
      awaitResident(router, address, engine);
      assertThat(known(router, address).complete()).isTrue();
    }
  }
}
