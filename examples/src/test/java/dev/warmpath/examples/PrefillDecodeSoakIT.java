package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.RouterClient;
import dev.warmpath.dispatch.RetrySettings;
import dev.warmpath.examples.PairSoak.End;
import dev.warmpath.examples.PairTraffic.Shape;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeEngineBuilder;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.ReceivedRequest;
import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.scheduler.KvTransfer;
import dev.warmpath.health.Availability;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.pd.PdSettings;
import dev.warmpath.pd.PdTimeouts;
import dev.warmpath.policy.Policies;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.worker.EngineKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * I24 over real sockets: requests of all shapes, sent in all ways, by hundreds at once, while
 * workers suffer the whole matrix of faults, die and come back, and callers leave. Nothing is left
 * of them: no KV held, no room, nothing in flight, no place taken, no connection, no request
 * without an end; and what is answered is what one worker alone answers.
 */
@Timeout(300)
class PrefillDecodeSoakIT {
  private static final int FULL = Integer.getInteger("warmpath.pd.sockets", 5_000);
  private static final int IN_FLIGHT = 300;

  /** Connections stay open on the workers' side: what is closed in the end, the client closed. */
  private static final Duration NEVER_IDLE = Duration.ofMinutes(30);

  /** Short, but longer than a busy machine lets a healthy worker keep its client waiting. */
  private static final Duration PATIENCE = Duration.ofSeconds(4);

  private static Duration millis(long millis) {
    return Duration.ofMillis(millis);
  }

  private static final PdSettings SETTINGS =
      PdSettings.DEFAULT
          .withMaxAttempts(3)
          .withTimeouts(
              new PdTimeouts(
                  millis(6_000),
                  millis(4_000),
                  millis(1_000),
                  millis(4_000),
                  PATIENCE,
                  PATIENCE,
                  millis(500),
                  millis(500),
                  millis(1_000),
                  millis(500)));

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM"})
  void i24_nothingIsLeftOfATenth(EngineKind kind) throws Exception {
    soak(kind, FULL / 20, 11);
  }

  @EnabledIfSystemProperty(named = "warmpath.pd.sockets", matches = "\\d+")
  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM"})
  void i24_nothingIsLeftOfAny(EngineKind kind) throws Exception {
    PairSoak soak = soak(kind, FULL / 2, 12);
    assertThat(soak.mostInFlight()).isEqualTo(IN_FLIGHT);
    assertThat(soak.cells()).as("faults by role").hasSize(PairSoak.possibleCells());
  }

  private static PairSoak soak(EngineKind kind, int requests, long seed) throws Exception {
    List<Shape> shapes = Shape.of(kind);
    Map<String, List<String>> expected;
    try (FakeEngine alone = engine(FakeEngine.builder(), kind).start()) {
      expected = PairSoak.expect(alone, shapes);
    }
    AtomicReference<PairSoak> armed = new AtomicReference<>();
    List<AtomicReference<FakeEngine>> selves = new ArrayList<>();
    try (FakeFleet fleet =
        FakeFleet.start(
            "2p2d",
            builder -> {
              AtomicReference<FakeEngine> self = new AtomicReference<>();
              selves.add(self);
              return engine(builder, kind)
                  .dpSize(kind == EngineKind.SGLANG ? 2 : 1)
                  .onRequest(request -> arm(armed.get(), self.get(), request));
            })) {
      for (int i = 0; i < selves.size(); i++) {
        selves.get(i).set(fleet.engine(i));
      }
      PairSoak ran;
      try (RouterClient router = router(fleet, kind);
          PairSoak soak = new PairSoak(router, shapes, expected, seed)) {
        ran = soak;
        armed.set(soak);
        soak.run(requests, IN_FLIGHT, new Deaths(fleet, soak, seed)::at);
        assertThat(soak.surprises()).isEmpty();
        assertThat(soak.failedThoughWell())
            .as("failures of requests that nothing was meant for")
            .isEmpty();
        assertThat(soak.ends().keySet()).containsExactlyInAnyOrder(End.values());
        assertThat(soak.ends().get(End.ANSWERED)).isGreaterThan(requests / 2);
        assertThat(soak.ends().values().stream().mapToInt(n -> n).sum()).isEqualTo(requests);
        nothingIsLeft(fleet, router, soak);
      }
      await()
          .untilAsserted(() -> assertThat(fleet.stats().connections()).as("connections").isZero());
      return ran;
    }
  }

  private static void arm(
      @Nullable PairSoak soak, @Nullable FakeEngine worker, ReceivedRequest request) {
    if (soak != null && worker != null && request.method().equals("POST")) {
      soak.arm(worker, request);
    }
  }

  /** Every now and then a worker dies; it comes back some requests later. */
  private static final class Deaths {
    private static final int EVERY = 400;
    private static final int FOR = 30;
    private final FakeFleet fleet;
    private final PairSoak soak;
    private final SplittableRandom random;
    private @Nullable FakeEngine dead;

    Deaths(FakeFleet fleet, PairSoak soak, long seed) {
      this.fleet = fleet;
      this.soak = soak;
      this.random = new SplittableRandom(seed);
    }

    void at(int sent) {
      if (sent % EVERY == EVERY / 2) {
        dead = fleet.engine(random.nextInt(fleet.engines().size()));
        soak.death();
        dead.kill();
      } else if (sent % EVERY == EVERY / 2 + FOR && dead != null) {
        dead.faults().clear(); // what was meant for requests that it never looked at
        dead.restart();
        soak.death();
      }
    }
  }

  private static RouterClient router(FakeFleet fleet, EngineKind kind) {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .prefillPolicy(Policies.roundRobin())
            .prefillDecode(SETTINGS)
            .timeouts(new Timeouts(millis(2_000), PATIENCE, PATIENCE, null))
            .retry(new RetrySettings(4, 1, 100_000, millis(1), millis(20), Duration.ofSeconds(10)))
            .seed(5);
    for (FakeEngine engine : fleet.engines()) {
      builder.worker(engine.url() + ";role=" + engine.role().label() + ";engine=" + kind.label());
    }
    RouterClient router = builder.build();
    await()
        .until(
            () ->
                router.workers().list().stream()
                    .allMatch(worker -> worker.availability() == Availability.UP));
    return router;
  }

  private static void nothingIsLeft(FakeFleet fleet, RouterClient router, PairSoak soak) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(
            () -> {
              for (FakeEngine engine : fleet.engines()) {
                assertThat(engine.handoffs()).as("handoffs of %s", engine).isZero();
              }
              assertThat(fleet.stats().activeBlocks()).as("held blocks").isZero();
              assertThat(fleet.stats().running() + fleet.stats().waiting()).isZero();
              assertThat(router.stats().pd().liveSessions()).as("sessions").isZero();
              assertThat(router.stats().pd().liveRooms()).as("rooms").isZero();
              assertThat(router.stats().inFlight()).as("in flight").isZero();
              for (var worker : router.workers().list()) {
                for (var rank : worker.ranks()) {
                  assertThat(rank.inFlight()).as("places at %s", worker).isZero();
                  assertThat(rank.prefillTokens()).isZero();
                }
              }
              assertThat(soak.busyConnections()).as("busy connections").isZero();
            });
  }

  private static FakeEngineBuilder engine(FakeEngineBuilder builder, EngineKind kind) {
    return builder
        .kind(kind)
        .model("m")
        .speedup(5)
        .disconnectDelay(Duration.ZERO)
        .keepAlive(NEVER_IDLE)
        .kvTransfer(new KvTransfer(100_000, 10))
        .handoffTimeouts(new HandoffTimeouts(millis(1_500), millis(1_500), millis(1_000)));
  }
}
