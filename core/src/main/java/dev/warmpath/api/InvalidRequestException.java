package dev.warmpath.api;

import org.jspecify.annotations.Nullable;

/**
 * The request can't be understood: malformed JSON on an OpenAI path, or a routing option that makes
 * no sense.
 */
public final class InvalidRequestException extends RouterException {
  private static final long serialVersionUID = 1L;

  /** Creates the error; {@code message} says what to correct. */
  public InvalidRequestException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
