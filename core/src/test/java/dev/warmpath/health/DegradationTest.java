package dev.warmpath.health;

import static dev.warmpath.health.MonitorFixture.A;
import static dev.warmpath.health.MonitorFixture.B;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.health.DegradationSettings.Rule;
import dev.warmpath.health.FakeTransport.FakeWorker;
import dev.warmpath.health.FakeTransport.Mode;
import dev.warmpath.transport.RankLoad;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each way of being degraded, its beginning and its end, on time that the test moves. */
class DegradationTest {
  private static final String C = "http://c:1";
  private static final double UNKNOWN = Double.NaN;

  private final MonitorFixture fixture = new MonitorFixture();
  private FakeWorker a = fixture.transport.worker(A);

  @BeforeEach
  void start() {
    a = fixture.addUp(A);
    fixture.addUp(B);
    fixture.addUp(C);
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private static List<RankLoad> figures(
      double running, double waiting, double used, double usage, double throughput) {
    return List.of(
        new RankLoad(
            -1, running, waiting, used, usage, UNKNOWN, UNKNOWN, UNKNOWN, throughput, UNKNOWN));
  }

  private Set<DegradationMode> modes() {
    return fixture.state(A).degradation().modes();
  }

  /** Lets time pass until something is so; how long it took, at most a minute. */
  private Duration until(BooleanSupplier so) {
    Duration passed = Duration.ZERO;
    while (!so.getAsBoolean()) {
      fixture.advance(ofMillis(100));
      passed = passed.plusMillis(100);
      assertThat(passed).isLessThan(ofMinutes(2));
    }
    return passed;
  }

  private Duration untilDegraded(DegradationMode mode) {
    return until(() -> modes().contains(mode));
  }

  private Duration untilWell() {
    return until(() -> modes().isEmpty());
  }

  private void serve(String address, double millis, int times) {
    for (int i = 0; i < times; i++) {
      fixture.state(address).succeeded(millis, fixture.time.nanoTime());
    }
  }

  /** The two that A is held against, as fast as they ought to be. */
  private void serveOthers() {
    serve(B, 100, 20);
    serve(C, 120, 20);
  }

  private void readFourTimesASecond() {
    fixture.monitor.reconfigure(
        HealthSettings.builder().loadInterval(ofMillis(250), ofMillis(250)).build());
  }

  @Test
  void stuckIsRunningWithoutTokens() {
    a.ranks = figures(3, 0, 5_000, 0.4, 0);
    assertThat(untilDegraded(DegradationMode.STUCK)).isBetween(ofSeconds(20), ofSeconds(45));
    assertThat(fixture.state(A).share(false)).isZero();
    assertThat(fixture.state(A).label()).isEqualTo("degraded:stuck");
    assertThat(fixture.availability(A)).as("its probes pass").isEqualTo(Availability.UP);
    fixture.advance(ofSeconds(30));
    assertThat(modes()).containsExactly(DegradationMode.STUCK);
    double[] used = {5_000};
    a.duringCall = () -> a.ranks = figures(3, 0, used[0]++, 0.4, 100);
    untilWell();
    assertThat(fixture.state(A).share(false)).isOne();
  }

  @Test
  void whoMovesIsNotStuckWhoeverTellsIt() {
    // A long prefill: no token comes, the pool fills.
    double[] used = {5_000};
    a.duringCall = () -> a.ranks = figures(1, 4, used[0]++, UNKNOWN, 0);
    fixture.advance(ofMinutes(2));
    assertThat(modes()).isEmpty();
    // Figures that stand still while this client's requests come through.
    a.duringCall = () -> {};
    a.ranks = figures(1, 0, 5_000, 0.4, 0);
    for (int i = 0; i < 12; i++) {
      fixture.advance(ofSeconds(10));
      fixture.state(A).alive(fixture.time.nanoTime());
    }
    assertThat(modes()).isEmpty();
    // Nothing that tokens would move: unknown is not stuck.
    a.ranks = figures(1, 0, UNKNOWN, UNKNOWN, UNKNOWN);
    fixture.advance(ofMinutes(2));
    assertThat(modes()).isEmpty();
    // Nothing runs.
    a.ranks = figures(0, 0, 5_000, 0.4, 0);
    fixture.advance(ofMinutes(2));
    assertThat(modes()).isEmpty();
  }

  @Test
  void kvFullIsAFullPoolThatRequestsWaitFor() {
    a.ranks = figures(8, 0, 1_000, 0.99, 50);
    fixture.advance(ofSeconds(15));
    assertThat(modes()).as("full and nobody waits").isEmpty();
    double[] used = {1_000};
    a.duringCall = () -> a.ranks = figures(8, 5, used[0]++, 0.98, 50);
    untilDegraded(DegradationMode.KV_FULL);
    assertThat(fixture.state(A).share(false)).isEqualTo(0.3);
    assertThat(fixture.state(A).share(true)).as("where KV decides").isOne();
    a.duringCall = () -> a.ranks = figures(8, 5, used[0]++, 0.95, 50);
    fixture.advance(ofSeconds(40));
    assertThat(modes()).as("between the thresholds").containsExactly(DegradationMode.KV_FULL);
    a.duringCall = () -> a.ranks = figures(8, 5, used[0]++, 0.9, 50);
    untilWell();
  }

  @Test
  void overloadedIsAQueueThatGrowsWhileThroughputDoesNot() {
    double[] figures = {0, 100};
    a.duringCall = () -> a.ranks = figures(8, figures[0] += 5, figures[0], 0.5, figures[1]);
    untilDegraded(DegradationMode.OVERLOADED);
    assertThat(fixture.state(A).share(false)).isEqualTo(0.5);
    assertThat(fixture.state(A).share(true)).as("where KV decides").isOne();
    a.duringCall = () -> a.ranks = figures(8, Math.max(1, figures[0] -= 5), figures[0], 0.5, 100);
    untilWell();
  }

  /** It takes 2 s every 5 s, decodes nothing meanwhile, and five requests come behind it. */
  @Test
  void aQueueBehindALongPromptIsNoneHoweverOftenOneLooks() {
    readFourTimesASecond();
    int[] reading = {0};
    a.duringCall =
        () -> {
          int phase = reading[0]++ % 20;
          a.ranks = figures(8, phase < 8 ? phase : 0, reading[0], 0.5, phase < 8 ? 0 : 100);
        };
    fixture.advance(ofMinutes(2));
    assertThat(reading[0]).as("looks").isGreaterThan(300);
    assertThat(modes()).isEmpty();
  }

  @Test
  void aQueueThatGrowsIsFoundWhenLookedAtOften() {
    readFourTimesASecond();
    double[] queue = {0};
    a.duringCall = () -> a.ranks = figures(8, queue[0]++, queue[0], 0.5, 100);
    assertThat(untilDegraded(DegradationMode.OVERLOADED)).isLessThan(ofSeconds(10));
  }

  @Test
  void aQueueThatGrowsWithThroughputOrStandsIsNone() {
    double[] figures = {0, 100};
    a.duringCall = () -> a.ranks = figures(8, figures[0] += 5, figures[0], 0.5, figures[1] *= 1.2);
    fixture.advance(ofSeconds(30));
    assertThat(modes()).isEmpty();
    a.duringCall = () -> a.ranks = figures(8, 40, figures[0] += 1, 0.5, 100);
    fixture.advance(ofSeconds(60));
    assertThat(modes()).isEmpty();
  }

  @Test
  void latencyIsBeingFarSlowerThanItsLike() {
    serveOthers();
    serve(A, 900, 15);
    fixture.advance(ofSeconds(10));
    assertThat(modes()).as("too few requests to tell").isEmpty();
    serve(A, 900, 5);
    untilDegraded(DegradationMode.LATENCY);
    assertThat(fixture.state(A).share(false)).isEqualTo(0.5);
    assertThat(fixture.state(A).share(true)).as("where KV decides, too").isEqualTo(0.5);
    serve(A, 100, 2); // still more than twice the others'
    fixture.advance(ofSeconds(30));
    assertThat(modes()).containsExactly(DegradationMode.LATENCY);
    serve(A, 100, 10);
    untilWell();
  }

  @Test
  void oneThatComesToBeSlowIsFoundOut() {
    serve(A, 100, 100);
    serveOthers();
    fixture.advance(ofSeconds(10));
    assertThat(modes()).isEmpty();
    serve(A, 600, 40);
    untilDegraded(DegradationMode.LATENCY);
  }

  /** Every third request comes when a prompt of 100,000 tokens is computed. */
  @Test
  void waitingBehindLongPromptsIsNotBeingSlow() {
    serveOthers();
    for (int i = 0; i < 60; i++) {
      serve(A, 100, 2);
      serve(A, 2_000, 1);
      fixture.advance(ofSeconds(1));
      assertThat(modes()).isEmpty();
    }
    assertThat(fixture.state(A).latencyMillis()).as("its average").isGreaterThan(500);
  }

  @Test
  void anAverageThatNothingConfirmsIsNotBelieved() {
    serveOthers();
    serve(A, 900, 20);
    untilDegraded(DegradationMode.LATENCY);
    assertThat(untilWell()).isBetween(ofSeconds(50), ofSeconds(70));
  }

  @Test
  void slowAllAlikeIsNotDegraded() {
    serve(A, 5_000, 20);
    serve(B, 4_000, 20);
    serve(C, 3_000, 20);
    fixture.advance(ofSeconds(30));
    assertThat(modes()).isEmpty();
  }

  @Test
  void failingIsAShareOfOwnRequests() {
    serve(A, 50, 2);
    fixture.state(A).failed();
    fixture.advance(ofMillis(1));
    assertThat(modes()).as("an accident").isEmpty();
    for (int i = 0; i < 4; i++) {
      fixture.state(A).failed();
    }
    fixture.advance(ofMillis(1));
    assertThat(modes()).as("no look has to pass").containsExactly(DegradationMode.FAILING);
    assertThat(fixture.state(A).share(false)).isEqualTo(0.3);
    untilWell();
  }

  @Test
  void failuresMakeTheNextProbeEarly() {
    fixture.advance(ofSeconds(3));
    fixture.transport.forgetCalls();
    long asked = fixture.time.nanoTime();
    fixture.state(A).failed();
    fixture.advance(ofMillis(2));
    assertThat(fixture.transport.calls("health", A)).hasSize(1);
    assertThat(fixture.transport.calls("health", A).get(0) - asked)
        .isLessThan(ofMillis(2).toNanos());
    for (int i = 0; i < 50; i++) {
      fixture.state(A).failed();
      fixture.advance(ofMillis(10));
    }
    assertThat(fixture.transport.calls("health", A))
        .as("at the recheck interval and no faster")
        .hasSize(1);
  }

  @Test
  void successesMakeProbesUnnecessaryAndBringAWorkerBack() {
    a.all(Mode.REFUSE);
    until(() -> fixture.availability(A) == Availability.DOWN);
    serve(A, 10, 1);
    fixture.advance(ofMillis(1));
    assertThat(fixture.availability(A)).isEqualTo(Availability.UP);
    assertThat(modes()).containsExactly(DegradationMode.RECOVERING);
    a.all(Mode.OK);
    fixture.transport.forgetCalls();
    for (int i = 0; i < 60; i++) {
      serve(A, 10, 1);
      fixture.advance(ofSeconds(1));
    }
    assertThat(fixture.transport.calls("health", A)).hasSizeLessThanOrEqualTo(1);
  }

  @Test
  void staleIsTelemetryThatHasStopped() {
    a.load = Mode.TIME_OUT;
    assertThat(untilDegraded(DegradationMode.STALE)).isBetween(ofSeconds(10), ofSeconds(25));
    assertThat(fixture.state(A).share(false)).isEqualTo(0.7);
    a.load = Mode.OK;
    untilWell();
  }

  @Test
  void aWorkerWithoutTelemetryIsUnknownAndNotStale() {
    FakeWorker d = fixture.transport.worker("http://d:1");
    d.ranks = List.of();
    fixture.addUp("http://d:1");
    fixture.advance(ofMinutes(2));
    assertThat(fixture.state("http://d:1").degradation()).isEqualTo(Degradation.NONE);
  }

  @Test
  void figuresThatAreTooOldProveNothing() {
    double[] used = {1_000};
    a.duringCall = () -> a.ranks = figures(8, 5, used[0]++, 0.98, 50);
    untilDegraded(DegradationMode.KV_FULL);
    a.load = Mode.TIME_OUT;
    until(() -> modes().equals(Set.of(DegradationMode.STALE)));
  }

  @Test
  void aWorkerThatComesBackStartsSlowly() {
    a.health = Mode.REFUSE;
    until(() -> fixture.availability(A) == Availability.DOWN);
    a.health = Mode.OK;
    until(() -> fixture.availability(A) == Availability.UP);
    assertThat(modes()).containsExactly(DegradationMode.RECOVERING);
    assertThat(fixture.state(A).share(false)).isCloseTo(0.1, within(0.05));
    fixture.advance(ofSeconds(15));
    assertThat(fixture.state(A).share(false)).isCloseTo(0.55, within(0.06));
    fixture.advance(ofSeconds(16));
    assertThat(fixture.state(A).degradation().modes()).isEmpty();
    assertThat(fixture.state(A).share(false)).isOne();
  }

  @Test
  void aWorkerThatItsBreakerLetsGoOfStartsSlowlyToo() {
    fixture.state(A).suspect(true);
    fixture.advance(ofSeconds(2));
    fixture.state(A).suspect(false);
    fixture.advance(Duration.ZERO);
    assertThat(modes()).containsExactly(DegradationMode.RECOVERING);
  }

  @Test
  void aNewWorkerDoesNot() {
    fixture.addUp("http://d:1");
    assertThat(fixture.state("http://d:1").share(false)).isOne();
  }

  @Test
  void modesAddUpAndTheWorstCounts() {
    double[] used = {1_000};
    a.duringCall = () -> a.ranks = figures(8, used[0] += 100, used[0], 0.98, 50);
    until(() -> modes().size() == 2);
    assertThat(fixture.state(A).label()).isEqualTo("degraded:kv_full,overloaded");
    assertThat(fixture.state(A).share(false)).isEqualTo(0.3);
    WorkerView view = fixture.view(A);
    assertThat(view.ranks().get(0).degradation()).isEqualTo(fixture.state(A).degradation());
  }

  @Test
  void settingsChangeAtTheNextLook() {
    a.load = Mode.TIME_OUT;
    untilDegraded(DegradationMode.STALE);
    fixture.monitor.reconfigure(
        HealthSettings.builder().degradation(DegradationSettings.OFF).build());
    fixture.advance(ofSeconds(1));
    assertThat(fixture.state(A).degradation().degraded()).isFalse();
  }

  @Test
  void aWorkerThatFlapsAtEveryPollChangesNothingAboveItsThresholds() {
    double[] used = {1_000};
    boolean[] full = {false};
    a.duringCall =
        () -> {
          full[0] = !full[0];
          a.ranks = figures(8, 5, used[0]++, full[0] ? 0.99 : 0.5, 50);
        };
    fixture.advance(ofMinutes(5));
    assertThat(modes()).isEmpty();
  }

  /** The moments at which a rank's share of traffic falls, or rises at once. */
  private List<Long> steps(Duration within) {
    List<Long> steps = new ArrayList<>();
    double before = effective();
    for (long t = 0; t < within.toMillis(); t += 100) {
      fixture.advance(ofMillis(100));
      double now = effective();
      if (now < before || now > before + 0.1) {
        steps.add(fixture.time.nanoTime());
      }
      before = now;
    }
    return steps;
  }

  private double effective() {
    return fixture.state(A).lastResort() ? 0 : fixture.state(A).share(false);
  }

  @Test
  void telemetryThatFlapsMovesTrafficNoMoreOftenThanItIsHeld() {
    Duration hold = ofSeconds(10);
    fixture.monitor.reconfigure(
        HealthSettings.builder()
            .degradation(
                DegradationSettings.builder()
                    .rule(DegradationMode.KV_FULL, new Rule(0.97, 0.9, 1, 0.3))
                    .without(DegradationMode.OVERLOADED)
                    .hold(hold)
                    .build())
            .build());
    double[] used = {1_000};
    boolean[] full = {false};
    a.duringCall =
        () -> {
          full[0] = !full[0];
          a.ranks = figures(8, 5, used[0]++, full[0] ? 0.99 : 0.5, 50);
        };
    List<Long> steps = steps(ofMinutes(10));
    assertThat(steps).hasSizeGreaterThan(10);
    for (int i = 1; i < steps.size(); i++) {
      assertThat(steps.get(i) - steps.get(i - 1)).isGreaterThanOrEqualTo(hold.toNanos());
    }
  }

  @Test
  void probesThatFlapNeverTakeAWorkerOut() {
    a.duringCall =
        () -> {
          boolean odd = fixture.transport.calls("health", A).size() % 2 == 1;
          a.health = odd ? Mode.REFUSE : Mode.OK;
        };
    assertThat(steps(ofMinutes(10))).isEmpty();
    assertThat(fixture.transport.calls("health", A)).hasSizeGreaterThan(50);
  }

  @Test
  void aWorkerThatFallsAsSoonAsItIsBackIsHardlyUsed() {
    Runnable flapping =
        () -> a.health = fixture.availability(A) == Availability.DOWN ? Mode.OK : Mode.REFUSE;
    a.duringCall = flapping;
    until(() -> fixture.availability(A) == Availability.DOWN);
    double most = 0;
    int recoveries = 0;
    boolean up = false;
    for (int i = 0; i < 6_000; i++) {
      fixture.advance(ofMillis(100));
      recoveries += !up && effective() > 0 ? 1 : 0;
      up = effective() > 0;
      most = Math.max(most, effective());
    }
    assertThat(recoveries).isGreaterThan(10);
    assertThat(most).isLessThan(0.5);
  }

  @Test
  void aWorkerThatGoesDownAgainAndAgainComesBackMoreSlowlyEachTime() {
    List<Duration> recoveries = new ArrayList<>();
    for (int round = 0; round < 5; round++) {
      a.health = Mode.REFUSE;
      until(() -> fixture.availability(A) == Availability.DOWN);
      a.health = Mode.OK;
      until(() -> fixture.availability(A) == Availability.UP);
      Duration took = Duration.ZERO;
      while (fixture.state(A).degradation().degraded()) {
        fixture.advance(ofSeconds(1));
        took = took.plusSeconds(1);
      }
      recoveries.add(took);
    }
    assertThat(recoveries.get(0)).isBetween(ofSeconds(28), ofSeconds(32));
    assertThat(recoveries.get(1)).isBetween(ofSeconds(58), ofSeconds(62));
    assertThat(recoveries.get(2)).isBetween(ofSeconds(118), ofSeconds(122));
    assertThat(recoveries.get(4)).isBetween(ofSeconds(238), ofSeconds(242));
    fixture.advance(ofMinutes(30));
    a.health = Mode.REFUSE;
    until(() -> fixture.availability(A) == Availability.DOWN);
    a.health = Mode.OK;
    until(() -> fixture.availability(A) == Availability.UP);
    fixture.advance(ofSeconds(32));
    assertThat(fixture.state(A).degradation().degraded()).as("forgiven").isFalse();
  }
}
