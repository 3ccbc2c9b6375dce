package dev.warmpath.grpc.internal;

/** A request that a gRPC service has no words for; the message says which part, and what to do. */
public final class InexpressibleException extends Exception {
  private static final long serialVersionUID = 1L;

  private final String reason;

  /** Creates the error. */
  public InexpressibleException(String reason) {
    super(reason);
    this.reason = reason;
  }

  /** Which part, and what to do. */
  public String reason() {
    return reason;
  }
}
