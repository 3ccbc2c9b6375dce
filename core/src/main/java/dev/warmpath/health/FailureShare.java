package dev.warmpath.health;

/**
 * The share of this client's late requests to a rank that failed, where late ones count more. Not
 * thread safe.
 */
final class FailureShare {
  private static final double HALF_LIFE_NANOS = 15e9;

  /** Successes that are taken for granted, so that one failure of one request is not all. */
  private static final double TRUST = 5;

  private final RankState state;
  private int seenFailures;
  private int seenSuccesses;
  private double failures;
  private double successes;
  private long lastNanos;

  FailureShare(RankState state, long nowNanos) {
    this.state = state;
    this.seenFailures = state.failures();
    this.seenSuccesses = state.successes();
    this.lastNanos = nowNanos;
  }

  double signal(long nowNanos) {
    double fade = Math.pow(0.5, (nowNanos - lastNanos) / HALF_LIFE_NANOS);
    lastNanos = nowNanos;
    int failed = state.failures();
    int succeeded = state.successes();
    failures = fade * failures + (failed - seenFailures);
    successes = fade * successes + (succeeded - seenSuccesses);
    seenFailures = failed;
    seenSuccesses = succeeded;
    return failures / (failures + successes + TRUST);
  }
}
