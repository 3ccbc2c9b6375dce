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
    assertThat(state.inFlightUnseenTokens()).isEqualTo(tokens);
  }

  @Test
  void tokensAreUnseenUntilTheNextReading() {
    long one = state.begin(100);
    long two = state.begin(7_000);
    assertUnseen(2, 7_100);
    state.end(100, one);
    assertUnseen(1, 7_000);
    state.observe(READING);
    assertUnseen(0, 0);
    assertThat(state.inFlightTokens()).isEqualTo(7_000);
    long three = state.begin(50);
    state.end(7_000, two); // begun before the reading: not among the unseen any more
    assertUnseen(1, 50);
    state.end(50, three);
    assertUnseen(0, 0);
    assertThat(state.inFlight()).isZero();
    assertThat(state.inFlightTokens()).isZero();
  }

  @Test
  void countsSurviveManyReadings() {
    for (int i = 0; i < 70_000; i++) {
      long begun = state.begin(i);
      assertUnseen(1, i);
      if (i % 2 == 0) {
        state.observe(READING);
        assertUnseen(0, 0);
      }
      state.end(i, begun);
      assertUnseen(0, 0);
    }
  }
}
