package dev.warmpath.okhttp;

import dev.warmpath.api.FailurePhase;
import java.net.Socket;
import org.jspecify.annotations.Nullable;

/**
 * How far one exchange has come; tags its OkHttp call. Written by the call's thread, read by any.
 */
final class ExchangeProgress {
  private final long deadlineNanos;
  private final @Nullable Connects connects;
  private final long openedNanos = System.nanoTime();
  private volatile FailurePhase phase;
  private volatile boolean watched;
  private volatile boolean pooled;
  private volatile boolean cancelled;
  private volatile @Nullable Socket socket;

  private ExchangeProgress(long deadlineNanos, @Nullable Connects connects, FailurePhase phase) {
    this.deadlineNanos = deadlineNanos;
    this.connects = connects;
    this.phase = phase;
  }

  /**
   * Starts an exchange over a client that has a {@link ConnectionWatch}.
   *
   * @param deadlineNanos {@link System#nanoTime} of the request's deadline; {@link Long#MAX_VALUE}
   *     for none
   * @param connects counts the connection if one is made
   */
  static ExchangeProgress watched(long deadlineNanos, Connects connects) {
    return new ExchangeProgress(deadlineNanos, connects, FailurePhase.CONNECT);
  }

  /**
   * Starts an exchange over a client that may have no {@link ConnectionWatch}: whether a connection
   * was had then shows in the failure only.
   *
   * @param deadlineNanos as above
   */
  static ExchangeProgress unwatched(long deadlineNanos) {
    return new ExchangeProgress(deadlineNanos, null, FailurePhase.AWAIT_HEADERS);
  }

  /** There is a connection; {@code pooled} when it has carried an exchange before. */
  void connected(boolean pooled) {
    this.pooled = pooled;
    watched = true;
    phase = FailurePhase.AWAIT_HEADERS;
    if (connects != null && !pooled) {
      connects.made(System.nanoTime() - openedNanos);
    }
  }

  /** Whether a watch has seen its connection. */
  boolean connected() {
    return watched;
  }

  /**
   * Sets what carries it alone, so that closing it ends the exchange and leaves its call as it is;
   * null where nothing does any more.
   */
  void alone(@Nullable Socket socket) {
    this.socket = socket;
  }

  /** The connection that carries nothing else; null where none is had, or others share it. */
  @Nullable Socket socket() {
    return socket;
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

  /**
   * Whether the connection had carried an exchange before: seen by the watch, or, without one,
   * taken to be so, since a fresh connection that closes without a byte is rare and a replay on the
   * same worker costs little.
   */
  boolean pooled() {
    return watched ? pooled : phase == FailurePhase.AWAIT_HEADERS;
  }

  boolean cancelled() {
    return cancelled;
  }

  boolean deadlinePassed() {
    return deadlineNanos != Long.MAX_VALUE && System.nanoTime() - deadlineNanos >= 0;
  }
}
