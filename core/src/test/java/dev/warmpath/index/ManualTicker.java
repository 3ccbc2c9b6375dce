package dev.warmpath.index;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** A clock that stands still until it is moved. */
final class ManualTicker implements LongSupplier {
  /** The resolution of the tree's clock. */
  static final Duration TICK = Duration.ofNanos(1 << 26);

  private final AtomicLong nanos = new AtomicLong(1_000);

  void advance(Duration by) {
    nanos.addAndGet(by.toNanos());
  }

  @Override
  public long getAsLong() {
    return nanos.get();
  }
}
