package dev.warmpath.health;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.health.FakeTransport.FakeWorker;
import dev.warmpath.health.FakeTransport.Mode;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.worker.Worker;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/**
 * Whatever a worker's polls find and its requests come to: traffic that was taken from it comes
 * back no sooner than {@link DegradationSettings#hold()} after, but for what slow start gives.
 */
class TrafficHysteresisTest {
  private static final String A = MonitorFixture.A;
  private static final Duration STEP = Duration.ofMillis(100);

  /** How long shares stand before they are worked out anew, and a bit. */
  private static final Duration LOOK = Duration.ofMillis(1_200);

  private static final Mode[] FOUND = {
    Mode.OK, Mode.OK, Mode.UNHEALTHY, Mode.REFUSE, Mode.TIME_OUT, Mode.RESET
  };

  private static RankLoad figures(Random random, double used) {
    double unknown = Double.NaN;
    return new RankLoad(
        -1,
        8,
        random.nextInt(3) * 20,
        random.nextInt(4) == 0 ? 1_000 : used,
        random.nextBoolean() ? 0.99 : 0.1,
        unknown,
        unknown,
        unknown,
        random.nextInt(5) == 0 ? unknown : 50,
        unknown);
  }

  /** The part of its traffic that the worker gets while others can take it. */
  private static double weight(MonitorFixture fixture) {
    RankState state = fixture.state(A);
    return state.lastResort() ? 0 : state.share(false);
  }

  @Property(tries = 6)
  void trafficComesBackNoSoonerThanTheHold(
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 6) int calmness,
      @ForAll @IntRange(min = 2, max = 60) int holdSeconds) {
    DegradationSettings rules =
        DegradationSettings.builder().hold(Duration.ofSeconds(holdSeconds)).build();
    double slowest = rules.slowStartShare();
    double growthPerNano = (1 - slowest) / rules.slowStart().toNanos();
    Random random = new Random(seed);
    try (MonitorFixture fixture =
        new MonitorFixture(HealthSettings.builder().degradation(rules).build())) {
      FakeWorker worker = fixture.addUp(A);
      fixture.addUp(MonitorFixture.B);
      fixture.addUp("http://c:1");
      double[] used = {1_000};
      worker.duringCall =
          () -> {
            if (random.nextInt(calmness) == 0) {
              worker.all(FOUND[random.nextInt(FOUND.length)]);
            }
            worker.ranks = List.of(figures(random, used[0]++));
          };
      double before = weight(fixture);
      double least = before;
      long fell = fixture.time.nanoTime() - rules.hold().toNanos();
      for (int i = 0; i < 2_000; i++) {
        if (random.nextInt(10 * calmness) == 0) {
          fixture.state(A).failed();
        } else if (random.nextInt(30 * calmness) == 0) {
          fixture.state(A).succeeded(50, fixture.time.nanoTime());
        }
        fixture.advance(STEP);
        long now = fixture.time.nanoTime();
        double weight = weight(fixture);
        long since = now - fell;
        if (since < rules.hold().toNanos()) {
          assertThat(weight)
              .as(
                  "%s ms after it fell to %s, %s",
                  since / 1_000_000, least, fixture.state(A).label())
              .isLessThanOrEqualTo(
                  Math.max(least, slowest) + growthPerNano * (since + LOOK.toNanos()));
        }
        if (weight < before) {
          fell = now;
          least = weight;
        }
        before = weight;
      }
    }
  }

  @Test
  void aRecoveryWithinTheHoldBeginsAnewButIsNotCountedAsAnother() {
    DegradationSettings rules = DegradationSettings.builder().hold(Duration.ofSeconds(60)).build();
    SlowStart slowStart = new SlowStart();
    slowStart.begin(rules, 0);
    long second = Duration.ofSeconds(28).toNanos();
    assertThat(slowStart.share(rules, second)).isGreaterThan(0.9);
    slowStart.begin(rules, second);
    assertThat(slowStart.share(rules, second)).isEqualTo(rules.slowStartShare());
    assertThat(slowStart.share(rules, second + rules.slowStart().toNanos())).isEqualTo(1);
  }

  @Test
  void aRestartBeginsASlowStart() {
    try (MonitorFixture fixture = new MonitorFixture()) {
      fixture.addUp(A);
      assertThat(weight(fixture)).isEqualTo(1);
      Worker worker = fixture.worker(A);
      fixture.registry.restarted(worker.id(), worker.epoch(), worker.capabilities());
      fixture.advance(Duration.ofMillis(1));
      assertThat(fixture.worker(A).epoch()).isNotEqualTo(worker.epoch());
      assertThat(fixture.state(A).degradation().modes())
          .containsExactly(DegradationMode.RECOVERING);
      assertThat(weight(fixture)).isCloseTo(0.1, within(0.01));
    }
  }
}
