package dev.warmpath.dispatch;

import java.time.Duration;

/**
 * When a worker that fails requests is set aside. Busy answers (429, 529, 503 with {@code
 * Retry-After}) and client errors count neither way.
 *
 * @param window how far back outcomes count
 * @param minimumFailures failures within the window before the rate is looked at
 * @param failureRate share of failed requests within the window that opens the breaker, 0..1
 * @param openFor how long it stays open the first time; doubles each time its test fails
 * @param maxOpenFor longest it stays open
 * @param halfOpenProbes requests that test a worker at once after that
 */
public record BreakerSettings(
    Duration window,
    int minimumFailures,
    double failureRate,
    Duration openFor,
    Duration maxOpenFor,
    int halfOpenProbes) {

  /** 10 s window, 5 failures and half of the requests, open for 2 s up to 30 s, one probe. */
  public static final BreakerSettings DEFAULT =
      new BreakerSettings(
          Duration.ofSeconds(10), 5, 0.5, Duration.ofSeconds(2), Duration.ofSeconds(30), 1);

  /** Checks the ranges. */
  public BreakerSettings {
    if (window.isNegative() || window.isZero() || minimumFailures < 1 || halfOpenProbes < 1) {
      throw new IllegalArgumentException(
          "a breaker needs a positive window, minimumFailures and halfOpenProbes");
    }
    if (!(failureRate > 0 && failureRate <= 1)) {
      throw new IllegalArgumentException("failureRate " + failureRate + " must be in (0, 1]");
    }
    if (openFor.isNegative() || maxOpenFor.compareTo(openFor) < 0) {
      throw new IllegalArgumentException("openFor must be between 0 and maxOpenFor");
    }
  }
}
