package dev.warmpath.api;

/** The client is closed, or closing and taking nothing new. */
public final class RouterClosedException extends RouterException {
  private static final long serialVersionUID = 1L;

  /** Creates the error. */
  public RouterClosedException() {
    super("the router client is closed", null);
  }
}
