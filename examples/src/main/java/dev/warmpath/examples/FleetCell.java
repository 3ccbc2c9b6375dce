package dev.warmpath.examples;

import dev.warmpath.fake.lab.FleetRun;
import dev.warmpath.fake.study.StudyResult;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * One place of the fleet study's tables, run once per seed.
 *
 * @param workload the workload's name
 * @param policy the policy's name
 * @param clients router clients
 * @param runs one result per seed
 */
record FleetCell(String workload, String policy, int clients, List<FleetRun> runs) {
  FleetCell {
    runs = List.copyOf(runs);
  }

  private Stream<StudyResult> results() {
    return runs.stream().map(FleetRun::result);
  }

  /** The mean over seeds. */
  double mean(ToDoubleFunction<StudyResult> value) {
    return results().mapToDouble(value).average().orElse(Double.NaN);
  }

  /** Half the range over seeds. */
  private double spread(ToDoubleFunction<StudyResult> value) {
    double most = results().mapToDouble(value).max().orElse(Double.NaN);
    return (most - results().mapToDouble(value).min().orElse(Double.NaN)) / 2;
  }

  /** Hit rate, and mean and 99th percentile of the time to the first token with their spreads. */
  String text() {
    return String.format(
        Locale.ROOT,
        "%.3f / %s / %s%s",
        mean(StudyResult::hitRate),
        millis(StudyResult::meanMs),
        millis(StudyResult::p99Ms),
        failed() == 0 ? "" : " (" + failed() + " failed)");
  }

  long failed() {
    return results().mapToLong(StudyResult::failed).sum();
  }

  private String millis(ToDoubleFunction<StudyResult> value) {
    return runs.size() == 1
        ? String.format(Locale.ROOT, "%.0f", mean(value))
        : String.format(Locale.ROOT, "%.0f±%.0f", mean(value), spread(value));
  }
}
