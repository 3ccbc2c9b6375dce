package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.lab.FleetRun;
import dev.warmpath.fake.lab.FleetSuite;
import dev.warmpath.fake.study.StudyMeter;
import dev.warmpath.fake.study.StudyPolicies;
import dev.warmpath.fake.study.StudyResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The fleet study's results as tables, as JSON and as an HTML page. */
final class FleetTables {
  /** A bar much longer than the shortest makes all others look alike; longer ones are left out. */
  private static final double BARS_WITHIN = 8;

  private final List<FleetCell> cells;
  private final List<Integer> clients;

  /**
   * Prepares tables.
   *
   * @param cells every policy of every workload with every number of clients
   */
  FleetTables(List<FleetCell> cells) {
    this.cells = List.copyOf(cells);
    this.clients = cells.stream().map(FleetCell::clients).distinct().sorted().toList();
  }

  private List<String> workloads() {
    return cells.stream().map(FleetCell::workload).distinct().toList();
  }

  private List<String> policies(String workload) {
    return cells.stream()
        .filter(cell -> cell.workload().equals(workload))
        .map(FleetCell::policy)
        .distinct()
        .toList();
  }

  private FleetCell cell(String workload, String policy, int count) {
    return cells.stream()
        .filter(cell -> cell.workload().equals(workload) && cell.policy().equals(policy))
        .filter(cell -> cell.clients() == count)
        .findFirst()
        .orElseThrow();
  }

  private int most() {
    return clients.get(clients.size() - 1);
  }

  private List<String> titles() {
    List<String> titles = new ArrayList<>(List.of("policy"));
    clients.forEach(count -> titles.add("N=" + count));
    titles.add("CoV");
    titles.add("mig");
    return titles;
  }

  private List<String> row(String workload, String policy) {
    List<String> row = new ArrayList<>(List.of(policy));
    clients.forEach(count -> row.add(cell(workload, policy, count).text()));
    FleetCell last = cell(workload, policy, most());
    row.add(String.format(Locale.ROOT, "%.3f", last.mean(StudyResult::cov)));
    row.add(String.format(Locale.ROOT, "%.3f", last.mean(StudyResult::migrations)));
    return row;
  }

  private Optional<RecoveryTable> recoveries(String workload) {
    return RecoveryTable.of(
        cells.stream().filter(cell -> cell.workload().equals(workload)).toList());
  }

  /** What the columns are. */
  private String legend() {
    return "hit rate / mean TTFT / its 99th percentile, ms, means over seeds and half their range;"
        + " N router clients; CoV of the workers' requests and share of moved follow-ups at N="
        + most();
  }

  /** All tables as text. */
  String text() {
    StringBuilder out = new StringBuilder();
    for (String workload : workloads()) {
      TextTable table = new TextTable(titles().toArray(String[]::new));
      policies(workload).forEach(policy -> table.row(row(workload, policy).toArray(String[]::new)));
      out.append(workload).append(System.lineSeparator()).append(table);
      out.append(System.lineSeparator());
      recoveries(workload)
          .ifPresent(rows -> out.append(rows.text()).append(System.lineSeparator()));
    }
    return out + legend();
  }

  /** All results as JSON. */
  ObjectNode document() {
    ObjectNode out = Json.object();
    ArrayNode all = out.putArray("policies");
    for (FleetCell cell : cells) {
      for (FleetRun disturbed : cell.runs()) {
        StudyResult run = disturbed.result();
        ObjectNode one = all.addObject();
        one.put("workload", cell.workload());
        one.put("policy", cell.policy());
        one.put("clients", cell.clients());
        one.put("requests", run.requests());
        one.put("failed", run.failed());
        Json.put(one, "requests_per_s", run.perSecond());
        ObjectNode ttft = one.putObject("ttft_ms");
        Json.put(ttft, "mean", run.meanMs());
        Json.put(ttft, "p50", run.p50Ms());
        Json.put(ttft, "p99", run.p99Ms());
        Json.put(one, "hit_rate", run.hitRate());
        Json.put(one, "load_cov", run.cov());
        Json.put(one, "migrations", run.migrations());
        ArrayNode hits = one.putArray("hit_rate_by_10s");
        run.slices().forEach(slice -> hits.add(slice.hitRate()));
        RecoveryTable.put(one, disturbed);
      }
    }
    return out;
  }

  /** Writes the page. */
  void write(Path file, String description) throws IOException {
    StringBuilder html = new StringBuilder();
    HtmlPage.open(html, "Warmpath: one fleet, many clients");
    html.append("<p class=\"lead\">").append(Charts.escape(description)).append("</p>");
    workloads().forEach(workload -> section(html, workload));
    html.append("<p class=\"note\">").append(Charts.escape(legend())).append(". ");
    html.append(
        "Policies of other projects are re-implementations from their public descriptions, frozen:"
            + " a figure is one of that rule in this simulation, not of that product.</p>");
    HtmlPage.close(html);
    Files.writeString(file, html);
  }

  private void section(StringBuilder html, String workload) {
    html.append("<h2>").append(Charts.escape(workload)).append("</h2>");
    HtmlPage.openTable(html, titles());
    String group = null;
    for (String policy : policies(workload)) {
      if (!group(policy).equals(group)) {
        group = group(policy);
        html.append("<tr><th colspan=\"").append(titles().size()).append("\" class=\"group\">");
        html.append(Charts.escape(group)).append("</th></tr>");
      }
      HtmlPage.row(html, row(workload, policy));
    }
    HtmlPage.closeTable(html);
    recoveries(workload).ifPresent(rows -> rows.write(html));
    html.append("<div class=\"charts\">");
    hitRates(html, workload);
    times(html, workload);
    overTime(html, workload);
    html.append("</div>");
  }

  /** Who a policy's peers are by what it knows. */
  private static String group(String policy) {
    if (policy.startsWith(FleetSuite.OWN)) {
      return "this project's, as real router clients";
    }
    if (StudyPolicies.PRIVATE.contains(policy)) {
      return "frozen: own requests and polls";
    }
    if (policy.contains("_ev")) {
      return "frozen: cache events";
    }
    return switch (policy) {
      case "sesshash" -> "frozen: the conversation's id";
      case "ca_shared" -> "frozen: one shared index without delay";
      default -> "reference: knows everything but the future";
    };
  }

  private void hitRates(StringBuilder html, String workload) {
    if (clients.size() < 2) {
      return;
    }
    List<Charts.Series> series = new ArrayList<>();
    for (String policy : policies(workload)) {
      if (shown(policy)) {
        series.add(
            new Charts.Series(
                policy,
                series.size(),
                clients.stream().mapToDouble(count -> count).toArray(),
                clients.stream()
                    .mapToDouble(count -> cell(workload, policy, count).mean(StudyResult::hitRate))
                    .toArray()));
      }
    }
    Charts.lines(
        html, "Hit rate", "by number of clients; higher is better", "clients", series, true, true);
  }

  /** What nobody asked for was neither found nor missed. */
  private static double hitRate(StudyResult.Slice slice) {
    return slice.requests() == 0 ? Double.NaN : slice.hitRate();
  }

  /** Each slice's hit rate in the first seed's run, and when something happened to a worker. */
  private void overTime(StringBuilder html, String workload) {
    List<Charts.Series> series = new ArrayList<>();
    double[] marks = {};
    for (String policy : policies(workload)) {
      if (shown(policy)) {
        FleetRun run = cell(workload, policy, most()).runs().get(0);
        List<StudyResult.Slice> slices = run.result().slices();
        marks =
            run.recoveries().stream()
                .flatMap(recovery -> recovery.incidents().stream())
                .mapToDouble(incident -> incident.atMs() / 1e3)
                .toArray();
        double[] seconds = new double[slices.size()];
        for (int i = 0; i < seconds.length; i++) {
          seconds[i] = (i + 0.5) * StudyMeter.SLICE_MS / 1e3;
        }
        double[] hits = slices.stream().mapToDouble(FleetTables::hitRate).toArray();
        series.add(new Charts.Series(policy, series.size(), seconds, hits));
      }
    }
    Charts.lines(
        html,
        "Hit rate over time, " + most() + " clients",
        "from empty caches and clients on, one seed; higher is better"
            + (marks.length == 0 ? "" : "; dashed: something happened to a worker"),
        "s",
        series,
        marks,
        false,
        true);
  }

  /** One or two of each kind: more lines than colours can't be told apart. */
  private static boolean shown(String policy) {
    return policy.startsWith(FleetSuite.OWN)
        || List.of("least", "cache_aware", "sesshash", "linear_ev", "ca_shared").contains(policy);
  }

  private void times(StringBuilder html, String workload) {
    double least = Double.POSITIVE_INFINITY;
    for (String policy : policies(workload)) {
      least = Math.min(least, cell(workload, policy, most()).mean(StudyResult::meanMs));
    }
    List<Charts.Bar> bars = new ArrayList<>();
    for (String policy : policies(workload)) {
      double mean = cell(workload, policy, most()).mean(StudyResult::meanMs);
      if (mean <= BARS_WITHIN * least) {
        bars.add(new Charts.Bar(policy, policy.startsWith(FleetSuite.OWN) ? 0 : 1, mean));
      }
    }
    Charts.bars(
        html,
        "Time to first token, mean, " + most() + " clients",
        String.format(
            Locale.ROOT, "ms; shorter is better; beyond %.0f times the best left out", BARS_WITHIN),
        bars,
        "%.0f ms");
  }

  /** Whether requests failed, and how many. */
  @Nullable String failures() {
    long failed = cells.stream().mapToLong(FleetCell::failed).sum();
    return failed == 0 ? null : failed + " request(s) failed";
  }
}
