package dev.warmpath.knowledge;

/** A call to the control plane that can't be carried out as it is. */
final class InvalidCallException extends Exception {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String field;

  /**
   * Creates the error.
   *
   * @param status the status to answer with
   * @param field the field of the body that is at fault; empty for the body itself
   */
  InvalidCallException(int status, String field, String message) {
    super(message);
    this.status = status;
    this.field = field;
  }

  int status() {
    return status;
  }

  String field() {
    return field;
  }
}
