package dev.warmpath.examples;

import dev.warmpath.fake.load.LoadResult;
import dev.warmpath.fake.load.LoadResult.Slice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * Results as one self-contained HTML file: no script, no network, readable on a phone and in the
 * dark.
 */
final class HtmlReport {
  /** What one throughput may be of another and say nothing. */
  private static final double ALIKE = 1.15;

  private HtmlReport() {}

  /** Fails before long work rather than after it. */
  static void requireWritable(Path file) {
    Path folder = file.toAbsolutePath().getParent();
    if (folder == null
        || !Files.isDirectory(folder)
        || !Files.isWritable(folder)
        || Files.isDirectory(file)) {
      throw CommandFailure.usage("report '" + file + "' can't be written");
    }
  }

  static void write(Path file, String title, String command, List<LoadResult> results)
      throws IOException {
    StringBuilder html = new StringBuilder();
    HtmlPage.open(html, title);
    html.append("<p class=\"lead\">").append(lead(results)).append("</p>");
    table(html, results);
    html.append("<div class=\"charts\">");
    bars(
        html,
        "Throughput",
        "requests per second; longer is better",
        results,
        LoadResult::requestsPerSecond,
        "%.1f");
    bars(
        html,
        "Cache hit rate",
        "share of prompt tokens found in a cache; longer is better",
        results,
        r -> 100 * r.hitRate(),
        "%.1f %%");
    bars(
        html,
        "Time to first token, median",
        "milliseconds; shorter is better",
        results,
        r -> r.ttft().p50(),
        "%.0f ms");
    bars(
        html,
        "Time to first token, 99th percentile",
        "milliseconds; shorter is better",
        results,
        r -> r.ttft().p99(),
        "%.0f ms");
    lines(html, "Completed requests over time", "requests per second", results, HtmlReport::rate);
    lines(
        html,
        "Cache hit rate over time",
        "percent",
        results,
        (slice, width) -> slice.completed() == 0 ? Double.NaN : 100 * slice.hitRate());
    workers(html, results);
    html.append("</div><p class=\"note\">Made by <code>warmpath ")
        .append(Charts.escape(command))
        .append(
            "</code>. Times include the client. Fake engines follow a timing model: they compare"
                + " policies, they do not predict a GPU.</p>");
    HtmlPage.close(html);
    Files.writeString(file, html);
  }

  /** What the comparison comes to. Throughputs that are nearly the same differ by chance. */
  static String lead(List<LoadResult> results) {
    LoadResult most = most(results, LoadResult::requestsPerSecond);
    LoadResult least = most(results, result -> -result.requestsPerSecond());
    if (results.size() == 1) {
      return String.format(
          Locale.ROOT, "%s served %.1f requests a second.", name(most), most.requestsPerSecond());
    }
    if (most.requestsPerSecond() < ALIKE * least.requestsPerSecond()) {
      LoadResult warmest = most(results, LoadResult::hitRate);
      LoadResult coldest = most(results, result -> -result.hitRate());
      return String.format(
          Locale.ROOT,
          "All served about %.0f requests a second. %s found %.0f %% of prompt tokens in a cache,"
              + " %s %.0f %%.",
          most.requestsPerSecond(),
          name(warmest),
          100 * warmest.hitRate(),
          name(coldest),
          100 * coldest.hitRate());
    }
    return String.format(
        Locale.ROOT,
        "%s served %.2f times the requests of %s: it found %.0f %% of prompt tokens"
            + " in a cache, the other %.0f %%.",
        name(most),
        most.requestsPerSecond() / least.requestsPerSecond(),
        name(least),
        100 * most.hitRate(),
        100 * least.hitRate());
  }

  private static LoadResult most(List<LoadResult> results, ToDoubleFunction<LoadResult> of) {
    return Collections.max(results, Comparator.comparingDouble(of));
  }

  private static String name(LoadResult result) {
    return "<b>" + Charts.escape(result.policy()) + "</b>";
  }

  private static void table(StringBuilder html, List<LoadResult> results) {
    HtmlPage.openTable(
        html,
        List.of(
            "policy",
            "requests",
            "failed",
            "req/s",
            "TTFT p50",
            "TTFT p90",
            "TTFT p99",
            "E2E p50",
            "E2E p99",
            "hit rate",
            "load CoV"));
    for (int i = 0; i < results.size(); i++) {
      LoadResult r = results.get(i);
      html.append("<tr><th><i style=\"background:")
          .append(Charts.colour(i))
          .append("\"></i>")
          .append(Charts.escape(r.policy()))
          .append("</th>");
      cells(
          html,
          Long.toString(r.requests()),
          Long.toString(r.failed()),
          Charts.format("%.1f", r.requestsPerSecond()),
          millis(r.ttft().p50()),
          millis(r.ttft().p90()),
          millis(r.ttft().p99()),
          millis(r.endToEnd().p50()),
          millis(r.endToEnd().p99()),
          Charts.format("%.1f %%", 100 * r.hitRate()),
          Comparison.loadCov(r));
      html.append("</tr>");
    }
    HtmlPage.closeTable(html);
  }

  static void cells(StringBuilder html, String... cells) {
    for (String cell : cells) {
      html.append("<td>").append(cell).append("</td>");
    }
  }

  /** A value of one slice of the run. */
  private interface SliceValue {
    double of(Slice slice, double widthSeconds);
  }

  private static double rate(Slice slice, double widthSeconds) {
    return slice.completed() / widthSeconds;
  }

  private static void lines(
      StringBuilder html, String title, String unit, List<LoadResult> results, SliceValue value) {
    List<Charts.Series> all = new ArrayList<>();
    for (int i = 0; i < results.size(); i++) {
      LoadResult result = results.get(i);
      List<Slice> slices = result.timeline();
      all.add(
          new Charts.Series(
              result.policy(),
              i,
              slices.stream().mapToDouble(Slice::endSeconds).toArray(),
              slices.stream().mapToDouble(slice -> value.of(slice, width(result))).toArray()));
    }
    Charts.lines(html, title, unit, "s", all, false, true);
  }

  private static void bars(
      StringBuilder html,
      String title,
      String unit,
      List<LoadResult> results,
      ToDoubleFunction<LoadResult> value,
      String format) {
    List<Charts.Bar> bars = new ArrayList<>();
    for (int i = 0; i < results.size(); i++) {
      bars.add(new Charts.Bar(results.get(i).policy(), i, value.applyAsDouble(results.get(i))));
    }
    Charts.bars(html, title, unit, bars, format);
  }

  private static double width(LoadResult result) {
    return result.seconds() / Math.max(1, result.timeline().size());
  }

  /** Prefill workers, then those that answer. */
  private static Map<String, Long> byWorker(LoadResult result) {
    Map<String, Long> all = new LinkedHashMap<>(result.perPrefillWorker());
    all.putAll(result.perWorker());
    return all;
  }

  private static void workers(StringBuilder html, List<LoadResult> results) {
    int row = 22;
    int rows = results.stream().mapToInt(r -> byWorker(r).size() + 1).sum();
    double max =
        results.stream()
            .flatMap(r -> byWorker(r).values().stream())
            .mapToLong(n -> n)
            .max()
            .orElse(0);
    if (max <= 0 || rows > 200) {
      return;
    }
    Charts.figure(html, "Requests by worker", "even bars are an even load");
    html.append(Charts.svg(rows * row + 4));
    int y = 0;
    for (int i = 0; i < results.size(); i++) {
      html.append(
          Charts.format(
              "<text x=\"0\" y=\"%d\">%s</text>", y + 14, Charts.escape(results.get(i).policy())));
      y += row;
      for (Map.Entry<String, Long> worker : byWorker(results.get(i)).entrySet()) {
        String name = worker.getKey().replaceFirst("^[a-z]+://", "");
        html.append(
                Charts.format(
                    "<text x=\"0\" y=\"%d\" class=\"axis\">%s</text>", y + 13, Charts.escape(name)))
            .append(
                Charts.format(
                    "<rect x=\"130\" y=\"%d\" width=\"%.1f\" height=\"12\" rx=\"3\" fill=\"%s\"/>",
                    y + 3, Math.max(1, 230 * worker.getValue() / max), Charts.colour(i)))
            .append(
                Charts.format(
                    "<text x=\"%.1f\" y=\"%d\" class=\"value\">%d</text>",
                    136 + 230 * worker.getValue() / max, y + 13, worker.getValue()));
        y += row;
      }
    }
    html.append("</svg></figure>");
  }

  static String millis(double millis) {
    return millis == 0 ? "–" : Charts.format("%.0f ms", millis);
  }
}
