package dev.warmpath.prompt;

import org.jspecify.annotations.Nullable;

/** A model's files can't be used: one is missing, broken, or holds a template that fails. */
public final class ModelFilesException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ModelFilesException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
