package dev.warmpath.fake.text;

/** A chat that the model's template refuses. */
public final class PromptRejectedException extends Exception {
  private static final long serialVersionUID = 1L;

  /**
   * Creates an exception.
   *
   * @param message what the engine tells its client
   */
  public PromptRejectedException(String message) {
    super(message);
  }
}
