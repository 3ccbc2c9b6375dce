package dev.warmpath.dispatch;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Admits requests while there is room and queues the rest: three lanes by priority (above, at and
 * below 0), first come first served within one. Lock-free; a queue stands only where waiting is
 * real. Whoever gives room back wakes the next.
 *
 * <p>How many may wait is each newcomer's to say: those that wait already stay when fewer may.
 */
final class Admission {
  private final IntSupplier limit;
  private final AtomicInteger admitted = new AtomicInteger();
  private final AtomicInteger waiting = new AtomicInteger();
  private final Queue<Waiter> high = new ConcurrentLinkedQueue<>();
  private final Queue<Waiter> normal = new ConcurrentLinkedQueue<>();
  private final Queue<Waiter> low = new ConcurrentLinkedQueue<>();

  /**
   * Creates an admission with nobody in it.
   *
   * @param limit requests admitted at once; read at each admission, it may change
   */
  Admission(IntSupplier limit) {
    this.limit = limit;
  }

  /** Requests admitted and not yet released. */
  int admitted() {
    return admitted.get();
  }

  /** Requests that wait. */
  int waiting() {
    return waiting.get();
  }

  /**
   * Admits at once if there is room and nobody waits; the caller then owes a {@link #release()}.
   */
  boolean tryAdmit() {
    return waiting.get() == 0 && takeRoom();
  }

  /**
   * Waits for room.
   *
   * @param queueSize how many may wait, this one included
   * @param onAdmitted run once, on the thread that makes room (this one, if there is room), when
   *     admitted; the caller then owes a {@link #release()}
   * @return the place in the queue, or null when the queue is full
   */
  @Nullable Waiter enqueue(int priority, int queueSize, Runnable onAdmitted) {
    if (waiting.incrementAndGet() > queueSize) {
      waiting.decrementAndGet();
      return null;
    }
    Queue<Waiter> lane = priority > 0 ? high : priority == 0 ? normal : low;
    Waiter waiter = new Waiter(lane, onAdmitted);
    lane.add(waiter);
    admitWaiters();
    return waiter;
  }

  /** Gives room back: once per admission. */
  void release() {
    admitted.decrementAndGet();
    admitWaiters();
  }

  /** Admits waiters while there is room; also called when the limit grew. */
  void admitWaiters() {
    while (waiting.get() > 0 && takeRoom()) {
      Waiter next = poll();
      if (next == null) {
        admitted.decrementAndGet();
        if (waiting.get() == 0 || admitted.get() >= limit.getAsInt() || allEmpty()) {
          return;
        }
      } else if (next.settle()) {
        waiting.decrementAndGet();
        next.onAdmitted.run();
      } else {
        admitted.decrementAndGet();
      }
    }
  }

  private boolean allEmpty() {
    return high.isEmpty() && normal.isEmpty() && low.isEmpty();
  }

  private @Nullable Waiter poll() {
    Waiter next = high.poll();
    if (next == null) {
      next = normal.poll();
    }
    return next == null ? low.poll() : next;
  }

  private boolean takeRoom() {
    while (true) {
      int now = admitted.get();
      if (now >= limit.getAsInt()) {
        return false;
      }
      if (admitted.compareAndSet(now, now + 1)) {
        return true;
      }
    }
  }

  /** A place in the queue. */
  final class Waiter {
    private final Queue<Waiter> lane;
    private final Runnable onAdmitted;
    private final AtomicBoolean settled = new AtomicBoolean();

    private Waiter(Queue<Waiter> lane, Runnable onAdmitted) {
      this.lane = lane;
      this.onAdmitted = onAdmitted;
    }

    private boolean settle() {
      return settled.compareAndSet(false, true);
    }

    /**
     * Gives up waiting.
     *
     * @return false when admission came first: the caller then owes a release
     */
    boolean abandon() {
      if (settle()) {
        waiting.decrementAndGet();
        boolean unused = lane.remove(this); // who waits longest gives up first: it stands in front
        return true;
      }
      return false;
    }
  }
}
