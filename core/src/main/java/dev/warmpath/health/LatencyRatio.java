package dev.warmpath.health;

/** How much slower than its like a rank is for this client. */
final class LatencyRatio {
  /** Requests before its average is believed: the first ones compile, or meet a cold cache. */
  private static final int ENOUGH = 16;

  /** How long an average is believed that no request confirms. */
  private static final long BELIEVED_NANOS = 60_000_000_000L;

  /** A gap below this is no trouble, however many times the fleet's latency it is. */
  private static final double LEAST_GAP_MILLIS = 250;

  private LatencyRatio() {}

  /** Times the median of its like; NaN where either is unknown. */
  static double of(RankState state, double fleetMillis, long nowNanos) {
    double millis = state.quickMillis();
    long used = state.lastSuccessNanos();
    if (Double.isNaN(fleetMillis)
        || Double.isNaN(millis)
        || state.successes() < ENOUGH
        || used == RankState.NEVER
        || nowNanos - used > BELIEVED_NANOS) {
      return Double.NaN;
    }
    return millis - fleetMillis < LEAST_GAP_MILLIS ? 1 : millis / Math.max(1, fleetMillis);
  }
}
