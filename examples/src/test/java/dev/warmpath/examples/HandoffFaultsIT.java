package dev.warmpath.examples;

import static dev.warmpath.examples.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterStream;
import dev.warmpath.dispatch.RetrySettings;
import dev.warmpath.examples.PairTraffic.Shape;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeEngineBuilder;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.handoff.TransferProtocol;
import dev.warmpath.fake.scheduler.KvTransfer;
import dev.warmpath.health.Availability;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.pd.PdSettings;
import dev.warmpath.pd.PdTimeouts;
import dev.warmpath.policy.Policies;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.worker.WorkerRole;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Every fault at every moment that a handoff has on either worker, by every connector over real
 * sockets: a request ends with the answer that one worker alone gives or with an error of the
 * client's own, and nothing is left of it anywhere.
 */
@Tag("long")
@Timeout(180)
class HandoffFaultsIT {
  private static final String PROMPT = "what becomes of a request when its workers fail";
  private static final List<String> REFUSED = List.of("a client error of a worker's");
  private static final int TOKENS = 8;
  private static final int SEED = 3;

  /** Fleets that are struck at the same time. */
  private static final int AT_ONCE = 20;

  /** Connections stay open on the workers' side: what is closed in the end, the client closed. */
  private static final Duration NEVER_IDLE = Duration.ofMinutes(30);

  /** What happens to one request each, and what to all that a worker has. */
  private static final List<String> ROUNDS =
      List.of("500;503;error;reset;cut;hang;slow:delay=20ms", "restart", "refuse");

  /** What happens to requests that are looked at or answered, whatever they are for. */
  private static final String OF_ANY_REQUEST =
      "400;429;500;503;error;error:chunks=0;reset;reset:chunks=1;cut;truncate;garbage;"
          + "garbage:chunks=1;hang;hang:chunks=1;slow:delay=20ms";

  /** A moment on one of the two workers. */
  private record Where(WorkerRole role, Scope moment) {
    List<String> rounds() {
      return moment == Scope.GENERATE
          ? List.of(OF_ANY_REQUEST, "restart", "refuse:after=1")
          : ROUNDS;
    }
  }

  private static final List<Where> EVERYWHERE =
      List.of(
          new Where(WorkerRole.PREFILL, Scope.GENERATE),
          new Where(WorkerRole.DECODE, Scope.GENERATE),
          new Where(WorkerRole.PREFILL, Scope.BIND),
          new Where(WorkerRole.DECODE, Scope.BIND),
          new Where(WorkerRole.PREFILL, Scope.HELD),
          new Where(WorkerRole.PREFILL, Scope.TRANSFER),
          new Where(WorkerRole.DECODE, Scope.TRANSFER),
          new Where(WorkerRole.DECODE, Scope.DELIVERED));

  private static Duration millis(long millis) {
    return Duration.ofMillis(millis);
  }

  /** A worker that hangs is given up soon, and so is one that is merely slow: both are an end. */
  private static final PdSettings SETTINGS =
      PdSettings.DEFAULT
          .withMaxAttempts(3)
          .withTimeouts(
              new PdTimeouts(
                  millis(800),
                  millis(600),
                  millis(300),
                  millis(600),
                  millis(600),
                  millis(600),
                  millis(300),
                  millis(300),
                  millis(500),
                  millis(300)));

  /** For engines that never let go by themselves: nobody may be given up for being slow. */
  private static final PdSettings PATIENT =
      PdSettings.DEFAULT.withTimeouts(
          new PdTimeouts(
              millis(60_000),
              millis(60_000),
              millis(60_000),
              millis(60_000),
              millis(60_000),
              millis(60_000),
              millis(60_000),
              millis(60_000),
              millis(60_000),
              millis(60_000)));

  /** All connectors at the same time, so that one's work fills the other's waits. */
  @Test
  void everyRequestEndsAndLeavesNothing() throws Exception {
    ExecutorService places = Executors.newFixedThreadPool(AT_ONCE);
    try {
      List<Callable<Void>> tries = new ArrayList<>();
      for (TransferProtocol protocol : TransferProtocol.values()) {
        Shape shape = protocol == TransferProtocol.P2P_NCCL ? Shape.COMPLETION : Shape.CHAT;
        List<String> expected = answeredAlone(protocol, shape);
        for (Where where : EVERYWHERE) {
          tries.add(
              () -> {
                strike(protocol, where, shape, expected);
                return null;
              });
        }
      }
      List<Throwable> wrong = new ArrayList<>();
      for (Future<Void> tried : places.invokeAll(tries)) {
        try {
          tried.get();
        } catch (ExecutionException e) {
          wrong.add(e.getCause());
        }
      }
      assertThat(wrong).isEmpty();
    } finally {
      places.shutdownNow();
    }
  }

  /** ATOM keeps KV until somebody fetches it, however long that takes. */
  @Test
  void i3_whatARefusingDecodeWorkerWasToFetchIsFreed() throws Exception {
    TransferProtocol protocol = TransferProtocol.ATOM;
    List<String> expected = answeredAlone(protocol, Shape.CHAT);
    try (FakeFleet fleet =
            FakeFleet.start(
                "2p2d",
                builder ->
                    worker(builder, protocol).handoffTimeouts(HandoffTimeouts.of(protocol)));
        RouterClient router = router(fleet, PATIENT, Timeouts.DEFAULT)) {
      FakeEngine victim =
          fleet.engines().stream()
              .filter(engine -> engine.role() == WorkerRole.DECODE)
              .findFirst()
              .orElseThrow();
      for (boolean stream : new boolean[] {false, true}) {
        for (String refusal : List.of("400", "429")) {
          String what = refusal + (stream ? " of a stream" : "");
          List<Fault> armed =
              Fault.parse(refusal).stream().map(each -> each.on(Scope.GENERATE).times(1)).toList();
          armed.forEach(victim.faults()::add);
          long before = fired(List.of(victim), armed);
          for (int i = 0; i < 100 && fired(List.of(victim), armed) == before; i++) {
            assertEnds(sent(router, Shape.CHAT, stream), expected, what);
          }
          assertThat(fired(List.of(victim), armed)).as(what + " struck").isGreaterThan(before);
          victim.faults().clear();
          nothingIsLeft(fleet, router, what);
        }
      }
    }
  }

  private static List<String> answeredAlone(TransferProtocol protocol, Shape shape) {
    try (FakeEngine alone = worker(FakeEngine.builder(), protocol).start();
        RouterClient direct =
            RouterClient.builder()
                .transport(OkHttpTransport.create())
                .worker(alone.url())
                .build()) {
      assertThat(direct.awaitReady(Duration.ofSeconds(30))).isTrue();
      return PairTraffic.whole(direct.send(request(shape, false)).text());
    }
  }

  private static void strike(
      TransferProtocol protocol, Where where, Shape shape, List<String> expected) throws Exception {
    try (FakeFleet fleet = FakeFleet.start("2p2d", builder -> worker(builder, protocol))) {
      for (String faults : where.rounds()) {
        String what = protocol + " " + where + " " + faults;
        try (RouterClient router = router(fleet)) {
          List<FakeEngine> victims =
              fleet.engines().stream().filter(engine -> engine.role() == where.role()).toList();
          List<Fault> armed =
              Fault.parse(faults).stream().map(each -> each.on(where.moment()).times(1)).toList();
          victims.forEach(victim -> armed.forEach(victim.faults()::add));
          long before = fired(victims, armed);
          List<CompletableFuture<List<String>>> requests = new ArrayList<>();
          for (int i = 0; i < 2 + armed.size(); i++) {
            requests.add(sent(router, shape, false));
            requests.add(sent(router, shape, true));
          }
          for (CompletableFuture<List<String>> request : requests) {
            assertEnds(request, expected, what);
          }
          assertThat(fired(victims, armed)).as(what + " struck").isGreaterThan(before);
          victims.forEach(victim -> victim.faults().clear());
          nothingIsLeft(fleet, router, what);
        }
        await()
            .untilAsserted(
                () -> assertThat(fleet.stats().connections()).as(what + ": connections").isZero());
      }
    }
  }

  private static long fired(List<FakeEngine> victims, List<Fault> faults) {
    return victims.stream()
        .mapToLong(
            victim ->
                faults.stream().map(Fault::kind).distinct().mapToLong(victim.faults()::fired).sum())
        .sum();
  }

  /** A request ends with a refusal, the one right answer, or an error of the client's. */
  private static void assertEnds(
      CompletableFuture<List<String>> request, List<String> expected, String what)
      throws Exception {
    try {
      List<String> answer = request.get(60, TimeUnit.SECONDS);
      assertThat(answer).as(what).isIn(expected, REFUSED);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      while (cause instanceof CompletionException && cause.getCause() != null) {
        cause = cause.getCause();
      }
      assertThat(cause).as(what).isInstanceOf(RouterException.class);
    }
  }

  private static CompletableFuture<List<String>> sent(
      RouterClient router, Shape shape, boolean stream) {
    return stream
        ? router.streamAsync(request(shape, true)).thenApply(HandoffFaultsIT::drain)
        : router
            .sendAsync(request(shape, false))
            .thenApply(
                answer -> answer.status() == 200 ? PairTraffic.whole(answer.text()) : REFUSED);
  }

  private static List<String> drain(RouterStream stream) {
    List<String> events = new ArrayList<>();
    try (stream) {
      stream.forEach(event -> events.add(event.data()));
    }
    return PairTraffic.streamed(events);
  }

  private static RouterRequest request(Shape shape, boolean stream) {
    return RouterRequest.builder(shape.path())
        .body(shape.body(PROMPT, TOKENS, SEED, stream).toString())
        .build();
  }

  /** A new client for each round: its first look at a worker that comes back is enough. */
  private static RouterClient router(FakeFleet fleet) {
    Duration soon = millis(2_000);
    return router(fleet, SETTINGS, new Timeouts(soon, soon, soon, null));
  }

  private static RouterClient router(FakeFleet fleet, PdSettings settings, Timeouts timeouts) {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .prefillPolicy(Policies.roundRobin())
            .decodePolicy(Policies.roundRobin())
            .prefillDecode(settings)
            .timeouts(timeouts)
            .retry(new RetrySettings(4, 1, 100_000, millis(1), millis(20), Duration.ofSeconds(10)))
            .seed(5);
    fleet.engines().forEach(engine -> builder.worker(engine.workerSpec()));
    RouterClient router = builder.build();
    await()
        .pollInterval(millis(10))
        .until(
            () ->
                router.workers().list().stream()
                    .allMatch(worker -> worker.availability() == Availability.UP));
    return router;
  }

  private static void nothingIsLeft(FakeFleet fleet, RouterClient router, String what) {
    await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(millis(20))
        .untilAsserted(
            () -> {
              for (FakeEngine engine : fleet.engines()) {
                assertThat(engine.handoffs()).as("%s: handoffs of %s", what, engine).isZero();
                assertThat(engine.heldBlocks()).as("%s: held by %s", what, engine).isZero();
                assertThat(engine.liveRooms()).as("%s: rooms of %s", what, engine).isZero();
              }
              assertThat(fleet.stats().activeBlocks()).as(what + ": blocks").isZero();
              assertThat(fleet.stats().running() + fleet.stats().waiting()).as(what).isZero();
              assertThat(router.stats().pd().liveSessions()).as(what + ": sessions").isZero();
              assertThat(router.stats().pd().liveRooms()).as(what + ": rooms").isZero();
              assertThat(router.stats().inFlight()).as(what + ": in flight").isZero();
              for (var worker : router.workers().list()) {
                for (var rank : worker.ranks()) {
                  assertThat(rank.inFlight()).as("%s: places at %s", what, worker).isZero();
                  assertThat(rank.prefillTokens()).as(what).isZero();
                }
              }
            });
  }

  private static FakeEngineBuilder worker(FakeEngineBuilder builder, TransferProtocol protocol) {
    return builder
        .kind(protocol.engine())
        .transfer(protocol)
        .model("m")
        .speedup(20)
        .disconnectDelay(Duration.ZERO)
        .keepAlive(NEVER_IDLE)
        .kvTransfer(new KvTransfer(100_000, 10))
        .handoffTimeouts(new HandoffTimeouts(millis(400), millis(400), millis(300)));
  }
}
