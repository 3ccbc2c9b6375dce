package dev.warmpath.health;

import dev.warmpath.worker.Topology;
import dev.warmpath.worker.WorkerRank;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A topology and the live state of each of its ranks: what a decision reads, through one volatile
 * read. The pairing is immutable; the states move on.
 */
public final class FleetView {
  /** No workers. */
  static final FleetView EMPTY = new FleetView(Topology.EMPTY, new RankState[0]);

  private final Topology topology;
  private final @Nullable RankState[] bySlot;

  FleetView(Topology topology, @Nullable RankState[] bySlot) {
    this.topology = topology;
    this.bySlot = bySlot;
  }

  /** The snapshot of who the workers are. */
  public Topology topology() {
    return topology;
  }

  /** The state of one of this topology's ranks. */
  public RankState state(WorkerRank rank) {
    return state(rank.slot());
  }

  /** The state of this topology's rank in that slot. */
  public RankState state(int slot) {
    return Objects.requireNonNull(bySlot[slot]);
  }

  /** The state of that rank of that incarnation, or null when this topology does not have it. */
  public @Nullable RankState find(WorkerRank rank) {
    RankState state = rank.slot() < bySlot.length ? bySlot[rank.slot()] : null;
    return state != null && state.target().holderId() == rank.holderId() ? state : null;
  }
}
