package dev.warmpath.transport;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One reading of a worker's load.
 *
 * @param ranks what it says of each rank; empty when the telemetry is switched off
 * @param source the endpoint that gave it, such as {@code /v1/loads}
 * @param incarnation a value that changes when the worker restarts (a start time, a boot id), or
 *     null
 * @param monotonicCount a sum of counters that only a restart makes smaller, or NaN
 */
public record LoadReport(
    List<RankLoad> ranks, String source, @Nullable String incarnation, double monotonicCount) {
  /** Copies {@code ranks}. */
  public LoadReport {
    ranks = List.copyOf(ranks);
  }
}
