package dev.warmpath.config;

/**
 * A configuration that can't be used. The message names the file, the key and what to do; values
 * are not part of it where they could be secrets.
 */
public final class ConfigException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  ConfigException(String message) {
    super(message);
  }

  ConfigException(String message, Throwable cause) {
    super(message, cause);
  }
}
