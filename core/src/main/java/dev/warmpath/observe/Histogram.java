package dev.warmpath.observe;

import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/** Counts seconds in fixed buckets. Thread safe without a lock; a value costs two additions. */
final class Histogram {

  private final double[] upperBounds;
  private final LongAdder[] counts;
  private final DoubleAdder sum = new DoubleAdder();

  Histogram(double... upperBounds) {
    this.upperBounds = upperBounds.clone();
    counts = new LongAdder[upperBounds.length + 1];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = new LongAdder();
    }
  }

  void record(double value) {
    int bucket = 0;
    while (bucket < upperBounds.length && value > upperBounds[bucket]) {
      bucket++;
    }
    counts[bucket].increment();
    sum.add(value);
  }

  double sum() {
    return sum.sum();
  }

  /** The buckets now; what is recorded meanwhile is in or not. */
  MetricSample.Buckets buckets() {
    long[] cumulative = new long[counts.length];
    long total = 0;
    for (int i = 0; i < counts.length; i++) {
      total += counts[i].sum();
      cumulative[i] = total;
    }
    return MetricSample.Buckets.of(upperBounds, cumulative);
  }
}
