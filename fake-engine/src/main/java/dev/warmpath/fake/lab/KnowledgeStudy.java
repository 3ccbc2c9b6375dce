package dev.warmpath.fake.lab;

import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.load.Workloads;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * Policies compared on a fleet with knowledge nodes, under the workload {@code knowledge}, over
 * several seeds. The first quarter of each run is left out of latencies, not of bytes.
 */
public final class KnowledgeStudy {

  private KnowledgeStudy() {}

  /**
   * A figure over all seeds.
   *
   * @param mean of the seeds' figures
   * @param least of them
   * @param most of them
   */
  public record Spread(double mean, double least, double most) {
    private static Spread of(List<LabResult> results, ToDoubleFunction<LabResult> figure) {
      var figures = results.stream().mapToDouble(figure).summaryStatistics();
      return new Spread(figures.getAverage(), figures.getMin(), figures.getMax());
    }
  }

  /**
   * One policy.
   *
   * @param policy its name
   * @param ttftMs mean time to the first token
   * @param ttftP99Ms its 99th percentile
   * @param gigabytes KV that nodes sent, in 10^9 bytes
   * @param transfers documents whose KV was sent
   * @param repeats times that KV was asked for which the worker had
   * @param recomputed documents that were computed again
   * @param hitRate share of prompt tokens that caches had, KV that was sent included
   * @param failed requests without an answer, over all seeds
   */
  public record Row(
      String policy,
      Spread ttftMs,
      Spread ttftP99Ms,
      Spread gigabytes,
      Spread transfers,
      Spread repeats,
      Spread recomputed,
      Spread hitRate,
      long failed) {}

  /**
   * Runs every policy with every seed.
   *
   * @param settings the fleet, with knowledge nodes
   * @param set parameters of the workload
   * @param policies who takes part
   * @param seeds decide every draw, one run each
   * @return a row for each policy
   */
  public static List<Row> run(
      LabSettings.Builder settings,
      Map<String, String> set,
      List<String> policies,
      List<Long> seeds) {
    policies.forEach(Lab::requirePolicy);
    List<Row> rows = new ArrayList<>();
    for (String policy : policies) {
      List<LabResult> results = new ArrayList<>();
      for (long seed : seeds) {
        List<TraceSession> sessions = Workloads.draw("knowledge", set, seed);
        results.add(
            Lab.run(
                settings.seed(seed).warmupRequests(sessions.size() / 4).build(), policy, sessions));
      }
      rows.add(row(policy, results));
    }
    return rows;
  }

  private static Row row(String policy, List<LabResult> results) {
    return new Row(
        policy,
        Spread.of(results, result -> result.load().ttft().mean()),
        Spread.of(results, result -> result.load().ttft().p99()),
        Spread.of(results, result -> result.knowledge().bytes() / 1e9),
        Spread.of(results, result -> result.knowledge().transfers()),
        Spread.of(results, result -> result.knowledge().repeats()),
        Spread.of(results, result -> result.knowledge().recomputed()),
        Spread.of(results, result -> result.load().hitRate()),
        results.stream().mapToLong(result -> result.load().failed()).sum());
  }
}
