package dev.warmpath.observe;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One series of a metric at one moment. Immutable.
 *
 * @param labels label values by name, in the order in which they are shown; few and bounded:
 *     worker, rank, outcome and the like, never a prompt, a session, a user or a key
 * @param value the value of a counter or gauge; of a histogram the sum of what was recorded
 * @param buckets of a histogram; empty for counters and gauges
 */
public record MetricSample(Map<String, String> labels, double value, Buckets buckets) {

  /** Copies the labels. */
  public MetricSample {
    labels = Collections.unmodifiableMap(new LinkedHashMap<>(labels));
  }

  /** A count. */
  public static MetricSample of(long value, Map<String, String> labels) {
    return of((double) value, labels);
  }

  /** A counter's or gauge's value. */
  public static MetricSample of(double value, Map<String, String> labels) {
    return new MetricSample(labels, value, Buckets.NONE);
  }

  /**
   * A histogram's buckets.
   *
   * @param upperBounds inclusive, ascending; the last bucket, without bound, is not named
   * @param cumulative how many values were at most each bound, and at the end how many there were
   */
  public record Buckets(List<Double> upperBounds, List<Long> cumulative) {

    /** Of what is no histogram. */
    public static final Buckets NONE = new Buckets(List.of(), List.of());

    /** Copies the lists. */
    public Buckets {
      upperBounds = List.copyOf(upperBounds);
      cumulative = List.copyOf(cumulative);
      if (!cumulative.isEmpty() && cumulative.size() != upperBounds.size() + 1) {
        throw new IllegalArgumentException(
            cumulative.size() + " counts don't fit " + upperBounds.size() + " bounds");
      }
    }

    static Buckets of(double[] upperBounds, long[] cumulative) {
      return new Buckets(
          Arrays.stream(upperBounds).boxed().toList(), Arrays.stream(cumulative).boxed().toList());
    }

    /** How many values were recorded. */
    public long count() {
      return cumulative.isEmpty() ? 0 : cumulative.get(cumulative.size() - 1);
    }
  }
}
