package dev.warmpath.prompt;

/**
 * A request can't be rendered as its engine will. Says why in words that hold no text of the
 * prompt.
 */
final class NotExactException extends Exception {
  private static final long serialVersionUID = 1L;

  NotExactException(String reason) {
    super(reason, null, false, false);
  }

  String reason() {
    return String.valueOf(getMessage());
  }
}
