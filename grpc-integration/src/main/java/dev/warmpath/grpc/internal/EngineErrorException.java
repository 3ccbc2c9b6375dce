package dev.warmpath.grpc.internal;

/** An engine reports inside its answer that it failed. */
public final class EngineErrorException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String reason;

  /**
   * Creates the error.
   *
   * @param status the HTTP status it amounts to
   */
  public EngineErrorException(int status, String reason) {
    super(reason);
    this.status = status;
    this.reason = reason;
  }

  /** What happened, in a few words. */
  public String reason() {
    return reason;
  }

  /** The HTTP status it amounts to. */
  public int status() {
    return status;
  }
}
