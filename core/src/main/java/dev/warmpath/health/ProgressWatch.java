package dev.warmpath.health;

import dev.warmpath.transport.RankLoad;

/** For how long a rank has run requests without its token figures moving. Not thread safe. */
final class ProgressWatch {
  private static final double NANOS_PER_SECOND = 1e9;

  private boolean begun;
  private double[] figures = {};
  private long movedNanos;

  /**
   * Takes a reading.
   *
   * @param count the worker's counters in sum, or NaN
   * @param signNanos when a request of this client last had a sign of life there, or {@link
   *     RankState#NEVER}
   * @return seconds; NaN where the telemetry has no figures that tokens would move
   */
  double reading(RankLoad load, double count, long signNanos, long nowNanos) {
    double[] latest = {
      load.usedTokens(), load.tokenUsage(), load.generationTokensPerSecond(), count
    };
    boolean moved = !begun || !(load.runningRequests() > 0);
    boolean known = false;
    for (int i = 0; i < latest.length; i++) {
      known |= !Double.isNaN(latest[i]);
      moved |= begun && Double.compare(latest[i], figures[i]) != 0;
    }
    begun = true;
    figures = latest;
    if (moved) {
      movedNanos = nowNanos;
    }
    if (signNanos != RankState.NEVER && signNanos - movedNanos > 0) {
      movedNanos = signNanos;
    }
    return known ? (nowNanos - movedNanos) / NANOS_PER_SECOND : Double.NaN;
  }
}
