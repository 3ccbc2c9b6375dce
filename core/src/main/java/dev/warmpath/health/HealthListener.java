package dev.warmpath.health;

import dev.warmpath.worker.Worker;

/**
 * Hears of changes in what is believed of workers. Calls come one at a time, in order, on the
 * health monitor's thread: they must be short and must not block. What a listener throws is logged
 * and goes no further.
 */
public interface HealthListener {
  /** A worker's availability changed. */
  default void onAvailability(AvailabilityChange change) {}

  /**
   * One change.
   *
   * @param worker the worker, of which a rank may be believed better or worse than the rest
   * @param before what was believed
   * @param after what is believed now
   * @param reason in a few words, for people
   * @param nowNanos the ticker's time of the change
   */
  record AvailabilityChange(
      Worker worker, Availability before, Availability after, String reason, long nowNanos) {}
}
