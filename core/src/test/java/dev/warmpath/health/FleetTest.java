package dev.warmpath.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FleetTest {
  private static final String A = "http://a:1";
  private static final String B = "http://b:1";

  private final WorkerRegistry registry = new WorkerRegistry();
  private final List<WorkerRank> gone = new ArrayList<>();

  private static WorkerSpec spec(String address) {
    return WorkerSpec.builder(address).build();
  }

  @Test
  void statesOutliveSnapshotsButNotIncarnations() {
    registry.add(spec(A));
    try (Fleet fleet = new Fleet(registry, gone::add)) {
      FleetView first = fleet.view();
      WorkerRank rank = first.topology().ranks().get(0);
      RankState state = first.state(rank);
      registry.add(spec(B));
      registry.drain(WorkerId.parse(A), true);
      assertThat(fleet.view().find(rank)).isSameAs(state);
      assertThat(gone).isEmpty();
      registry.restarted(rank.worker().id(), rank.worker().epoch());
      assertThat(fleet.view().find(rank)).isNull();
      assertThat(gone).containsExactly(rank);
      // An old view goes on showing what it showed.
      assertThat(first.state(rank)).isSameAs(state);
    }
  }

  @Test
  void aSlotThatIsUsedAgainIsSomebodyElses() {
    try (Fleet fleet = new Fleet(registry, gone::add)) {
      registry.add(spec(A));
      WorkerRank old = fleet.view().topology().ranks().get(0);
      RankState state = fleet.view().state(old);
      long begun = state.begin(5, false);
      registry.remove(WorkerId.parse(A));
      registry.add(spec(B));
      WorkerRank fresh = fleet.view().topology().ranks().get(0);
      assertThat(fresh.slot()).isEqualTo(old.slot());
      assertThat(fleet.view().find(old)).isNull();
      state.end(begun);
      assertThat(fleet.view().state(fresh).inFlight()).isZero();
    }
  }

  @Test
  void whatFollowsTheRanksMayFail() {
    List<WorkerRank> seen = new ArrayList<>();
    try (Fleet fleet =
        new Fleet(
            registry,
            rank -> {
              seen.add(rank);
              throw new IllegalStateException("a bug in the index");
            })) {
      registry.replace("test", List.of(spec(A), spec(B)));
      registry.replace("test", List.of());
      assertThat(seen).hasSize(2);
      assertThat(fleet.view().topology().workers()).isEmpty();
    }
  }

  @Test
  void aClosedFleetStandsStill() {
    registry.add(spec(A));
    Fleet fleet = new Fleet(registry, gone::add);
    fleet.close();
    registry.add(spec(B));
    assertThat(fleet.view().topology().workers()).hasSize(1);
  }
}
