package dev.warmpath.fake.internal.surface;

/** A prefill worker does not let a decode worker join, for a reason that is decode's to tell. */
final class HandoffRefused extends Exception {
  private static final long serialVersionUID = 1;
  private final int status;

  HandoffRefused(int status, String message) {
    super(message, null, false, false);
    this.status = status;
  }

  int status() {
    return status;
  }

  String text() {
    return String.valueOf(getMessage());
  }
}
