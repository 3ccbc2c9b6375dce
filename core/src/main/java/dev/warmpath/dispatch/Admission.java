package dev.warmpath.dispatch;

import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;
import org.jctools.queues.atomic.MpmcAtomicArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * Admits requests while there is room and queues the rest: three lanes by priority (above, at and
 * below 0), first come first served within one. Lock-free; a queue stands only where waiting is
 * real. Whoever gives room back wakes the next.
 *
 * <p>A waiter that gives up is dropped when its turn comes. Until then its cell stays taken, so
 * when nothing is admitted at all for long, new requests may be refused a little before {@code
 * queueSize} live ones wait.
 */
final class Admission {
  private final IntSupplier limit;
  private final int queueSize;
  private final AtomicInteger admitted = new AtomicInteger();
  private final AtomicInteger waiting = new AtomicInteger();
  private final Queue<Waiter> high;
  private final Queue<Waiter> normal;
  private final Queue<Waiter> low;

  /**
   * Creates an admission with nobody in it.
   *
   * @param limit requests admitted at once; read at each admission, it may change
   */
  Admission(IntSupplier limit, int queueSize) {
    this.limit = limit;
    this.queueSize = queueSize;
    int cells = Math.max(2, queueSize);
    this.high = new MpmcAtomicArrayQueue<>(cells);
    this.normal = new MpmcAtomicArrayQueue<>(cells);
    this.low = new MpmcAtomicArrayQueue<>(cells);
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
   * @param onAdmitted run once, on the thread that makes room (this one, if there is room), when
   *     admitted; the caller then owes a {@link #release()}
   * @return the place in the queue, or null when the queue is full
   */
  @Nullable Waiter enqueue(int priority, Runnable onAdmitted) {
    if (waiting.incrementAndGet() > queueSize) {
      waiting.decrementAndGet();
      return null;
    }
    Waiter waiter = new Waiter(onAdmitted);
    Queue<Waiter> lane = priority > 0 ? high : priority == 0 ? normal : low;
    if (!lane.offer(waiter)) {
      waiting.decrementAndGet();
      return null;
    }
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
    private final Runnable onAdmitted;
    private final AtomicBoolean settled = new AtomicBoolean();

    private Waiter(Runnable onAdmitted) {
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
        return true;
      }
      return false;
    }
  }
}
