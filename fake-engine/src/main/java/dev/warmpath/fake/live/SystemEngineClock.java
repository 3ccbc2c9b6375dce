package dev.warmpath.fake.live;

import java.time.Instant;
import java.util.concurrent.locks.LockSupport;

/** Parks for the bulk of a wait and spins for less than a timer's slack at its end. */
enum SystemEngineClock implements EngineClock {
  INSTANCE;

  private static final long TIMER_SLACK_NANOS = 50_000;

  @Override
  public Instant instant() {
    return Instant.now();
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public void awaitNanos(long deadlineNanos) {
    while (!Thread.currentThread().isInterrupted()) {
      long left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        return;
      }
      if (left > TIMER_SLACK_NANOS) {
        LockSupport.parkNanos(this, left - TIMER_SLACK_NANOS);
      } else {
        Thread.onSpinWait();
      }
    }
  }
}
