package dev.warmpath.examples;

import dev.warmpath.observe.LoadSample;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** A load history as a page of plots, a line for each rank. */
final class HistoryPage {
  /** Points of a line: more than these are averaged, since nobody could tell them apart. */
  private static final int POINTS = 240;

  private HistoryPage() {}

  /** What a row's rank is called. */
  static String name(LoadSample row) {
    return row.rank() == null ? row.worker() : row.worker() + "#" + row.rank();
  }

  /**
   * The page.
   *
   * @param since how far back was asked for, in words
   */
  static String of(List<LoadSample> rows, String since) {
    StringBuilder html = new StringBuilder();
    HtmlPage.open(html, "Load history");
    if (rows.isEmpty()) {
      html.append("<p class=\"lead\">No rows within ").append(Charts.escape(since)).append(".</p>");
      HtmlPage.close(html);
      return html.toString();
    }
    Instant first = rows.stream().map(LoadSample::at).min(Comparator.naturalOrder()).orElseThrow();
    Instant last = rows.stream().map(LoadSample::at).max(Comparator.naturalOrder()).orElseThrow();
    Map<String, List<LoadSample>> byRank =
        rows.stream()
            .collect(Collectors.groupingBy(HistoryPage::name, TreeMap::new, Collectors.toList()));
    html.append("<p class=\"lead\">")
        .append(rows.size())
        .append(" rows of ")
        .append(byRank.size())
        .append(byRank.size() == 1 ? " rank, " : " ranks, ")
        .append(first.truncatedTo(ChronoUnit.SECONDS))
        .append(" to ")
        .append(last.truncatedTo(ChronoUnit.SECONDS))
        .append("</p><div class=\"charts\">");
    Axis axis = Axis.of(first, last);
    chart(html, "Running requests", "by telemetry", axis, byRank, LoadSample::running);
    chart(html, "Waiting requests", "queued in the engine", axis, byRank, LoadSample::waiting);
    chart(html, "KV usage", "share of the pool", axis, byRank, LoadSample::usage);
    chart(html, "Cache hit rate", "by the engine's count", axis, byRank, LoadSample::hitRate);
    chart(html, "Throughput", "decoded tokens/s", axis, byRank, LoadSample::tokensPerSecond);
    chart(html, "Own requests", "of the clients that kept it", axis, byRank, LoadSample::inFlight);
    chart(html, "Time to first byte", "ms", axis, byRank, LoadSample::firstByteMillis);
    chart(html, "Share of traffic", "below 1 while degraded", axis, byRank, LoadSample::share);
    html.append("</div>");
    states(html, byRank);
    HtmlPage.close(html);
    return html.toString();
  }

  /** The time axis: its beginning, and the unit that suits its length. */
  private record Axis(Instant first, double length, double unitMillis, String unit) {
    static Axis of(Instant first, Instant last) {
      double millis = Math.max(1, Duration.between(first, last).toMillis());
      double hour = Duration.ofHours(1).toMillis();
      if (millis > 3 * hour) {
        return new Axis(first, millis / hour, hour, "h");
      }
      double minute = Duration.ofMinutes(1).toMillis();
      return millis > 3 * minute
          ? new Axis(first, millis / minute, minute, "min")
          : new Axis(first, millis / 1_000, 1_000, "s");
    }

    double of(Instant at) {
      return Duration.between(first, at).toMillis() / unitMillis;
    }
  }

  private static void chart(
      StringBuilder html,
      String title,
      String unit,
      Axis axis,
      Map<String, List<LoadSample>> byRank,
      ToDoubleFunction<LoadSample> value) {
    List<Charts.Series> all = new ArrayList<>();
    byRank.forEach((name, rows) -> all.add(series(name, all.size(), axis, rows, value)));
    Charts.lines(html, title, unit, axis.unit(), all, false, byRank.size() > 1);
  }

  private static Charts.Series series(
      String name,
      int colour,
      Axis axis,
      List<LoadSample> rows,
      ToDoubleFunction<LoadSample> value) {
    double[] sums = new double[POINTS];
    int[] counts = new int[POINTS];
    double[] xs = new double[POINTS];
    for (LoadSample row : rows) {
      double x = axis.of(row.at());
      int bucket = (int) Math.min(POINTS - 1, x / axis.length() * POINTS);
      double y = value.applyAsDouble(row);
      if (!Double.isNaN(y)) {
        xs[bucket] += x;
        sums[bucket] += y;
        counts[bucket]++;
      }
    }
    for (int i = 0; i < POINTS; i++) {
      xs[i] = counts[i] == 0 ? axis.length() * i / POINTS : xs[i] / counts[i];
      sums[i] = counts[i] == 0 ? Double.NaN : sums[i] / counts[i];
    }
    return new Charts.Series(name, colour, xs, sums);
  }

  /** How much of the time each rank was in which state. */
  private static void states(StringBuilder html, Map<String, List<LoadSample>> byRank) {
    html.append("<h2>States</h2>");
    HtmlPage.openTable(html, List.of("rank", "state", "samples", "share of them"));
    byRank.forEach(
        (name, rows) -> {
          Map<String, Long> states =
              rows.stream()
                  .collect(
                      Collectors.groupingBy(
                          LoadSample::state, TreeMap::new, Collectors.counting()));
          states.forEach(
              (state, count) ->
                  HtmlPage.row(
                      html,
                      List.of(
                          name,
                          state,
                          Long.toString(count),
                          Charts.format("%.1f%%", 100.0 * count / rows.size()))));
        });
    HtmlPage.closeTable(html);
  }
}
