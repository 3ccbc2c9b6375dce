package dev.warmpath.observe;

import java.util.Locale;

/** Kinds of metrics, as Prometheus has them. */
public enum MetricType {
  /** Only grows, from zero at the client's start. */
  COUNTER,
  /** Goes up and down. */
  GAUGE,
  /** Counts of values in buckets, with their sum. */
  HISTOGRAM;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** The name in Prometheus's text format. */
  public String label() {
    return label;
  }
}
