package dev.warmpath.dispatch;

import dev.warmpath.health.FleetView;
import dev.warmpath.health.RankState;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRank;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Which workers may be sent to just now: a circuit breaker for each incarnation, and the moment
 * before which a busy worker asked not to be called. Policies see a worker whose breaker is open as
 * suspect.
 */
final class WorkerGates {
  private volatile BreakerSettings settings;
  private final ConcurrentHashMap<Long, Gate> byEpoch = new ConcurrentHashMap<>();

  /** The earliest moment at which an open breaker turns half open; nothing to do before it. */
  private final AtomicLong nextHalfOpenNanos = new AtomicLong(Long.MAX_VALUE);

  WorkerGates(BreakerSettings settings) {
    this.settings = settings;
  }

  Gate gate(Worker worker) {
    Gate known = byEpoch.get(worker.epoch());
    return known != null
        ? known
        : byEpoch.computeIfAbsent(worker.epoch(), unused -> new Gate(new CircuitBreaker(settings)));
  }

  /**
   * Goes by other settings from now on; breakers that are open stay so for as long as they were.
   */
  void change(BreakerSettings next) {
    if (!next.equals(settings)) {
      settings = next;
      byEpoch.values().forEach(gate -> gate.breaker.change(next));
    }
  }

  /** Forgets an incarnation that is gone. */
  void forget(Worker worker) {
    byEpoch.remove(worker.epoch());
  }

  /**
   * Lets traffic come back to workers whose breaker's time is up. One volatile read when there is
   * none.
   */
  void refresh(FleetView view, long now) {
    long due = nextHalfOpenNanos.get();
    if (due == Long.MAX_VALUE || now - due < 0) {
      return;
    }
    if (nextHalfOpenNanos.compareAndSet(due, Long.MAX_VALUE)) {
      for (Worker worker : view.topology().workers()) {
        Gate gate = byEpoch.get(worker.epoch());
        if (gate != null) {
          publish(view, worker, gate, now);
        }
      }
    }
  }

  /** Tells the policies where a worker's breaker stands. */
  void publish(FleetView view, Worker worker, Gate gate, long now) {
    boolean open = gate.breaker.state(now) == CircuitBreaker.State.OPEN;
    for (WorkerRank rank : worker.ranks()) {
      RankState state = view.find(rank);
      if (state != null) {
        state.suspect(open);
      }
    }
    if (open) {
      long until = gate.breaker.openUntilNanos();
      nextHalfOpenNanos.accumulateAndGet(until, Math::min);
    }
  }

  /** One incarnation's gate. */
  static final class Gate {
    private final CircuitBreaker breaker;
    private final AtomicLong notBeforeNanos = new AtomicLong(Long.MIN_VALUE);

    private Gate(CircuitBreaker breaker) {
      this.breaker = breaker;
    }

    /** Leave to send, or null when the breaker refuses. */
    CircuitBreaker.@Nullable Permit tryAcquire(long now) {
      return breaker.tryAcquire(now);
    }

    CircuitBreaker.Permit force(long now) {
      return breaker.force(now);
    }

    CircuitBreaker.State breakerState(long now) {
      return breaker.state(now);
    }

    /** The worker asked not to be called before {@code nanos}. */
    void busyUntil(long nanos) {
      notBeforeNanos.accumulateAndGet(nanos, Math::max);
    }

    /** How long it still wants to be left alone; 0 or less when it does not. */
    long busyForNanos(long now) {
      long until = notBeforeNanos.get();
      return until == Long.MIN_VALUE ? 0 : until - now;
    }
  }
}
