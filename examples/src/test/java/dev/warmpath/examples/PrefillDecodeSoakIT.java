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
import dev.warmpath.fake.handoff.TransferProtocol;
import dev.warmpath.fake.scheduler.KvTransfer;
import dev.warmpath.health.Availability;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.pd.PdSettings;
import dev.warmpath.pd.PdTimeouts;
import dev.warmpath.policy.Policies;
import dev.warmpath.transport.Timeouts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * I24 over real sockets: requests of all shapes, sent in all ways, by every connector, by hundreds
 * at once, while workers suffer the whole matrix of faults, die and come back, and callers leave.
 * Nothing is left of them: no KV held, no room, nothing in flight, no place taken, no connection,
 * no request without an end; and what is answered is what one worker alone answers.
 */
@Timeout(300)
class PrefillDecodeSoakIT {
  private static final int FULL = Integer.getInteger("warmpath.pd.sockets", 5_000);
  private static final TransferProtocol[] PROTOCOLS = TransferProtocol.values();

  /** Of each connector. */
  private static final int IN_FLIGHT = 40;

  /** Connections stay open on the workers' side: what is closed in the end, the client closed. */
  private static final Duration NEVER_IDLE = Duration.ofMinutes(30);

  /** Short, but longer than a busy machine lets a healthy worker keep its client waiting. */
  private static final Duration PATIENCE = Duration.ofSeconds(4);

  /** So that the client decides, and not an engine. */
  private static final Duration LONGER = PATIENCE.multipliedBy(2);

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

  /** Where the whole soak runs, it has all that this one has. */
  @EnabledIfSystemProperty(named = "skipLong", matches = ".*")
  @Test
  void i24_nothingIsLeftOfATenth() throws Exception {
    soak(FULL / 10, 11);
  }

  @Tag("long")
  @Test
  void i24_nothingIsLeftOfAny() throws Exception {
    List<PairSoak> ran = soak(FULL, 12);
    for (PairShare share : PairShare.values()) {
      Set<String> cells = new HashSet<>();
      for (int i = 0; i < ran.size(); i++) {
        if (PairShare.of(PROTOCOLS[i]) == share) {
          cells.addAll(ran.get(i).cells().keySet());
        }
      }
      assertThat(cells).as("faults by role, %s", share).hasSize(PairSoak.possibleCells());
    }
    assertThat(ran).allMatch(soak -> soak.mostInFlight() == IN_FLIGHT);
  }

  /** Whether both workers get a request at once. */
  private enum PairShare {
    CONCURRENT,
    IN_TURN;

    static PairShare of(TransferProtocol protocol) {
      return switch (protocol) {
        case SGLANG, NIXL_PUSH, MOONCAKE, MORIIO -> CONCURRENT;
        case NIXL, MORIIO_READ, P2P_NCCL, ATOM -> IN_TURN;
      };
    }
  }

  /** All connectors at the same time, so that one's work fills the other's waits. */
  private static List<PairSoak> soak(int requests, long seed) throws Exception {
    List<Callable<PairSoak>> soaks = new ArrayList<>();
    for (int i = 0; i < PROTOCOLS.length; i++) {
      TransferProtocol protocol = PROTOCOLS[i];
      long own = seed + i;
      soaks.add(() -> soak(protocol, requests / PROTOCOLS.length, own));
    }
    ExecutorService threads = Executors.newFixedThreadPool(PROTOCOLS.length);
    List<PairSoak> ran = new ArrayList<>();
    List<Throwable> wrong = new ArrayList<>();
    try {
      for (Future<PairSoak> soak : threads.invokeAll(soaks)) {
        try {
          ran.add(soak.get());
        } catch (ExecutionException e) {
          wrong.add(e.getCause());
        }
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(wrong).isEmpty();
    Map<End, Integer> ends = new EnumMap<>(End.class);
    ran.forEach(soak -> soak.ends().forEach((end, times) -> ends.merge(end, times, Integer::sum)));
    assertThat(ends.keySet()).containsExactlyInAnyOrder(End.values());
    assertThat(ends.get(End.ANSWERED)).isGreaterThan(requests / 2);
    return ran;
  }

  private static PairSoak soak(TransferProtocol protocol, int requests, long seed)
      throws Exception {
    List<Shape> shapes = Shape.of(protocol);
    Map<String, List<String>> expected;
    try (FakeEngine alone = engine(FakeEngine.builder(), protocol).start()) {
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
              return engine(builder, protocol)
                  .dpSize(protocol == TransferProtocol.SGLANG ? 2 : 1)
                  .onRequest(request -> arm(armed.get(), self.get(), request));
            })) {
      for (int i = 0; i < selves.size(); i++) {
        selves.get(i).set(fleet.engine(i));
      }
      PairSoak ran;
      try (RouterClient router = router(fleet, protocol);
          PairSoak soak = new PairSoak(router, shapes, expected, seed)) {
        ran = soak;
        armed.set(soak);
        soak.run(requests, IN_FLIGHT, new Deaths(fleet, soak, requests, seed)::at);
        assertThat(soak.surprises()).as(protocol.label()).isEmpty();
        assertThat(soak.failedThoughWell())
            .as("failures of requests that nothing was meant for, %s", protocol)
            .isEmpty();
        assertThat(soak.ends().values().stream().mapToInt(n -> n).sum()).isEqualTo(requests);
        nothingIsLeft(fleet, router, soak);
      }
      await()
          .atMost(Duration.ofMinutes(1))
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
    private static final int EVERY = 200;
    private final FakeFleet fleet;
    private final int every;
    private final PairSoak soak;
    private final SplittableRandom random;
    private @Nullable FakeEngine dead;

    Deaths(FakeFleet fleet, PairSoak soak, int requests, long seed) {
      this.fleet = fleet;
      this.every = Math.min(EVERY, requests);
      this.soak = soak;
      this.random = new SplittableRandom(seed);
    }

    void at(int sent) {
      if (sent % every == every / 2) {
        dead = fleet.engine(random.nextInt(fleet.engines().size()));
        soak.death();
        dead.kill();
      } else if (sent % every == every / 2 + every / 8 && dead != null) {
        dead.faults().clear(); // what was meant for requests that it never looked at
        dead.restart();
        soak.death();
      }
    }
  }

  private static RouterClient router(FakeFleet fleet, TransferProtocol protocol) {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .prefillPolicy(Policies.roundRobin())
            .prefillDecode(SETTINGS)
            .timeouts(new Timeouts(millis(2_000), PATIENCE, PATIENCE, null))
            .retry(new RetrySettings(4, 1, 100_000, millis(1), millis(20), Duration.ofSeconds(10)))
            .seed(5);
    boolean discovered = protocol == TransferProtocol.usual(protocol.engine());
    for (FakeEngine engine : fleet.engines()) {
      builder.worker(
          discovered
              ? engine.url() + ";role=" + engine.role().label() + ";engine=" + engine.kind().label()
              : engine.workerSpec());
    }
    RouterClient router = builder.build();
    await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () ->
                router.workers().list().stream()
                    .allMatch(worker -> worker.availability() == Availability.UP));
    return router;
  }

  private static void nothingIsLeft(FakeFleet fleet, RouterClient router, PairSoak soak) {
    await()
        .atMost(Duration.ofMinutes(1))
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

  private static FakeEngineBuilder engine(FakeEngineBuilder builder, TransferProtocol protocol) {
    return builder
        .kind(protocol.engine())
        .transfer(protocol)
        .model("m")
        .speedup(5)
        .disconnectDelay(Duration.ZERO)
        .keepAlive(NEVER_IDLE)
        .kvTransfer(new KvTransfer(100_000, 10))
        .handoffTimeouts(new HandoffTimeouts(LONGER, LONGER, PATIENCE));
  }
}
