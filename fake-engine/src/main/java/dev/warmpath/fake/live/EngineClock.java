package dev.warmpath.fake.live;

import java.time.InstantSource;

/**
 * The time a fake engine lives in: a monotonic clock for passes and a wall clock for timestamps.
 *
 * <p>Implementations are thread-safe.
 */
public interface EngineClock extends InstantSource {

  /**
   * Returns a monotonic time, comparable only with itself.
   *
   * @return nanoseconds
   */
  long nanoTime();

  /**
   * Blocks until {@link #nanoTime()} has reached a deadline, or the calling thread is interrupted
   * (its interrupt status stays set).
   *
   * @param deadlineNanos a value of {@link #nanoTime()}
   */
  void awaitNanos(long deadlineNanos);

  /**
   * The machine's clocks.
   *
   * @return a clock whose waits end within some tens of microseconds after their deadline
   */
  static EngineClock system() {
    return SystemEngineClock.INSTANCE;
  }
}
