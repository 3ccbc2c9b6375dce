package dev.warmpath.health;

import dev.warmpath.transport.RankLoad;

/**
 * Counts readings in which a rank's queue grew and its throughput did not. Those that follow the
 * last one that counted within a second are left out. Not thread safe.
 */
final class QueueGrowth {
  /** Growth that counts: of the queue at least so, of throughput less than so. */
  private static final double GROWTH = 0.05;

  /** Closer readings show how one long prompt is computed, rather than too many requests. */
  private static final long APART_NANOS = 1_000_000_000L;

  private long takenNanos;
  private double waiting = Double.NaN;
  private double throughput = Double.NaN;
  private double count;

  /**
   * Takes a reading.
   *
   * @param most where the count stops, so that it comes down again in as many readings
   * @param nowNanos when it was taken
   * @return readings that showed growth less those that showed the opposite, from 0 up; NaN where
   *     queue or throughput is unknown
   */
  double reading(RankLoad load, double most, long nowNanos) {
    double queued = load.waitingRequests();
    double generated = load.generationTokensPerSecond();
    if (Double.isNaN(queued) || Double.isNaN(generated)) {
      waiting = Double.NaN;
      count = 0;
      return Double.NaN;
    }
    if (queued == 0) {
      count = 0;
    }
    if (!Double.isNaN(waiting) && nowNanos - takenNanos < APART_NANOS) {
      return count;
    }
    takenNanos = nowNanos;
    if (queued >= waiting + Math.max(1, GROWTH * waiting)) {
      if (!(generated > throughput * (1 + GROWTH))) {
        count = Math.min(most, count + 1);
      }
    } else if (queued < waiting) {
      count = Math.max(0, count - 1);
    }
    waiting = queued;
    throughput = generated;
    return count;
  }
}
