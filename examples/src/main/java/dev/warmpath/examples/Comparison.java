package dev.warmpath.examples;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.load.LoadResult;
import java.util.List;
import java.util.Locale;

/** Results side by side, as a table and as JSON. */
final class Comparison {
  private Comparison() {}

  static String table(List<LoadResult> results) {
    TextTable table =
        new TextTable(
            "policy",
            "requests",
            "failed",
            "req/s",
            "TTFT p50",
            "TTFT p99",
            "E2E p50",
            "E2E p99",
            "hit rate",
            "load CoV");
    for (LoadResult result : results) {
      table.row(
          result.policy(),
          Long.toString(result.requests()),
          Long.toString(result.failed()),
          String.format(Locale.ROOT, "%.1f", result.requestsPerSecond()),
          millis(result.ttft().p50()),
          millis(result.ttft().p99()),
          millis(result.endToEnd().p50()),
          millis(result.endToEnd().p99()),
          String.format(Locale.ROOT, "%.1f%%", 100 * result.hitRate()),
          loadCov(result));
    }
    return table.toString();
  }

  /** How uneven load was; of pairs, that of prefill and that of decode. */
  static String loadCov(LoadResult result) {
    String answering = String.format(Locale.ROOT, "%.3f", result.loadCov());
    return result.perPrefillWorker().isEmpty()
        ? answering
        : String.format(Locale.ROOT, "%.3f, %s", result.prefillLoadCov(), answering);
  }

  private static String millis(double millis) {
    return millis == 0 ? "-" : String.format(Locale.ROOT, "%.0f ms", millis);
  }

  static ObjectNode document(List<LoadResult> results) {
    ObjectNode out = Json.object();
    ArrayNode policies = out.putArray("policies");
    results.forEach(result -> policies.add(Json.result(result)));
    return out;
  }
}
