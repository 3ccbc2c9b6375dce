package dev.warmpath.prompt.tokenizer;

import org.jspecify.annotations.Nullable;

/**
 * A tokenizer can't be loaded: its files are missing or broken, or they ask for something that this
 * implementation does not do exactly.
 */
public final class TokenizerLoadException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception.
   *
   * @param message what is wrong, and with which file
   */
  public TokenizerLoadException(String message) {
    super(message);
  }

  /**
   * An exception with a cause.
   *
   * @param message what is wrong, and with which file
   * @param cause what was thrown first
   */
  public TokenizerLoadException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
