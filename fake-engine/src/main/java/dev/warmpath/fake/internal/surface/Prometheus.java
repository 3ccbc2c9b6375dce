package dev.warmpath.fake.internal.surface;

import java.util.HashSet;
import java.util.Set;

/** Text exposition, one series at a time. */
final class Prometheus {
  static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final StringBuilder text = new StringBuilder(2048);
  private final Set<String> declared = new HashSet<>();

  void gauge(String name, String labels, double value) {
    sample("gauge", name, labels, Double.toString(value));
  }

  void gauge(String name, String labels, long value) {
    sample("gauge", name, labels, Long.toString(value));
  }

  /** A counter, whose name ends in {@code _total}. */
  void counter(String name, String labels, long value) {
    sample("counter", name, labels, Long.toString(value));
  }

  /** A histogram of seconds. */
  void histogram(String name, String labels, Histogram histogram) {
    if (declared.add(name)) {
      text.append("# TYPE ").append(name).append(" histogram\n");
    }
    long below = 0;
    for (int i = 0; i <= histogram.buckets(); i++) {
      below += histogram.count(i);
      String bound = i == histogram.buckets() ? "+Inf" : Double.toString(histogram.bound(i));
      line(name + "_bucket", labels + "," + labels("le", bound), Long.toString(below));
    }
    line(name + "_sum", labels, Double.toString(histogram.sum()));
    line(name + "_count", labels, Long.toString(below));
  }

  private void sample(String type, String name, String labels, String value) {
    if (declared.add(name)) {
      text.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    }
    line(name, labels, value);
  }

  private void line(String name, String labels, String value) {
    text.append(name);
    if (!labels.isEmpty()) {
      text.append('{').append(labels).append('}');
    }
    text.append(' ').append(value).append('\n');
  }

  /** Formats labels from names and values in turn. */
  static String labels(Object... namesAndValues) {
    StringBuilder labels = new StringBuilder();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      if (i > 0) {
        labels.append(',');
      }
      String value = String.valueOf(namesAndValues[i + 1]);
      labels
          .append(namesAndValues[i])
          .append("=\"")
          .append(value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n"))
          .append('"');
    }
    return labels.toString();
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
