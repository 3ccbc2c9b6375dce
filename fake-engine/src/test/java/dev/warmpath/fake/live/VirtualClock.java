package dev.warmpath.fake.live;

import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A clock that is always already there: waiting moves it. */
final class VirtualClock implements EngineClock {
  private final AtomicLong nanos = new AtomicLong();

  @Override
  public Instant instant() {
    return Instant.EPOCH.plusNanos(nanos.get());
  }

  @Override
  public long nanoTime() {
    return nanos.get();
  }

  @Override
  public void awaitNanos(long deadlineNanos, BooleanSupplier woken) {
    if (deadlineNanos < Long.MAX_VALUE) {
      nanos.accumulateAndGet(deadlineNanos, Math::max);
      return;
    }
    while (!woken.getAsBoolean()) {
      LockSupport.park(this);
    }
  }
}
