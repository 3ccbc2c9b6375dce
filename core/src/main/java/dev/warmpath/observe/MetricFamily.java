package dev.warmpath.observe;

import java.util.List;
import java.util.Map;

/**
 * A metric with all of its series at one moment.
 *
 * @param name as Prometheus names metrics: {@code warmpath_}, the thing, the base unit, and {@code
 *     _total} for counters
 * @param help one sentence
 * @param type what it is
 * @param samples its series; may be empty
 */
public record MetricFamily(String name, String help, MetricType type, List<MetricSample> samples) {

  /** Refuses names that aren't lower-case words, and copies the samples. */
  public MetricFamily {
    if (!isName(name)) {
      throw new IllegalArgumentException("'" + name + "' is no metric's name");
    }
    samples = List.copyOf(samples);
  }

  /** Looked at by hand: a scrape makes dozens of families. */
  private static boolean isName(String name) {
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      boolean letter = c >= 'a' && c <= 'z';
      if (!letter && (i == 0 || (c != '_' && (c < '0' || c > '9')))) {
        return false;
      }
    }
    return !name.isEmpty();
  }

  /** A gauge with one series and no label. */
  public static MetricFamily gauge(String name, String help, double value) {
    return new MetricFamily(
        name, help, MetricType.GAUGE, List.of(MetricSample.of(value, Map.of())));
  }

  /** A counter with one series and no label. */
  public static MetricFamily counter(String name, String help, double value) {
    return new MetricFamily(
        name, help, MetricType.COUNTER, List.of(MetricSample.of(value, Map.of())));
  }
}
