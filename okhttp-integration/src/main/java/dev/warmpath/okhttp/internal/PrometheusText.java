package dev.warmpath.okhttp.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * Reads the Prometheus text exposition format 0.0.4 (OpenMetrics' differences do no harm): one
 * sample per line, labels in braces with {@code \\}, {@code \"} and {@code \n} escaped, an optional
 * timestamp, comments after a hash sign. A line that is not understood is passed over: one odd
 * metric must not hide the others.
 */
final class PrometheusText {
  private PrometheusText() {}

  /**
   * One sample.
   *
   * @param name the metric's name
   * @param labels its labels
   * @param value its value
   */
  record Sample(String name, Map<String, String> labels, double value) {
    String label(String key) {
      return labels.getOrDefault(key, "");
    }
  }

  /** The samples whose name passes, in their order. */
  static List<Sample> read(String text, Predicate<String> names) {
    List<Sample> samples = new ArrayList<>();
    int at = 0;
    while (at < text.length()) {
      int end = text.indexOf('\n', at);
      end = end < 0 ? text.length() : end;
      Sample sample = line(text, at, end, names);
      if (sample != null) {
        samples.add(sample);
      }
      at = end + 1;
    }
    return samples;
  }

  private static @org.jspecify.annotations.Nullable Sample line(
      String text, int from, int end, Predicate<String> names) {
    int at = skipBlanks(text, from, end);
    int nameEnd = at;
    while (nameEnd < end && text.charAt(nameEnd) > ' ' && text.charAt(nameEnd) != '{') {
      nameEnd++;
    }
    if (nameEnd == at || text.charAt(at) == '#') {
      return null;
    }
    String name = text.substring(at, nameEnd);
    if (!names.test(name)) {
      return null;
    }
    Map<String, String> labels = Map.of();
    at = skipBlanks(text, nameEnd, end);
    if (at < end && text.charAt(at) == '{') {
      labels = new LinkedHashMap<>();
      at = labels(text, at + 1, end, labels);
      if (at < 0) {
        return null;
      }
    }
    at = skipBlanks(text, at, end);
    int valueEnd = at;
    while (valueEnd < end && text.charAt(valueEnd) > ' ') {
      valueEnd++;
    }
    try {
      return new Sample(name, labels, number(text.substring(at, valueEnd)));
    } catch (NumberFormatException e) {
      return null;
    }
  }

  /** Reads labels up to the closing brace; the place after it, or -1 when they are malformed. */
  private static int labels(String text, int from, int end, Map<String, String> labels) {
    int at = from;
    while (true) {
      at = skipBlanks(text, at, end);
      if (at < end && text.charAt(at) == '}') {
        return at + 1;
      }
      int eq = text.indexOf('=', at);
      if (eq < 0 || eq + 1 >= end || text.charAt(eq + 1) != '"') {
        return -1;
      }
      String key = text.substring(at, eq).trim();
      StringBuilder value = new StringBuilder();
      at = eq + 2;
      while (at < end && text.charAt(at) != '"') {
        char c = text.charAt(at++);
        if (c == '\\' && at < end) {
          char escaped = text.charAt(at++);
          c = escaped == 'n' ? '\n' : escaped;
        }
        value.append(c);
      }
      if (at >= end) {
        return -1;
      }
      labels.put(key, value.toString());
      at = skipBlanks(text, at + 1, end);
      if (at < end && text.charAt(at) == ',') {
        at++;
      }
    }
  }

  private static int skipBlanks(String text, int from, int end) {
    int at = from;
    while (at < end
        && (text.charAt(at) == ' ' || text.charAt(at) == '\t' || text.charAt(at) == '\r')) {
      at++;
    }
    return at;
  }

  private static double number(String text) {
    return switch (text) {
      case "+Inf", "Inf" -> Double.POSITIVE_INFINITY;
      case "-Inf" -> Double.NEGATIVE_INFINITY;
      case "NaN", "Nan" -> Double.NaN;
      default -> Double.parseDouble(text);
    };
  }
}
