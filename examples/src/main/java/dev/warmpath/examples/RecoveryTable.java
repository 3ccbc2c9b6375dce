package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.lab.FleetRun;
import dev.warmpath.fake.lab.LabIncident;
import dev.warmpath.fake.lab.LabRecovery;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** How fleets took what happened to their workers, one row for each run and group of incidents. */
final class RecoveryTable {
  private static final List<String> TITLES =
      List.of(
          "policy", "clients", "run", "what", "hit rate", "lowest", "back in", "share", "queue");

  private static final String LEGEND =
      format(
          "hit rate in the %d s before, the lowest of any %d s after, and how long after the last"
              + " incident it was back within %s; the most that one worker got in any %d s, in fair"
              + " shares, and its longest queue, before and after",
          LabRecovery.BEFORE_S, LabRecovery.WINDOW_S, LabRecovery.BACK, LabRecovery.WINDOW_S);

  private final List<List<String>> rows;

  private RecoveryTable(List<List<String>> rows) {
    this.rows = rows;
  }

  /** Those of some cells; empty where nothing happened. */
  static Optional<RecoveryTable> of(List<FleetCell> cells) {
    List<List<String>> rows = new ArrayList<>();
    for (FleetCell cell : cells) {
      for (int run = 0; run < cell.runs().size(); run++) {
        for (LabRecovery recovery : cell.runs().get(run).recoveries()) {
          rows.add(row(cell, run + 1, recovery));
        }
      }
    }
    return rows.isEmpty() ? Optional.empty() : Optional.of(new RecoveryTable(rows));
  }

  private static List<String> row(FleetCell cell, int run, LabRecovery recovery) {
    LabRecovery.State before = recovery.before();
    LabRecovery.State after = recovery.after();
    return List.of(
        cell.policy(),
        Integer.toString(cell.clients()),
        Integer.toString(run),
        what(recovery.incidents()),
        format("%.3f", before.hitRate()),
        format("%.3f", after.hitRate()),
        Double.isNaN(recovery.seconds())
            ? format("not in %d s", LabRecovery.PATIENCE_S)
            : format("%.0f s", recovery.seconds()),
        format("%.2f, %.2f", before.largestShare(), after.largestShare()),
        before.longestQueue() + ", " + after.longestQueue());
  }

  private static String what(List<LabIncident> incidents) {
    LabIncident first = incidents.get(0);
    String kind = kind(first);
    if (incidents.size() == 1) {
      return format("%s of worker %d at %.0f s", kind, first.worker(), first.atMs() / 1e3);
    }
    boolean alike = incidents.stream().allMatch(each -> each.kind() == first.kind());
    return format(
        "%d × %s from %.0f to %.0f s",
        incidents.size(),
        alike ? kind : "incident",
        first.atMs() / 1e3,
        incidents.get(incidents.size() - 1).atMs() / 1e3);
  }

  private static String kind(LabIncident incident) {
    return switch (incident.kind()) {
      case FLUSH -> "flush";
      case RESTART -> "restart";
      case REMOVE -> "removal";
      case ADD -> "addition";
    };
  }

  private static String format(String text, Object... values) {
    return String.format(Locale.ROOT, text, values);
  }

  String text() {
    TextTable table = new TextTable(TITLES.toArray(String[]::new));
    rows.forEach(row -> table.row(row.toArray(String[]::new)));
    return table + LEGEND + System.lineSeparator();
  }

  /** Writes it into a page. */
  void write(StringBuilder html) {
    html.append("<h3>What happened to workers</h3>");
    HtmlPage.openTable(html, TITLES);
    rows.forEach(row -> HtmlPage.row(html, row));
    HtmlPage.closeTable(html);
    html.append("<p class=\"note\">").append(Charts.escape(LEGEND)).append(".</p>");
  }

  /** Puts a run's into its document; nothing where nothing happened. */
  static void put(ObjectNode out, FleetRun run) {
    if (run.recoveries().isEmpty()) {
      return;
    }
    ArrayNode all = out.putArray("incidents");
    for (LabRecovery recovery : run.recoveries()) {
      ObjectNode one = all.addObject();
      one.put("what", what(recovery.incidents()));
      Json.put(one, "recovery_s", recovery.seconds());
      put(one.putObject("before"), recovery.before());
      put(one.putObject("after"), recovery.after());
    }
  }

  private static void put(ObjectNode out, LabRecovery.State state) {
    Json.put(out, "hit_rate", state.hitRate());
    Json.put(out, "largest_share", state.largestShare());
    out.put("longest_queue", state.longestQueue());
  }
}
