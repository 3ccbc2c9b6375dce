package dev.warmpath.fake.live;

import java.time.Duration;
import java.time.InstantSource;
import java.util.function.BooleanSupplier;

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
   * Blocks until {@link #nanoTime()} has reached a deadline or a condition holds. Whoever makes the
   * condition true unparks the waiting thread afterwards. Returns also, with its interrupt status
   * still set, when the calling thread is interrupted.
   *
   * @param deadlineNanos a value of {@link #nanoTime()}, or {@link Long#MAX_VALUE} to wait for the
   *     condition alone
   * @param woken the condition
   */
  void awaitNanos(long deadlineNanos, BooleanSupplier woken);

  /**
   * The machine's clocks. Waits end as late as the operating system's timers do, usually some tens
   * of microseconds after the deadline, and cost no CPU time.
   *
   * @return a shared clock
   */
  static EngineClock system() {
    return SystemEngineClock.PARKING;
  }

  /**
   * The machine's clocks, spinning at the end of a wait to make up for the timers' slack. Each rank
   * that computes burns a core for so long in every pass.
   *
   * @param spin how long before a deadline to stop parking; 50 microseconds cover a timer's slack
   * @return a clock whose waits end within about a microsecond on an idle core
   * @throws IllegalArgumentException if the time is negative or longer than a millisecond
   */
  static EngineClock system(Duration spin) {
    if (spin.isNegative() || spin.compareTo(Duration.ofMillis(1)) > 0) {
      throw new IllegalArgumentException("spin must be between 0 and 1 ms, was " + spin);
    }
    return new SystemEngineClock(spin.toNanos());
  }
}
