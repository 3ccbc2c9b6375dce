package dev.warmpath.health;

import dev.warmpath.worker.Topology;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Owns the live state of every rank and keeps it beside the registry's topology: a rank keeps its
 * state across snapshots, a new incarnation starts with a fresh one.
 */
public final class Fleet implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Fleet.class);

  private final WorkerRegistry registry;
  private final WorkerRegistry.Listener listener = this::onChange;
  private final Consumer<WorkerRank> onGone;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private volatile FleetView view = FleetView.EMPTY;

  /**
   * Follows {@code registry} until closed.
   *
   * @param onGone called for each rank that left the topology, on the thread that changed it
   */
  public Fleet(WorkerRegistry registry, Consumer<WorkerRank> onGone) {
    this.registry = registry;
    this.onGone = onGone;
    registry.subscribe(listener);
  }

  /** The latest pairing. Never blocks. */
  public FleetView view() {
    return view;
  }

  /**
   * Waits until there is a worker.
   *
   * @return the view once there is one, or the latest after {@code atMost} or an interrupt, which
   *     stays pending
   */
  public FleetView awaitWorkers(Duration atMost) {
    long left = atMost.toNanos();
    lock.lock();
    try {
      while (view.topology().workers().isEmpty() && left > 0) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
    return view;
  }

  private void onChange(Topology before, Topology after) {
    FleetView old = view;
    RankState[] states = new RankState[after.slotCount()];
    for (WorkerRank rank : after.ranks()) {
      RankState known = old.find(rank);
      // The topology's rank object is newer than the state's; both name the same incarnation and
      // rank.
      states[rank.slot()] = known != null ? known : new RankState(rank);
    }
    FleetView next = new FleetView(after, states);
    lock.lock();
    try {
      view = next;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    for (WorkerRank rank : old.topology().ranks()) {
      if (next.find(rank) == null) {
        gone(rank);
      }
    }
  }

  private void gone(WorkerRank rank) {
    try {
      onGone.accept(rank);
    } catch (RuntimeException e) {
      log.warn("What follows the ranks failed to let go of {}", rank, e);
    }
  }

  /** Stops following the registry. */
  @Override
  public void close() {
    registry.unsubscribe(listener);
  }
}
