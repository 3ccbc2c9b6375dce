package dev.warmpath.health;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.health.DegradationSettings.Rule;
import dev.warmpath.health.FakeTransport.FakeWorker;
import dev.warmpath.health.FakeTransport.Mode;
import dev.warmpath.transport.RankLoad;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A worker that changes at every poll: traffic moves no more often than thresholds, readings in a
 * row and the least time between two changes allow.
 */
class FlappingTest {
  private static final String A = "http://a:1";
  private static final HealthSettings SETTINGS = HealthSettings.DEFAULT;
  private static final Duration STEP = ofMillis(100);
  private static final double UNKNOWN = Double.NaN;

  private final MonitorFixture fixture = new MonitorFixture();
  private FakeWorker a = fixture.transport.worker(A);

  @BeforeEach
  void start() {
    a = fixture.addUp(A);
    fixture.addUp("http://b:1");
    fixture.addUp("http://c:1");
  }

  @AfterEach
  void close() {
    fixture.close();
  }

  private static List<RankLoad> figures(double waiting, double used, double usage) {
    return List.of(
        new RankLoad(-1, 8, waiting, used, usage, UNKNOWN, UNKNOWN, UNKNOWN, 50, UNKNOWN));
  }

  private boolean lastResort() {
    return fixture.state(A).lastResort();
  }

  /** What each health probe of the worker finds, as it was asked. */
  private List<Boolean> probesFindByChance(Random random, double passes) {
    List<Boolean> found = new ArrayList<>();
    a.duringCall =
        () -> {
          if (fixture.transport.calls("health", A).size() > found.size()) {
            found.add(random.nextDouble() < passes);
            a.health = found.get(found.size() - 1) ? Mode.OK : Mode.UNHEALTHY;
          }
        };
    fixture.transport.forgetCalls();
    return found;
  }

  private static boolean endsWith(List<Boolean> found, int many, boolean passed) {
    return found.size() >= many
        && found.subList(found.size() - many, found.size()).stream().allMatch(p -> p == passed);
  }

  @Test
  void probesMoveAWorkerOnlyWhenAsManyInARowAgree() {
    for (double passes : new double[] {0.5, 0.7, 0.85}) {
      List<Boolean> found = probesFindByChance(new Random(41), passes);
      int moves = 0;
      int probesAtMove = 0;
      boolean before = lastResort();
      for (long t = 0; t < Duration.ofMinutes(60).toMillis(); t += STEP.toMillis()) {
        fixture.advance(STEP);
        if (lastResort() != before) {
          before = lastResort();
          int needed = before ? SETTINGS.failuresToDown() : SETTINGS.passesToUp();
          assertThat(endsWith(found, needed, !before)).as("%s, down: %s", found, before).isTrue();
          if (moves++ > 0) {
            assertThat(found.size() - probesAtMove).isGreaterThanOrEqualTo(needed);
          }
          probesAtMove = found.size();
        }
      }
      assertThat(moves).isGreaterThan(10);
    }
  }

  @Test
  void eachModeChangesOnceInItsHoldHoweverEverySignalFlaps() {
    // One reading is enough for each: nothing but the hold is in the way.
    DegradationSettings rules =
        DegradationSettings.builder()
            .rule(DegradationMode.KV_FULL, new Rule(0.97, 0.9, 1, 0.3))
            .rule(DegradationMode.OVERLOADED, new Rule(1, 0, 1, 0.5))
            .build();
    fixture.monitor.reconfigure(HealthSettings.builder().degradation(rules).build());
    double[] used = {1_000};
    a.duringCall =
        () -> {
          boolean odd = fixture.transport.calls("load", A).size() % 2 == 1;
          a.health =
              fixture.transport.calls("health", A).size() % 2 == 1 ? Mode.OK : Mode.UNHEALTHY;
          a.ranks = figures(odd ? 40 : 1, used[0]++, odd ? 0.99 : 0.1);
        };
    Map<DegradationMode, Long> changed = new EnumMap<>(DegradationMode.class);
    Set<DegradationMode> before = EnumSet.noneOf(DegradationMode.class);
    int changes = 0;
    for (int i = 0; i < 18_000; i++) {
      fixture.advance(STEP);
      long now = fixture.time.nanoTime();
      if (i % 8 == 0 && i / 200 % 2 == 0) {
        fixture.state(A).failed();
      } else if (i % 8 == 4) {
        fixture.state(A).succeeded(50, now);
      }
      Set<DegradationMode> modes = fixture.state(A).degradation().modes();
      for (DegradationMode mode : DegradationMode.values()) {
        if (mode != DegradationMode.RECOVERING && modes.contains(mode) != before.contains(mode)) {
          Long last = changed.put(mode, now);
          changes++;
          assertThat(last == null ? Long.MAX_VALUE : now - last)
              .as("%s at %s", mode, i)
              .isGreaterThanOrEqualTo(rules.hold().toNanos());
        }
      }
      before = EnumSet.noneOf(DegradationMode.class);
      before.addAll(modes);
    }
    assertThat(changed.keySet())
        .containsExactly(
            DegradationMode.KV_FULL, DegradationMode.OVERLOADED, DegradationMode.FAILING);
    assertThat(changes).isGreaterThan(100);
  }
}
