package dev.warmpath.fake.internal.surface;

import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/** A distribution of seconds, in the buckets that a Prometheus histogram shows. Thread-safe. */
final class Histogram {
  private final double[] bounds;

  /** Values up to each bound and above the one before; the last one counts what is above all. */
  private final LongAdder[] counts;

  private final DoubleAdder sum = new DoubleAdder();

  Histogram(double... bounds) {
    this.bounds = bounds.clone();
    this.counts = new LongAdder[bounds.length + 1];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = new LongAdder();
    }
  }

  void add(double seconds, int times) {
    int at = 0;
    while (at < bounds.length && seconds > bounds[at]) {
      at++;
    }
    counts[at].add(times);
    sum.add(seconds * times);
  }

  int buckets() {
    return bounds.length;
  }

  double bound(int bucket) {
    return bounds[bucket];
  }

  long count(int bucket) {
    return counts[bucket].sum();
  }

  double sum() {
    return sum.sum();
  }
}
