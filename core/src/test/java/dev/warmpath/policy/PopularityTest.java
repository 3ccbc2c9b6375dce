package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class PopularityTest {
  @Test
  void halfOfTheTrafficDeservesAllWorkers() {
    assertThat(Popularity.replicas(10_000, 20_000, 16)).isEqualTo(16);
    assertThat(Popularity.replicas(10_000, 160_000, 16)).isEqualTo(2);
    assertThat(Popularity.replicas(10_000, 400_000, 16)).isEqualTo(1);
  }

  @Test
  void aFewRequestsByChanceDeserveOneWorker() {
    assertThat(Popularity.replicas(0, 1, 64)).isEqualTo(1);
    assertThat(Popularity.replicas(1, 1, 64)).isEqualTo(1);
    assertThat(Popularity.replicas(4, 200, 64)).isEqualTo(2);
    assertThat(Popularity.replicas(2, 200, 64)).isEqualTo(1);
  }

  @Property
  void thereAreFromOneToAllAndMoreForMore(
      @ForAll @DoubleRange(min = 0, max = 1e6) double count,
      @ForAll @DoubleRange(min = 0, max = 1e6) double others,
      @ForAll @IntRange(min = 1, max = 2_000) int workers) {
    int replicas = Popularity.replicas(count, count + others + 1, workers);
    assertThat(replicas).isBetween(1, workers);
    assertThat(Popularity.replicas(count + 100, count + others + 101, workers))
        .isGreaterThanOrEqualTo(replicas);
  }
}
