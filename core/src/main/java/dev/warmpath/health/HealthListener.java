package dev.warmpath.health;

import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRank;

/**
 * Hears of changes in what is believed of workers. Calls come one at a time, in order, on the
 * health monitor's thread: they must be short and must not block. What a listener throws is logged
 * and goes no further.
 */
public interface HealthListener {
  /** A worker's availability changed. */
  default void onAvailability(AvailabilityChange change) {}

  /**
   * A rank that answers is to be used less than before, or again more, for other reasons than
   * before.
   */
  default void onDegradation(DegradationChange change) {}

  /**
   * A change of what is wrong with a rank.
   *
   * @param rank the rank
   * @param before what was wrong
   * @param after what is wrong now
   * @param nowNanos the ticker's time of the change
   */
  record DegradationChange(WorkerRank rank, Degradation before, Degradation after, long nowNanos) {}

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
