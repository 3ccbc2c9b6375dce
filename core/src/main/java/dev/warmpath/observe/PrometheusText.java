package dev.warmpath.observe;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

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
      if (family.type() == MetricType.HISTOGRAM) {
        histogram(family.name(), sample);
      } else {
        line(family.name(), sample.labels(), null, sample.value());
      }
    }
  }

  private void histogram(String name, MetricSample sample) {
    MetricSample.Buckets buckets = sample.buckets();
    List<Double> bounds = buckets.upperBounds();
    for (int b = 0; b < bounds.size(); b++) {
      String bound = number(bounds.get(b));
      line(name + "_bucket", sample.labels(), bound, buckets.cumulative().get(b));
    }
    line(name + "_bucket", sample.labels(), "+Inf", (double) buckets.count());
    line(name + "_sum", sample.labels(), null, sample.value());
    line(name + "_count", sample.labels(), null, (double) buckets.count());
  }

  private void line(String name, Map<String, String> labels, @Nullable String bound, double value) {
    out.append(name);
    char separator = '{';
    for (Map.Entry<String, String> label : labels.entrySet()) {
      out.append(separator).append(label.getKey()).append("=\"");
      out.append(escaped(label.getValue(), true)).append('"');
      separator = ',';
    }
    if (bound != null) {
      out.append(separator).append("le=\"").append(bound).append('"');
      separator = ',';
    }
    if (separator == ',') {
      out.append('}');
    }
    out.append(' ').append(number(value)).append('\n');
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
