package dev.warmpath.api;

import org.jspecify.annotations.Nullable;

/** A stream broke after its first byte had been delivered, so it can't be sent again. */
public final class StreamInterruptedException extends RouterException {
  private static final long serialVersionUID = 1L;

  private final String worker;
  private final int status;

  /**
   * Creates the error.
   *
   * @param worker the worker that broke off
   * @param status the status an error event carried, or 0
   * @param message what happened, without payload
   */
  public StreamInterruptedException(
      String worker, int status, String message, @Nullable Throwable cause) {
    super("stream from " + worker + " broke: " + message, cause);
    this.worker = worker;
    this.status = status;
  }

  /** The worker that broke off. */
  public String worker() {
    return worker;
  }

  /** The status an error event carried, or 0. */
  public int status() {
    return status;
  }
}
