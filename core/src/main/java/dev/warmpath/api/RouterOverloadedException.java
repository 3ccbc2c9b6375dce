package dev.warmpath.api;

import java.time.Duration;

/**
 * The fleet is saturated and the request could not wait: the admission queue is full, or its place
 * came too late.
 */
public final class RouterOverloadedException extends RouterException {
  private static final long serialVersionUID = 1L;

  private final Duration retryAfter;

  /** Creates the error; {@code retryAfter} is when another try has a chance. */
  public RouterOverloadedException(String message, Duration retryAfter) {
    super(message + "; retry after " + retryAfter.toMillis() + " ms", null);
    this.retryAfter = retryAfter;
  }

  /** When another try has a chance. */
  public Duration retryAfter() {
    return retryAfter;
  }
}
