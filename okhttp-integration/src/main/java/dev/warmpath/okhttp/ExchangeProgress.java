package dev.warmpath.okhttp;

import dev.warmpath.api.FailurePhase;

/**
 * How far one exchange has come; tags its OkHttp call. Written by the call's thread, read by any.
 */
final class ExchangeProgress {
  private final long deadlineNanos;
  private volatile FailurePhase phase = FailurePhase.CONNECT;
  private volatile boolean pooled;
  private volatile boolean cancelled;

  /**
   * Starts an exchange.
   *
   * @param deadlineNanos {@link System#nanoTime} of the request's deadline; {@link Long#MAX_VALUE}
   *     for none
   */
  ExchangeProgress(long deadlineNanos) {
    this.deadlineNanos = deadlineNanos;
  }

  /** There is a connection; {@code pooled} when it has carried an exchange before. */
  void connected(boolean pooled) {
    this.pooled = pooled;
    phase = FailurePhase.AWAIT_HEADERS;
  }

  /** The headers arrived. */
  void headersArrived() {
    phase = FailurePhase.AWAIT_FIRST_BYTE;
  }

  /** A byte of the body arrived. */
  void bodyBegan() {
    phase = FailurePhase.BODY;
  }

  /** The caller cancelled. */
  void cancel() {
    cancelled = true;
  }

  FailurePhase phase() {
    return phase;
  }

  /** Whether the worker may know of the request. */
  boolean reachedWorker() {
    return phase != FailurePhase.CONNECT;
  }

  boolean pooled() {
    return pooled;
  }

  boolean cancelled() {
    return cancelled;
  }

  boolean deadlinePassed() {
    return deadlineNanos != Long.MAX_VALUE && System.nanoTime() - deadlineNanos >= 0;
  }
}
