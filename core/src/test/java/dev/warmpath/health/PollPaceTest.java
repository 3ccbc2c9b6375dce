package dev.warmpath.health;

import static dev.warmpath.health.FakeTransport.load;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.transport.RankLoad;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PollPaceTest {
  private static final double NO = Double.NaN;
  private static final long MIN = 100;
  private static final long MAX = 5_000;

  private final PollPace pace = new PollPace(1_000);

  private long after(RankLoad... ranks) {
    pace.reading(List.of(ranks), 0, MIN, MAX);
    return pace.intervalNanos();
  }

  private static RankLoad usage(double running, double usage) {
    return new RankLoad(-1, running, 0, NO, usage, NO, NO, NO, NO, NO);
  }

  @ParameterizedTest
  @CsvSource({
    // before, after, interval from 1,000
    "10, 10, 2000",
    "10, 12, 2000", // exactly a fifth is not more than a fifth
    "10, 8, 2000",
    "10, 12.1, 500",
    "10, 7.9, 500",
    "100, 121, 500",
    "1, 2, 500",
    "1, 0, 5000", // idle
    "0, 1, 500",
    "NaN, 10, 2000", // what was unknown has not changed
    "10, NaN, 2000",
    "NaN, NaN, 2000",
  })
  void aChangeOfMoreThanAFifthHalvesAndStabilityDoubles(
      double before, double after, long interval) {
    pace.reading(List.of(load(-1, before, 0)), 1, MIN, MAX);
    long start = pace.intervalNanos();
    pace.reading(List.of(load(-1, after, 0)), after == 0 ? 0 : 1, MIN, MAX);
    double factor = interval / 1000.0;
    assertThat(pace.intervalNanos())
        .isEqualTo(interval == MAX ? MAX : Math.min(MAX, (long) (start * factor)));
  }

  @Test
  void waitingCountsLikeRunning() {
    after(load(-1, 5, 5));
    long before = pace.intervalNanos();
    assertThat(after(load(-1, 10, 0))).isEqualTo(2 * before);
    assertThat(after(load(-1, 10, 10))).isEqualTo(before);
  }

  @Test
  void totalsAreComparedNotRanks() {
    after(load(0, 4, 0), load(1, 8, 0));
    long before = pace.intervalNanos();
    assertThat(after(load(0, 8, 0), load(1, 4, 0))).isEqualTo(Math.min(MAX, 2 * before));
  }

  @Test
  void kvUsageIsAChangeToo() {
    after(usage(10, 0.40));
    assertThat(after(usage(10, 0.45))).isEqualTo(4_000);
    assertThat(after(usage(10, 0.60))).isEqualTo(2_000);
    after(usage(10, 0.01));
    long before = pace.intervalNanos();
    assertThat(after(usage(10, 0.015))).as("a small one is none").isEqualTo(2 * before);
  }

  @Test
  void itStaysWithinItsBounds() {
    for (int i = 0; i < 20; i++) {
      after(load(-1, i % 2 == 0 ? 1 : 100, 0));
    }
    assertThat(pace.intervalNanos()).isEqualTo(MIN);
    for (int i = 0; i < 20; i++) {
      after(load(-1, 100, 0));
    }
    assertThat(pace.intervalNanos()).isEqualTo(MAX);
    pace.reading(List.of(load(-1, 1, 0)), 0, 1_000, 2_000);
    assertThat(pace.intervalNanos()).as("new bounds apply at once").isEqualTo(2_000);
  }

  @Test
  void idlenessGoesStraightToTheLongest() {
    after(load(-1, 50, 0));
    assertThat(after(load(-1, 0, 0))).isEqualTo(MAX);
  }

  @Test
  void aWorkerWithOwnRequestsIsNotIdle() {
    pace.reading(List.of(load(-1, 0, 0)), 3, MIN, MAX);
    assertThat(pace.intervalNanos()).isEqualTo(2_000);
  }

  @Test
  void unknownIsNotIdle() {
    pace.reading(List.of(), 0, MIN, MAX);
    assertThat(pace.intervalNanos()).isEqualTo(2_000);
    pace.reading(List.of(load(0, 0, 0), load(1, NO, 0)), 0, MIN, MAX);
    assertThat(pace.intervalNanos()).isEqualTo(4_000);
  }

  @Test
  void failureIsRest() {
    pace.failed(MIN, MAX);
    assertThat(pace.intervalNanos()).isEqualTo(2_000);
    pace.failed(MIN, MAX);
    pace.failed(MIN, MAX);
    assertThat(pace.intervalNanos()).isEqualTo(MAX);
  }
}
