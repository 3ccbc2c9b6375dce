package dev.warmpath.grpc.internal;

import dev.warmpath.transport.PromptTokens;
import org.jspecify.annotations.Nullable;

/** Words for what a service can't carry. */
final class Refusals {
  private final String service;

  Refusals(String service) {
    this.service = service;
  }

  /** Refuses a part of a request unless all is well. */
  void unless(boolean fine, String part) throws InexpressibleException {
    if (!fine) {
      throw new InexpressibleException(
          part + " can't be carried by " + service + ": leave it out, or use an HTTP worker");
    }
  }

  /**
   * The prompt's tokens.
   *
   * @param reason why there are none, where it is known
   */
  static PromptTokens tokens(@Nullable PromptTokens tokens, @Nullable String reason)
      throws InexpressibleException {
    if (tokens == null) {
      throw new InexpressibleException(
          "its gRPC service takes token ids, and "
              + (reason == null ? "the prompt has none" : reason)
              + "; an HTTP worker takes text");
    }
    return tokens;
  }
}
