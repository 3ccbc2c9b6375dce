package dev.warmpath.examples;

import dev.warmpath.fake.lab.Lab;
import dev.warmpath.fake.lab.LabResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** A comparison in virtual time as a table, as CSV, and as an HTML page. */
final class LabReport {
  /** A figure of a run, and how it is written. */
  private record Column(String title, ToDoubleFunction<LabResult> value, String format) {}

  private static final List<Column> COLUMNS =
      List.of(
          new Column("requests", r -> r.load().requests(), "%.0f"),
          new Column("failed", r -> r.load().failed(), "%.0f"),
          new Column("req/s", r -> r.load().requestsPerSecond(), "%.2f"),
          new Column("TTFT mean", LabReport::ttft, "%.0f ms"),
          new Column("TTFT p50", r -> r.load().ttft().p50(), "%.0f ms"),
          new Column("TTFT p99", r -> r.load().ttft().p99(), "%.0f ms"),
          new Column("E2E mean", r -> r.load().endToEnd().mean(), "%.0f ms"),
          new Column("hit rate", r -> 100 * r.load().hitRate(), "%.1f%%"),
          new Column("load CoV", r -> r.load().loadCov(), "%.3f"));

  private final List<LabCell> cells;
  private final String loadUnit;

  /**
   * Prepares a report.
   *
   * @param cells the comparison, by policy
   * @param loadUnit what the cells' loads count
   */
  LabReport(List<LabCell> cells, String loadUnit) {
    this.cells = List.copyOf(cells);
    this.loadUnit = loadUnit;
  }

  private static double ttft(LabResult result) {
    return result.load().ttft().mean();
  }

  private List<String> policies() {
    return cells.stream().map(LabCell::policy).distinct().toList();
  }

  private List<Integer> clients() {
    return cells.stream().map(LabCell::clients).distinct().sorted().toList();
  }

  private List<Double> loads() {
    return cells.stream().map(LabCell::load).distinct().sorted().toList();
  }

  /**
   * How near a cell's mean time to first token comes to that of the oracle in the same place, 1
   * being as good.
   *
   * @return NaN where no oracle took part
   */
  double ofOracle(LabCell cell) {
    return cells.stream()
        .filter(other -> other.policy().equals(Lab.ORACLE) && other.beside(cell))
        .findFirst()
        .map(oracle -> oracle.mean(LabReport::ttft) / cell.mean(LabReport::ttft))
        .orElse(Double.NaN);
  }

  private boolean withOracle() {
    return policies().contains(Lab.ORACLE);
  }

  private List<String> titles() {
    List<String> titles = new ArrayList<>(List.of("policy"));
    if (clients().size() > 1) {
      titles.add("clients");
    }
    if (loads().size() > 1) {
      titles.add(loadUnit);
    }
    COLUMNS.forEach(column -> titles.add(column.title()));
    if (withOracle()) {
      titles.add("of oracle");
    }
    return titles;
  }

  private List<String> row(LabCell cell) {
    List<String> row = new ArrayList<>(List.of(cell.policy()));
    if (clients().size() > 1) {
      row.add(Integer.toString(cell.clients()));
    }
    if (loads().size() > 1) {
      row.add(number(cell.load()));
    }
    COLUMNS.forEach(column -> row.add(Charts.format(column.format(), cell.mean(column.value()))));
    if (withOracle()) {
      row.add(Charts.format("%.0f%%", 100 * ofOracle(cell)));
    }
    return row;
  }

  private static String number(double value) {
    return Charts.format(value == Math.rint(value) ? "%.0f" : "%.2f", value);
  }

  /** The means over seeds, in aligned columns. */
  String table() {
    TextTable table = new TextTable(titles().toArray(new String[0]));
    cells.forEach(cell -> table.row(row(cell).toArray(new String[0])));
    return table.toString();
  }

  /** Every run on a line of its own, times in milliseconds and shares from 0 to 1. */
  String csv() {
    StringBuilder csv =
        new StringBuilder(
            "policy,clients,load,seed,requests,failed,requests_per_s,ttft_mean_ms,ttft_p50_ms,"
                + "ttft_p90_ms,ttft_p99_ms,e2e_mean_ms,e2e_p99_ms,itl_mean_ms,hit_rate,load_cov,"
                + "prompt_tokens,cached_tokens,completion_tokens,virtual_seconds\n");
    for (LabCell cell : cells) {
      for (LabResult run : cell.runs()) {
        csv.append(cell.policy())
            .append(
                Charts.format(
                    ",%d,%s,%d,%d,%d,%.4f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.6f,%.6f,%d,%d,%d,%.3f",
                    cell.clients(),
                    cell.load(),
                    run.seed(),
                    run.load().requests(),
                    run.load().failed(),
                    run.load().requestsPerSecond(),
                    run.load().ttft().mean(),
                    run.load().ttft().p50(),
                    run.load().ttft().p90(),
                    run.load().ttft().p99(),
                    run.load().endToEnd().mean(),
                    run.load().endToEnd().p99(),
                    run.load().interToken().mean(),
                    run.load().hitRate(),
                    run.load().loadCov(),
                    run.load().promptTokens(),
                    run.load().cachedTokens(),
                    run.load().completionTokens(),
                    run.virtualSeconds()))
            .append('\n');
      }
    }
    return csv.toString();
  }

  /**
   * Writes the page.
   *
   * @param fleet the fleet and its workload, in a few words
   */
  void write(Path file, String fleet) throws IOException {
    StringBuilder html = new StringBuilder();
    HtmlPage.open(html, "warmpath lab");
    html.append("<p class=\"lead\">").append(lead()).append("</p><p>");
    html.append(Charts.escape(fleet)).append("</p>");
    htmlTable(html);
    html.append("<div class=\"charts\">");
    against(html, "Time to first token, mean", "milliseconds; lower is better", LabReport::ttft);
    against(
        html,
        "Time to first token, 99th percentile",
        "milliseconds; lower is better",
        r -> r.load().ttft().p99());
    against(html, "Throughput", "requests answered a second", r -> r.load().requestsPerSecond());
    against(
        html,
        "Cache hit rate",
        "percent of prompt tokens found in a cache",
        r -> 100 * r.load().hitRate());
    overTime(html);
    html.append("</div>");
    limits(html);
    HtmlPage.close(html);
    Files.writeString(file, html);
  }

  private String lead() {
    LabCell best = null;
    LabCell worst = null;
    double load = loads().get(loads().size() - 1);
    int clients = clients().get(clients().size() - 1);
    for (LabCell cell : cells) {
      if (cell.load() == load && cell.clients() == clients && !cell.policy().equals(Lab.ORACLE)) {
        double mean = cell.mean(LabReport::ttft);
        best = best == null || mean < best.mean(LabReport::ttft) ? cell : best;
        worst = worst == null || mean > worst.mean(LabReport::ttft) ? cell : worst;
      }
    }
    if (best == null || worst == null || best.equals(worst)) {
      return "In virtual time, from empty caches to the last answer.";
    }
    return Charts.format(
        "<b>%s</b> answered with the first token after %.0f ms on average, <b>%s</b> after %.0f ms:"
            + " it found %.0f %% of prompt tokens in a cache, the other %.0f %%.",
        Charts.escape(best.policy()),
        best.mean(LabReport::ttft),
        Charts.escape(worst.policy()),
        worst.mean(LabReport::ttft),
        best.mean(r -> 100 * r.load().hitRate()),
        worst.mean(r -> 100 * r.load().hitRate()));
  }

  private void htmlTable(StringBuilder html) {
    HtmlPage.openTable(html, titles());
    List<String> policies = policies();
    for (LabCell cell : cells) {
      List<String> row = row(cell);
      html.append("<tr><th><i style=\"background:")
          .append(Charts.colour(policies.indexOf(cell.policy())))
          .append("\"></i>")
          .append(Charts.escape(row.get(0)))
          .append("</th>");
      row.subList(1, row.size()).forEach(text -> html.append("<td>").append(text).append("</td>"));
      html.append("</tr>");
    }
    HtmlPage.closeTable(html);
    if (cells.stream().anyMatch(cell -> cell.runs().size() > 1)) {
      html.append("<p class=\"note\">Means over seeds. ").append(spread()).append("</p>");
    }
  }

  private String spread() {
    List<String> parts = new ArrayList<>();
    double load = loads().get(loads().size() - 1);
    for (LabCell cell : cells) {
      if (cell.load() == load) {
        parts.add(
            Charts.format(
                "%s%s: TTFT %.0f to %.0f ms, hit rate %.1f to %.1f %%",
                Charts.escape(cell.policy()),
                clients().size() > 1 ? " with " + cell.clients() + " clients" : "",
                cell.min(LabReport::ttft),
                cell.max(LabReport::ttft),
                cell.min(r -> 100 * r.load().hitRate()),
                cell.max(r -> 100 * r.load().hitRate())));
      }
    }
    return String.join("; ", parts) + ".";
  }

  /** A figure against load where there are several, else against clients, else as bars. */
  private void against(
      StringBuilder html, String title, String unit, ToDoubleFunction<LabResult> value) {
    List<String> policies = policies();
    boolean byLoad = loads().size() > 1;
    if (!byLoad && clients().size() == 1) {
      List<Charts.Bar> bars = new ArrayList<>();
      for (LabCell cell : cells) {
        bars.add(new Charts.Bar(cell.policy(), policies.indexOf(cell.policy()), cell.mean(value)));
      }
      Charts.bars(html, title, unit, bars, "%.1f");
      return;
    }
    if (byLoad) {
      for (int count : clients()) {
        String of = clients().size() > 1 ? title + ", " + count + " clients" : title;
        lines(html, of, unit, loadUnit, count, value);
      }
    } else {
      lines(html, title, unit, "clients", null, value);
    }
  }

  private void lines(
      StringBuilder html,
      String title,
      String unit,
      String xUnit,
      @Nullable Integer clients,
      ToDoubleFunction<LabResult> value) {
    List<Charts.Series> all = new ArrayList<>();
    List<String> policies = policies();
    for (String policy : policies) {
      List<LabCell> own =
          cells.stream()
              .filter(cell -> cell.policy().equals(policy))
              .filter(cell -> clients == null || cell.clients() == clients)
              .toList();
      all.add(
          new Charts.Series(
              policy,
              policies.indexOf(policy),
              own.stream()
                  .mapToDouble(cell -> clients == null ? cell.clients() : cell.load())
                  .toArray(),
              own.stream().mapToDouble(cell -> cell.mean(value)).toArray()));
    }
    Charts.lines(html, title, unit, xUnit, all, true, true);
  }

  /** The workers under each policy, at the highest load, in the first run. */
  private void overTime(StringBuilder html) {
    double load = loads().get(loads().size() - 1);
    int clients = clients().get(clients().size() - 1);
    for (LabCell cell : cells) {
      if (cell.load() != load || cell.clients() != clients) {
        continue;
      }
      List<Charts.Series> all = new ArrayList<>();
      int number = 0;
      for (Map.Entry<String, List<LabResult.Sample>> worker :
          cell.runs().get(0).workers().entrySet()) {
        all.add(load(worker.getKey(), number++, worker.getValue()));
      }
      Charts.lines(
          html,
          "Load by worker: " + cell.policy(),
          "requests running and waiting on each worker; lines together are an even load",
          "s",
          all,
          false,
          false);
    }
  }

  /** Means of neighbours, so that a line has some 150 points. */
  private static Charts.Series load(String worker, int number, List<LabResult.Sample> samples) {
    int step = Math.max(1, samples.size() / 150);
    int points = (samples.size() + step - 1) / step;
    double[] seconds = new double[points];
    double[] requests = new double[points];
    for (int i = 0; i < points; i++) {
      List<LabResult.Sample> part =
          samples.subList(i * step, Math.min(samples.size(), (i + 1) * step));
      seconds[i] = part.get(part.size() - 1).seconds();
      requests[i] =
          part.stream().mapToInt(sample -> sample.running() + sample.waiting()).average().orElse(0);
    }
    return new Charts.Series(worker, number, seconds, requests);
  }

  private static void limits(StringBuilder html) {
    html.append(
        "<p class=\"note\">Made by <code>warmpath lab</code>. Policies, telemetry, retries and"
            + " indexes are the router client's own; workers, network and users are simulated, and"
            + " the oracle sees what no router can. A simulation shows how policies differ and why:"
            + " who finds its prefix, where queues grow, what a cache too small for its working set"
            + " does. It does not predict a GPU: the timing model knows neither batch size in"
            + " decode, nor attention length in prefill, nor the cost of tokenizing and HTTP.</p>");
  }
}
