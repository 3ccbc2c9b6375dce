package dev.warmpath.transport;

import dev.warmpath.api.FailurePhase;
import org.jspecify.annotations.Nullable;

/** An exchange failed below HTTP semantics: no usable response, or a response that broke. */
public final class TransportException extends Exception {
  private static final long serialVersionUID = 1L;

  /** What happened. */
  public enum Kind {
    /** The connection could not be made: refused, unreachable, name not found, TLS failure. */
    CONNECT,
    /**
     * A pooled connection turned out to be closed before a byte of the response: the worker may
     * never have seen it.
     */
    STALE_CONNECTION,
    /** The connection broke. */
    RESET,
    /** Nothing of the response body came before the first-token deadline. */
    FIRST_TOKEN_TIMEOUT,
    /** The stream fell silent beyond the inter-token deadline. */
    IDLE_TIMEOUT,
    /** The deadline of the whole request passed. */
    DEADLINE,
    /**
     * What arrived is not what the protocol allows; a stream without its end marker is this too.
     */
    PROTOCOL,
    /** The worker reported an error inside a stream that had begun with success. */
    STREAM_ERROR,
    /** The caller cancelled. */
    CANCELLED
  }

  private final Kind kind;
  private final FailurePhase phase;
  private final int status;
  private final @Nullable String said;

  /**
   * Creates the error.
   *
   * @param kind what happened
   * @param phase how far the exchange had come
   * @param status the status an error event carried, or 0
   * @param message in a few words, without payload
   */
  public TransportException(
      Kind kind, FailurePhase phase, int status, String message, @Nullable Throwable cause) {
    this(kind, phase, status, message, null, cause);
  }

  private TransportException(
      Kind kind,
      FailurePhase phase,
      int status,
      String message,
      @Nullable String said,
      @Nullable Throwable cause) {
    super(message, cause);
    this.kind = kind;
    this.phase = phase;
    this.status = status;
    this.said = said;
  }

  /**
   * Creates the error of a worker that reported one in its stream.
   *
   * @param status the status that it carried, or 0
   * @param said the worker's own words, which may quote the request
   */
  public static TransportException reported(FailurePhase phase, int status, String said) {
    return new TransportException(
        Kind.STREAM_ERROR, phase, status, "the worker reported an error in the stream", said, null);
  }

  /** What happened. */
  public Kind kind() {
    return kind;
  }

  /** How far the exchange had come. */
  public FailurePhase phase() {
    return phase;
  }

  /** The status an error event carried, or 0. */
  public int status() {
    return status;
  }

  /**
   * What the worker said of its error, by which it is told whose fault it was; null where it said
   * nothing. It may quote the request: never log it.
   */
  public @Nullable String said() {
    return said;
  }
}
