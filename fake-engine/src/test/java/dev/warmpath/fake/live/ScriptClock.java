package dev.warmpath.fake.live;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A fake clock that carries out a script. It moves when the one rank that lives by it waits: to the
 * next action of the script or to what the rank waits for, whichever comes first. Actions at the
 * instant at which a pass ends happen after its end and before the next one begins.
 */
public final class ScriptClock implements EngineClock {

  /**
   * Something that happens to the rank.
   *
   * @param atNanos when
   * @param order which of those at the same time comes first
   * @param run what
   */
  public record Action(long atNanos, int order, Runnable run) {}

  private final PriorityQueue<Action> script =
      new PriorityQueue<>(
          Comparator.comparingLong(Action::atNanos).thenComparingInt(Action::order));
  private final CountDownLatch begin = new CountDownLatch(1);
  private final CountDownLatch done = new CountDownLatch(1);
  private volatile long nanos;

  /** Gives the script, and lets time go on. */
  public void play(List<Action> actions) {
    script.addAll(actions);
    begin.countDown();
  }

  /** Waits until everything has happened and the rank waits for more. */
  public void awaitEnd() throws InterruptedException {
    done.await();
  }

  @Override
  public Instant instant() {
    return Instant.EPOCH.plusNanos(nanos);
  }

  @Override
  public long nanoTime() {
    return nanos;
  }

  @Override
  public void awaitNanos(long deadlineNanos, BooleanSupplier woken) {
    awaitBegin();
    if (deadlineNanos <= nanos) {
      perform();
      return;
    }
    while (!woken.getAsBoolean()) {
      Action next = script.peek();
      if (next != null && next.atNanos() < deadlineNanos) {
        nanos = Math.max(nanos, next.atNanos());
        perform();
      } else if (deadlineNanos < Long.MAX_VALUE) {
        nanos = deadlineNanos;
        return;
      } else {
        done.countDown();
        LockSupport.park(this);
      }
    }
  }

  private void awaitBegin() {
    try {
      begin.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Everything that is due. */
  private void perform() {
    while (!script.isEmpty() && script.peek().atNanos() <= nanos) {
      script.remove().run().run();
    }
  }
}
