package dev.warmpath.examples;

import dev.warmpath.fake.load.LoadResult;
import dev.warmpath.fake.load.LoadResult.Slice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * Results as one self-contained HTML file: no script, no network, readable on a phone and in the
 * dark.
 */
final class HtmlReport {
  private static final String[] COLOURS = {
    "#2563eb", "#d97706", "#059669", "#db2777", "#7c3aed", "#0891b2", "#65a30d", "#dc2626"
  };

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
    html.append("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">")
        .append("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">")
        .append("<title>")
        .append(escape(title))
        .append("</title><style>")
        .append(STYLE)
        .append("</style></head><body><main><h1>")
        .append(escape(title))
        .append("</h1>");
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
        .append(escape(command))
        .append(
            "</code>. Times include the client. Fake engines follow a timing model: they compare"
                + " policies, they do not predict a GPU.</p></main></body></html>\n");
    Files.writeString(file, html);
  }

  private static String lead(List<LoadResult> results) {
    LoadResult best = results.get(0);
    LoadResult worst = results.get(0);
    for (LoadResult result : results) {
      best = result.requestsPerSecond() > best.requestsPerSecond() ? result : best;
      worst = result.requestsPerSecond() < worst.requestsPerSecond() ? result : worst;
    }
    if (best.equals(worst)) {
      return String.format(
          Locale.ROOT,
          "%s served %.1f requests a second.",
          "<b>" + escape(best.policy()) + "</b>",
          best.requestsPerSecond());
    }
    return String.format(
        Locale.ROOT,
        "<b>%s</b> served %.2f times the requests of <b>%s</b>: it found %.0f %% of prompt tokens"
            + " in a cache, the other %.0f %%.",
        escape(best.policy()),
        best.requestsPerSecond() / worst.requestsPerSecond(),
        escape(worst.policy()),
        100 * best.hitRate(),
        100 * worst.hitRate());
  }

  private static void table(StringBuilder html, List<LoadResult> results) {
    html.append(
            "<div class=\"scroll\"><table><thead><tr><th>policy</th><th>requests</th><th>failed</th><th>req/s</th>")
        .append(
            "<th>TTFT p50</th><th>TTFT p90</th><th>TTFT p99</th><th>E2E p50</th><th>E2E"
                + " p99</th><th>hit rate</th><th>load CoV</th></tr></thead><tbody>");
    for (int i = 0; i < results.size(); i++) {
      LoadResult r = results.get(i);
      html.append("<tr><th><i style=\"background:")
          .append(colour(i))
          .append("\"></i>")
          .append(escape(r.policy()))
          .append("</th>");
      cells(
          html,
          Long.toString(r.requests()),
          Long.toString(r.failed()),
          format("%.1f", r.requestsPerSecond()),
          millis(r.ttft().p50()),
          millis(r.ttft().p90()),
          millis(r.ttft().p99()),
          millis(r.endToEnd().p50()),
          millis(r.endToEnd().p99()),
          format("%.1f %%", 100 * r.hitRate()),
          format("%.3f", r.loadCov()));
      html.append("</tr>");
    }
    html.append("</tbody></table></div>");
  }

  private static void cells(StringBuilder html, String... cells) {
    for (String cell : cells) {
      html.append("<td>").append(cell).append("</td>");
    }
  }

  private static void bars(
      StringBuilder html,
      String title,
      String unit,
      List<LoadResult> results,
      ToDoubleFunction<LoadResult> value,
      String format) {
    double max = results.stream().mapToDouble(value).max().orElse(0);
    if (max <= 0) {
      return;
    }
    int row = 34;
    int height = results.size() * row + 4;
    figure(html, title, unit);
    html.append(svg(height));
    for (int i = 0; i < results.size(); i++) {
      double v = value.applyAsDouble(results.get(i));
      double width = Math.max(1, 330 * v / max);
      int y = i * row;
      html.append(
              format("<text x=\"0\" y=\"%d\">%s</text>", y + 11, escape(results.get(i).policy())))
          .append(
              format(
                  "<rect x=\"0\" y=\"%d\" width=\"%.1f\" height=\"14\" rx=\"3\" fill=\"%s\"/>",
                  y + 16, width, colour(i)))
          .append(
              format(
                  "<text x=\"%.1f\" y=\"%d\" class=\"value\">%s</text>",
                  width + 8, y + 28, format(format, v)));
    }
    html.append("</svg></figure>");
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
    double longest = results.stream().mapToDouble(LoadResult::seconds).max().orElse(1);
    double max = 0;
    for (LoadResult result : results) {
      for (Slice slice : result.timeline()) {
        double v = value.of(slice, width(result));
        max = Double.isNaN(v) ? max : Math.max(max, v);
      }
    }
    if (max <= 0) {
      return;
    }
    figure(html, title, unit);
    html.append(svg(190));
    for (int i = 0; i <= 2; i++) {
      double y = 160 - 75.0 * i;
      html.append(
              format("<line x1=\"38\" x2=\"420\" y1=\"%.0f\" y2=\"%.0f\" class=\"grid\"/>", y, y))
          .append(
              format(
                  "<text x=\"32\" y=\"%.0f\" class=\"axis end\">%s</text>",
                  y + 4, format(max < 10 ? "%.1f" : "%.0f", max * i / 2)));
    }
    html.append("<text x=\"38\" y=\"180\" class=\"axis\">0 s</text>")
        .append(format("<text x=\"420\" y=\"180\" class=\"axis end\">%.1f s</text>", longest));
    for (int i = 0; i < results.size(); i++) {
      LoadResult result = results.get(i);
      StringBuilder points = new StringBuilder();
      for (Slice slice : result.timeline()) {
        double v = value.of(slice, width(result));
        if (!Double.isNaN(v)) {
          points.append(
              format("%.1f,%.1f ", 38 + 382 * slice.endSeconds() / longest, 160 - 150 * v / max));
        }
      }
      html.append(
          format(
              "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"/>",
              points.toString().trim(), colour(i)));
    }
    html.append("</svg>");
    legend(html, results);
    html.append("</figure>");
  }

  private static double width(LoadResult result) {
    return result.seconds() / Math.max(1, result.timeline().size());
  }

  private static void legend(StringBuilder html, List<LoadResult> results) {
    html.append("<p class=\"legend\">");
    for (int i = 0; i < results.size(); i++) {
      html.append("<span><i style=\"background:")
          .append(colour(i))
          .append("\"></i>")
          .append(escape(results.get(i).policy()))
          .append("</span>");
    }
    html.append("</p>");
  }

  private static void workers(StringBuilder html, List<LoadResult> results) {
    int row = 22;
    int rows = results.stream().mapToInt(r -> r.perWorker().size() + 1).sum();
    double max =
        results.stream()
            .flatMap(r -> r.perWorker().values().stream())
            .mapToLong(n -> n)
            .max()
            .orElse(0);
    if (max <= 0 || rows > 200) {
      return;
    }
    figure(html, "Requests by worker", "even bars are an even load");
    html.append(svg(rows * row + 4));
    int y = 0;
    for (int i = 0; i < results.size(); i++) {
      html.append(
          format("<text x=\"0\" y=\"%d\">%s</text>", y + 14, escape(results.get(i).policy())));
      y += row;
      for (Map.Entry<String, Long> worker : results.get(i).perWorker().entrySet()) {
        String name = worker.getKey().replaceFirst("^[a-z]+://", "");
        html.append(format("<text x=\"0\" y=\"%d\" class=\"axis\">%s</text>", y + 13, escape(name)))
            .append(
                format(
                    "<rect x=\"130\" y=\"%d\" width=\"%.1f\" height=\"12\" rx=\"3\" fill=\"%s\"/>",
                    y + 3, Math.max(1, 230 * worker.getValue() / max), colour(i)))
            .append(
                format(
                    "<text x=\"%.1f\" y=\"%d\" class=\"value\">%d</text>",
                    136 + 230 * worker.getValue() / max, y + 13, worker.getValue()));
        y += row;
      }
    }
    html.append("</svg></figure>");
  }

  private static void figure(StringBuilder html, String title, String unit) {
    html.append("<figure><figcaption><b>")
        .append(title)
        .append("</b><br>")
        .append(unit)
        .append("</figcaption>");
  }

  private static String svg(int height) {
    return format("<svg viewBox=\"0 0 440 %d\" role=\"img\">", height);
  }

  private static String millis(double millis) {
    return millis == 0 ? "–" : format("%.0f ms", millis);
  }

  private static String colour(int i) {
    return COLOURS[i % COLOURS.length];
  }

  private static String format(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }

  private static final String STYLE =
      """
      :root{color-scheme:light dark;--ink:#1f2937;--soft:#6b7280;--paper:#ffffff;--card:#f8fafc;--line:#e2e8f0}
      @media(prefers-color-scheme:dark){:root{--ink:#e5e7eb;--soft:#9ca3af;--paper:#0f172a;--card:#1e293b;--line:#334155}}
      *{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
      main{max-width:1000px;margin:0 auto;padding:24px 16px 48px}h1{font-size:1.6rem;margin:0 0 4px}
      .lead{font-size:1.1rem;margin:0 0 20px}.note{color:var(--soft);font-size:.85rem;margin-top:28px}
      .scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.9rem}
      th,td{padding:7px 10px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
      th:first-child{text-align:left}thead th{color:var(--soft);font-weight:500}
      i{display:inline-block;width:10px;height:10px;border-radius:3px;margin-right:7px}
      .charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:16px;margin-top:24px}
      figure{margin:0;padding:16px;background:var(--card);border:1px solid var(--line);border-radius:10px}
      figcaption{font-size:.85rem;color:var(--soft);margin-bottom:10px}figcaption b{color:var(--ink);font-size:1rem}
      svg{width:100%;height:auto;display:block}svg text{font-size:12px;fill:var(--ink)}
      svg .axis{fill:var(--soft);font-size:11px}svg .end{text-anchor:end}svg .value{fill:var(--soft)}
      svg .grid{stroke:var(--line);stroke-width:1}
      .legend{margin:8px 0 0;font-size:.8rem}.legend span{margin-right:14px;white-space:nowrap}
      """;
}
