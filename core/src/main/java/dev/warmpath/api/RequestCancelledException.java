package dev.warmpath.api;

/**
 * The application cancelled the request: it closed the stream, cancelled the future, or interrupted
 * the thread.
 */
public final class RequestCancelledException extends RouterException {
  private static final long serialVersionUID = 1L;

  /** Creates the error. */
  public RequestCancelledException(String message) {
    super(message, null);
  }
}
