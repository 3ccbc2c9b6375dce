package dev.warmpath.fake.live;

import java.time.Instant;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Parks for the bulk of a wait, and may spin at its end. */
record SystemEngineClock(long spinNanos) implements EngineClock {
  static final SystemEngineClock PARKING = new SystemEngineClock(0);

  @Override
  public Instant instant() {
    return Instant.now();
  }

  @Override
  public long nanoTime() {
    return System.nanoTime();
  }

  @Override
  public void awaitNanos(long deadlineNanos, BooleanSupplier woken) {
    while (!woken.getAsBoolean() && !Thread.currentThread().isInterrupted()) {
      if (deadlineNanos == Long.MAX_VALUE) {
        LockSupport.park(this);
        continue;
      }
      long left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        return;
      }
      if (left > spinNanos) {
        LockSupport.parkNanos(this, left - spinNanos);
      } else {
        Thread.onSpinWait();
      }
    }
  }
}
