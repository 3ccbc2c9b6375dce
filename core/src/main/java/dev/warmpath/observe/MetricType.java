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

  /** The name in Prometheus's text format. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
