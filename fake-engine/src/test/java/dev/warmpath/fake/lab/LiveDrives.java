package dev.warmpath.fake.lab;

import dev.warmpath.fake.live.EngineClock;
import dev.warmpath.fake.live.RankDriver;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.live.RankSettings;
import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.virtual.VirtualRank;
import dev.warmpath.fake.virtual.VirtualTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Live ranks, each with its thread, on the clock of a run: a rank waits until the run's time has
 * come to its deadline or something was posted to it, and the run's time stands still until every
 * rank waits again.
 */
final class LiveDrives implements RankDrives {
  private final List<Clock> clocks = new ArrayList<>();

  /** One rank's view of the time. */
  private static final class Clock implements EngineClock {
    private final VirtualTime time;
    private volatile BooleanSupplier woken = () -> false;
    private volatile long deadline;
    private volatile Thread thread = Thread.currentThread();
    private volatile boolean waits;
    private volatile boolean ended;

    Clock(VirtualTime time) {
      this.time = time;
    }

    @Override
    public Instant instant() {
      return time.instant();
    }

    @Override
    public long nanoTime() {
      return nanos(time.nowMs());
    }

    @Override
    public void awaitNanos(long deadlineNanos, BooleanSupplier condition) {
      thread = Thread.currentThread();
      deadline = deadlineNanos;
      woken = condition;
      waits = true;
      while (waits && !ended) {
        LockSupport.park(this);
      }
    }

    boolean due() {
      return nanoTime() >= deadline || woken.getAsBoolean();
    }
  }

  /** A rank rounds its deadlines up to whole nanoseconds, and so must the time be that it sees. */
  private static long nanos(double millis) {
    return (long) Math.ceil(millis * 1e6);
  }

  @Override
  public Drive drive(VirtualTime time, RankSettings settings, EngineCore core) {
    Clock clock = new Clock(time);
    RankDriver rank = new RankDriver("lab-rank-" + clocks.size(), settings, core, clock);
    clocks.add(clock);
    awaitWaiting(clock);
    return new Drive() {
      @Override
      public void submit(EngineRequest request, RankListener listener) {
        rank.submit(request, listener);
      }

      @Override
      public void cancel(long requestId) {
        rank.cancel(requestId);
      }

      @Override
      public VirtualRank inVirtualTime() {
        throw new IllegalStateException("this rank is live");
      }

      @Override
      public RankSnapshot snapshot() {
        return rank.snapshot();
      }

      @Override
      public void close() {
        clock.ended = true;
        rank.close();
      }
    };
  }

  private static void awaitWaiting(Clock clock) {
    while (!clock.waits) {
      Thread.onSpinWait();
    }
  }

  @Override
  public boolean step(VirtualTime time) {
    if (time.nextEventMs() > time.nowMs() && letRanksRun()) {
      return true;
    }
    double next = time.nextEventMs();
    for (Clock clock : clocks) {
      if (clock.deadline < Long.MAX_VALUE) {
        next = Math.min(next, clock.deadline / 1e6);
      }
    }
    if (next == Double.POSITIVE_INFINITY) {
      return false;
    }
    if (next < time.nextEventMs()) {
      time.runUntil(Math.max(next, time.nowMs()));
      return true;
    }
    return time.step();
  }

  /** Whether a rank had something to do. */
  private boolean letRanksRun() {
    boolean any = false;
    for (Clock clock : clocks) {
      while (clock.due()) {
        any = true;
        Thread thread = clock.thread;
        clock.waits = false;
        LockSupport.unpark(thread);
        awaitWaiting(clock);
      }
    }
    return any;
  }
}
