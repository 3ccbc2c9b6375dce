package dev.warmpath.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.transport.RankLoad;
import dev.warmpath.worker.Topology;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import org.junit.jupiter.api.Test;

class InFlightTokensTest {
  private static final double NO = Double.NaN;
  private static final LoadSnapshot READING =
      new LoadSnapshot(new RankLoad(-1, NO, NO, NO, NO, NO, NO, NO, NO, NO), 0, "test");

  private final RankState state = new RankState(rank());

  private static WorkerRank rank() {
    WorkerRegistry registry = new WorkerRegistry();
    registry.add(WorkerSpec.builder("http://w:1").build());
    Topology topology = registry.current();
    return topology.ranks().get(0);
  }

  private void assertUnseen(int requests, long tokens) {
    assertThat(state.inFlightUnseen()).isEqualTo(requests);
    assertThat(state.prefillTokens()).isEqualTo(tokens);
  }

  @Test
  void aStreamedRequestsTokensCountUntilItsFirstByte() {
    long one = state.begin(100, true);
    long two = state.begin(7_000, true);
    assertUnseen(2, 7_100);
    state.observe(READING);
    assertUnseen(0, 7_100);
    state.computed(100, one);
    assertUnseen(0, 7_000);
    state.end(one);
    state.computed(7_000, two);
    assertUnseen(0, 0);
    assertThat(state.inFlight()).isEqualTo(1);
    state.end(two);
    assertThat(state.inFlight()).isZero();
  }

  @Test
  void anotherRequestsTokensCountUntilTheNextReading() {
    long one = state.begin(100, false);
    long two = state.begin(7_000, false);
    assertUnseen(2, 7_100);
    state.computed(100, one);
    state.end(one);
    assertUnseen(1, 7_000);
    state.observe(READING);
    assertUnseen(0, 0);
    long three = state.begin(50, false);
    state.computed(7_000, two); // begun before the reading: not counted any more
    state.end(two);
    assertUnseen(1, 50);
    state.computed(50, three);
    state.end(three);
    assertUnseen(0, 0);
    assertThat(state.inFlight()).isZero();
  }

  @Test
  void countsSurviveManyReadings() {
    for (int i = 0; i < 70_000; i++) {
      boolean streamed = i % 3 == 0;
      long begun = state.begin(i, streamed);
      assertUnseen(1, i);
      if (i % 2 == 0) {
        state.observe(READING);
        assertUnseen(0, streamed ? i : 0);
      }
      state.computed(i, begun);
      state.end(begun);
      assertUnseen(0, 0);
    }
  }
}
