package dev.warmpath.hash;

/**
 * The engine's hash of a block depends on something that a client cannot know, such as the identity
 * of Python objects. The prompt has to be routed without engine hashes.
 */
public final class UnreproducibleHashException extends IllegalStateException {

  UnreproducibleHashException(String message) {
    super(message);
  }
}
