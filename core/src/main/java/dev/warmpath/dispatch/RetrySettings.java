package dev.warmpath.dispatch;

import java.time.Duration;

/**
 * When a failed attempt is followed by another. Retried are connect errors, broken connections,
 * silence before the first token, and the statuses 408, 429, 500, 502, 503, 504 and 529, as long as
 * no byte has reached the caller.
 *
 * @param maxAttempts attempts of one request in all, the first included
 * @param budgetRatio retries allowed per request over time: 0.2 lets a fleet-wide failure grow the
 *     load by a fifth at most, once the reserve is spent
 * @param budgetReserve retries saved up for a burst, such as a worker that dies with many requests
 *     in flight
 * @param baseBackoff wait before the second attempt; doubles with each further one
 * @param maxBackoff longest wait
 * @param maxRetryAfter longest {@code Retry-After} that is waited for; a longer one ends the
 *     request as overloaded
 */
public record RetrySettings(
    int maxAttempts,
    double budgetRatio,
    int budgetReserve,
    Duration baseBackoff,
    Duration maxBackoff,
    Duration maxRetryAfter) {

  /**
   * 4 attempts, a budget of 0.2 with a reserve of 100, 20 ms doubling to 1 s, {@code Retry-After}
   * up to 10 s.
   */
  public static final RetrySettings DEFAULT =
      new RetrySettings(
          4, 0.2, 100, Duration.ofMillis(20), Duration.ofSeconds(1), Duration.ofSeconds(10));

  /** Checks the ranges. */
  public RetrySettings {
    if (maxAttempts < 1) {
      throw new IllegalArgumentException("maxAttempts " + maxAttempts + " must be at least 1");
    }
    if (!(budgetRatio >= 0) || budgetReserve < 0) {
      throw new IllegalArgumentException("the retry budget must not be negative");
    }
    if (baseBackoff.isNegative() || maxBackoff.isNegative() || maxRetryAfter.isNegative()) {
      throw new IllegalArgumentException("waits must not be negative");
    }
  }

  /** Never retries. */
  public static RetrySettings none() {
    return new RetrySettings(1, 0, 0, Duration.ZERO, Duration.ZERO, Duration.ZERO);
  }
}
