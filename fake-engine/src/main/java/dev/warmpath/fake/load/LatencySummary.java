package dev.warmpath.fake.load;

import org.HdrHistogram.Histogram;

/**
 * A distribution of times, in milliseconds. All are 0 where nothing was measured.
 *
 * @param count how many times
 * @param mean their mean
 * @param p50 the median
 * @param p90 the 90th percentile
 * @param p99 the 99th percentile
 * @param max the longest
 */
public record LatencySummary(
    long count, double mean, double p50, double p90, double p99, double max) {

  /** Sums up a histogram of microseconds. */
  static LatencySummary of(Histogram micros) {
    if (micros.getTotalCount() == 0) {
      return new LatencySummary(0, 0, 0, 0, 0, 0);
    }
    return new LatencySummary(
        micros.getTotalCount(),
        micros.getMean() / 1e3,
        micros.getValueAtPercentile(50) / 1e3,
        micros.getValueAtPercentile(90) / 1e3,
        micros.getValueAtPercentile(99) / 1e3,
        micros.getMaxValue() / 1e3);
  }
}
