package dev.warmpath.observe;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts times in fixed buckets. Thread safe without a lock; a time costs two additions, side by
 * side in memory, because a request is counted in many histograms and finds them all out of the
 * processor's caches.
 */
final class Histogram {

  private static final double NANOS = 1e9;

  private final long[] upperNanos;

  /** The sum, then how many fell into each bucket, the one without bound at the end. */
  private final AtomicLongArray sumAndCounts;

  /**
   * Counts nothing yet.
   *
   * @param upperNanos the inclusive upper bounds in nanoseconds, ascending; shared by histograms
   *     and not changed
   */
  Histogram(long[] upperNanos) {
    this.upperNanos = upperNanos;
    sumAndCounts = new AtomicLongArray(upperNanos.length + 2);
  }

  /** Bounds that are given in seconds. */
  static long[] bounds(double... seconds) {
    return Arrays.stream(seconds).mapToLong(bound -> Math.round(bound * NANOS)).toArray();
  }

  void record(long nanos) {
    int bucket = 0;
    while (bucket < upperNanos.length && nanos > upperNanos[bucket]) {
      bucket++;
    }
    sumAndCounts.getAndAdd(0, nanos);
    sumAndCounts.getAndIncrement(bucket + 1);
  }

  /** In seconds. */
  double sum() {
    return sumAndCounts.get(0) / NANOS;
  }

  /** The buckets now, in seconds; what is recorded meanwhile is in or not. */
  MetricSample.Buckets buckets() {
    long[] cumulative = new long[upperNanos.length + 1];
    long total = 0;
    for (int i = 0; i < cumulative.length; i++) {
      total += sumAndCounts.get(i + 1);
      cumulative[i] = total;
    }
    return MetricSample.Buckets.of(
        Arrays.stream(upperNanos).mapToDouble(bound -> bound / NANOS).toArray(), cumulative);
  }
}
