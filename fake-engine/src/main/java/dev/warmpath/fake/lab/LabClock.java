package dev.warmpath.fake.lab;

import dev.warmpath.fake.virtual.EventKind;
import dev.warmpath.fake.virtual.VirtualTime;
import dev.warmpath.fake.virtual.VirtualTimer;
import dev.warmpath.worker.Scheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * Virtual time as a router client sees it: its clock, its timers, and its waits. Timers run on the
 * clock's thread, waits block a thread of {@link Turns}.
 */
final class LabClock implements Scheduler {
  /** Virtual time starts here, so that a reading of 0 is never mistaken for "not yet". */
  private static final long ORIGIN_NANOS = 1_000_000_000L;

  private final VirtualTime time;
  private final Turns turns;
  private final List<LatchWait> latchWaits = new ArrayList<>();

  LabClock(VirtualTime time, Turns turns) {
    this.time = time;
    this.turns = turns;
  }

  private final class LatchWait {
    private final CountDownLatch latch;
    private final Turns.Turn turn = turns.current();
    private @Nullable VirtualTimer timeout;
    private boolean resumed;

    LatchWait(CountDownLatch latch) {
      this.latch = latch;
    }

    void resume() {
      if (!resumed) {
        resumed = true;
        turns.resume(turn);
      }
    }
  }

  @Override
  public long nanoTime() {
    return ORIGIN_NANOS + time.nanoTime();
  }

  /** The virtual milliseconds of a reading of {@link #nanoTime()}. */
  static double millis(long nanos) {
    return (nanos - ORIGIN_NANOS) / 1e6;
  }

  @Override
  public Task schedule(Duration delay, Runnable task) {
    VirtualTimer timer =
        time.schedule(time.nowMs() + Math.max(0, delay.toNanos()) / 1e6, EventKind.ARRIVAL, task);
    return timer::cancel;
  }

  @Override
  public boolean await(CountDownLatch latch, long nanos) {
    if (latch.getCount() == 0) {
      return true;
    }
    LatchWait wait = new LatchWait(latch);
    wait.timeout =
        time.schedule(time.nowMs() + Math.max(0, nanos) / 1e6, EventKind.ARRIVAL, wait::resume);
    latchWaits.add(wait);
    turns.park(wait.turn);
    latchWaits.remove(wait);
    wait.timeout.cancel();
    return latch.getCount() == 0;
  }

  /** Runs a task on a turn of its own, as soon as possible. From the clock's thread or a turn. */
  void startTurn(Runnable task) {
    time.schedule(time.nowMs(), EventKind.ARRIVAL, () -> turns.start(task));
  }

  /** Blocks the calling turn until a time. */
  void sleepUntil(double atMs) {
    Turns.Turn turn = turns.current();
    time.schedule(atMs, EventKind.ARRIVAL, () -> turns.resume(turn));
    turns.park(turn);
  }

  /** Wakes who waits for a latch that is down by now; called after every event. */
  void wakeLatchWaits() {
    for (int i = 0; i < latchWaits.size(); i++) {
      LatchWait wait = latchWaits.get(i);
      if (wait.latch.getCount() == 0 && !wait.resumed) {
        wait.resumed = true;
        time.schedule(time.nowMs(), EventKind.COMMAND, () -> turns.resume(wait.turn));
      }
    }
  }

  /** Nothing to free: the queue of events goes with the run. */
  @Override
  public void close() {}
}
