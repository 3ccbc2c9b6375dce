package dev.warmpath.health;

import dev.warmpath.transport.RankLoad;
import java.util.List;

/**
 * How fast a worker's load is polled: a change of more than a fifth halves the interval, a steady
 * reading doubles it, idleness takes it to the longest. Fast while things move, cheap while they
 * don't. Not thread safe.
 */
final class PollPace {
  /** The change, relative to the reading before, beyond which the interval is halved. */
  private static final double CHANGE = 0.2;

  /** Below this KV usage a change of it is measured against this, or 1 % to 2 % would be a leap. */
  private static final double USAGE_SCALE = 0.05;

  private long intervalNanos;
  private double requests = Double.NaN;
  private double usage = Double.NaN;

  /** Starts at the shortest interval. */
  PollPace(long minNanos) {
    this.intervalNanos = minNanos;
  }

  long intervalNanos() {
    return intervalNanos;
  }

  /**
   * Takes a reading.
   *
   * @param ranks what the worker says of its ranks; the whole worker's totals are compared, since
   *     one rank's few requests always change by more than a fifth
   * @param ownInFlight this client's requests there: a worker that has some is not idle, whatever
   *     its telemetry says yet
   */
  void reading(List<RankLoad> ranks, int ownInFlight, long minNanos, long maxNanos) {
    double newRequests =
        ranks.stream().mapToDouble(r -> r.runningRequests() + r.waitingRequests()).sum();
    double newUsage = ranks.stream().mapToDouble(RankLoad::tokenUsage).average().orElse(Double.NaN);
    boolean known = !ranks.isEmpty() && !Double.isNaN(newRequests);
    if (known && newRequests == 0 && ownInFlight == 0) {
      intervalNanos = maxNanos;
    } else if (changed(requests, newRequests, 1) || changed(usage, newUsage, USAGE_SCALE)) {
      intervalNanos /= 2;
    } else {
      intervalNanos *= 2;
    }
    requests = known ? newRequests : Double.NaN;
    usage = newUsage;
    clamp(minNanos, maxNanos);
  }

  /** Takes a poll that failed: it is no sign of change, and a worker in trouble wants rest. */
  void failed(long minNanos, long maxNanos) {
    intervalNanos *= 2;
    clamp(minNanos, maxNanos);
  }

  private void clamp(long minNanos, long maxNanos) {
    intervalNanos = Math.max(minNanos, Math.min(maxNanos, intervalNanos));
  }

  private static boolean changed(double before, double after, double scale) {
    // Against NaN nothing has changed: what is unknown can't move.
    return Math.abs(after - before) > CHANGE * Math.max(Math.abs(before), scale);
  }
}
