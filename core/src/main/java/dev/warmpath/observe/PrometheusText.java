package dev.warmpath.observe;

import java.util.List;
import java.util.Map;

/**
 * Metrics in Prometheus's text format, version 0.0.4, for an application to serve under the content
 * type {@link #CONTENT_TYPE}.
 */
public final class PrometheusText {

  /** The format's content type. */
  public static final String CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

  private final StringBuilder out = new StringBuilder(4096);

  private PrometheusText() {}

  /** The text of metrics, in their order. */
  public static String of(List<MetricFamily> families) {
    PrometheusText text = new PrometheusText();
    families.forEach(text::family);
    return text.out.toString();
  }

  private void family(MetricFamily family) {
    if (family.samples().isEmpty()) {
      return;
    }
    out.append("# HELP ").append(family.name()).append(' ').append(escaped(family.help(), false));
    out.append("\n# TYPE ").append(family.name()).append(' ').append(family.type().label());
    out.append('\n');
    for (MetricSample sample : family.samples()) {
      String labels = labels(sample.labels());
      if (family.type() == MetricType.HISTOGRAM) {
        histogram(family.name(), labels, sample);
      } else {
        line(family.name(), "", labels, sample.value());
      }
    }
  }

  private void histogram(String name, String labels, MetricSample sample) {
    MetricSample.Buckets buckets = sample.buckets();
    List<Double> bounds = buckets.upperBounds();
    for (int b = 0; b < bounds.size(); b++) {
      bucket(name, labels, number(bounds.get(b)), buckets.cumulative().get(b));
    }
    bucket(name, labels, "+Inf", (double) buckets.count());
    line(name, "_sum", labels, sample.value());
    line(name, "_count", labels, (double) buckets.count());
  }

  private void bucket(String name, String labels, String bound, double value) {
    out.append(name).append("_bucket{").append(labels).append(labels.isEmpty() ? "" : ",");
    out.append("le=\"").append(bound).append("\"} ").append(number(value)).append('\n');
  }

  private void line(String name, String suffix, String labels, double value) {
    out.append(name).append(suffix);
    if (!labels.isEmpty()) {
      out.append('{').append(labels).append('}');
    }
    out.append(' ').append(number(value)).append('\n');
  }

  /** A sample's labels between its braces, made once for all lines of a histogram. */
  private static String labels(Map<String, String> labels) {
    StringBuilder text = new StringBuilder();
    labels.forEach(
        (label, value) ->
            text.append(text.isEmpty() ? "" : ",")
                .append(label)
                .append("=\"")
                .append(escaped(value, true))
                .append('"'));
    return text.toString();
  }

  private static String escaped(String text, boolean quoted) {
    String escaped = text.replace("\\", "\\\\").replace("\n", "\\n");
    return quoted ? escaped.replace("\"", "\\\"") : escaped;
  }

  private static String number(double value) {
    if (Double.isNaN(value)) {
      return "NaN";
    }
    if (Double.isInfinite(value)) {
      return value > 0 ? "+Inf" : "-Inf";
    }
    return value == Math.rint(value) && Math.abs(value) < 1e15
        ? Long.toString((long) value)
        : Double.toString(value);
  }
}
