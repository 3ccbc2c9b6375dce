package dev.warmpath.dispatch;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.transport.TransportException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Why an attempt failed, and what follows from it.
 *
 * @param blame what it says of the worker
 * @param retryable whether another attempt may help, as long as no byte has reached the caller
 * @param phase how far the attempt had come
 * @param status the status, or 0
 * @param error a few words, without payload
 * @param retryAfter how long the worker asked to be left alone, or null
 * @param stale whether a pooled connection was closed under a request of which the worker saw
 *     nothing
 * @param cause the transport's error, or null
 */
record Failure(
    Blame blame,
    boolean retryable,
    FailurePhase phase,
    int status,
    String error,
    @Nullable Duration retryAfter,
    boolean stale,
    @Nullable Throwable cause) {

  /** What a failure says of the worker. */
  enum Blame {
    /** It is broken: counts against its breaker. */
    BROKEN,
    /** It is busy, or the fault is not its own: counts neither way. */
    NONE
  }

  /** Reads an error status; 2xx and 3xx are no failures. */
  static Failure ofStatus(int status, @Nullable Duration retryAfter) {
    boolean busy = status == 429 || status == 529 || (status == 503 && retryAfter != null);
    boolean retryable =
        switch (status) {
          case 408, 429, 500, 502, 503, 504, 529 -> true;
          default -> false;
        };
    boolean broken = status >= 500 && !busy;
    return new Failure(
        broken ? Blame.BROKEN : Blame.NONE,
        retryable,
        FailurePhase.STATUS,
        status,
        busy ? "busy" : "status " + status,
        busy ? retryAfter : null,
        false,
        null);
  }

  /** Reads a transport's error. */
  static Failure of(TransportException error) {
    if (error.kind() == TransportException.Kind.STREAM_ERROR && error.status() > 0) {
      Failure status = ofStatus(error.status(), null);
      return new Failure(
          status.blame,
          status.retryable,
          error.phase(),
          error.status(),
          "error event with status " + error.status(),
          null,
          false,
          error);
    }
    return switch (error.kind()) {
      case CANCELLED, DEADLINE ->
          new Failure(
              Blame.NONE, false, error.phase(), error.status(), word(error), null, false, error);
      case STALE_CONNECTION ->
          new Failure(
              Blame.NONE, true, error.phase(), error.status(), word(error), null, true, error);
      case CONNECT, RESET, FIRST_TOKEN_TIMEOUT, IDLE_TIMEOUT, PROTOCOL, STREAM_ERROR ->
          new Failure(
              Blame.BROKEN, true, error.phase(), error.status(), word(error), null, false, error);
    };
  }

  private static String word(TransportException error) {
    String message = error.getMessage();
    return message != null
        ? message
        : error.kind().name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ');
  }

  /** Whether the caller cancelled. */
  boolean cancelled() {
    return cause instanceof TransportException error
        && error.kind() == TransportException.Kind.CANCELLED;
  }

  /** Whether the request's own deadline passed. */
  boolean deadline() {
    return cause instanceof TransportException error
        && error.kind() == TransportException.Kind.DEADLINE;
  }
}
