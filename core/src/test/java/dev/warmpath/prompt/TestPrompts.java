package dev.warmpath.prompt;

import org.jspecify.annotations.Nullable;

/** Prompts without a body to parse. */
public final class TestPrompts {
  private TestPrompts() {}

  /** A prompt of that many tokens and no bytes. */
  public static Prompt ofTokens(int tokens) {
    return of(null, new byte[0], tokens);
  }

  /** A prompt with these bytes. */
  public static Prompt of(@Nullable String model, byte[] bytes, int tokens) {
    return new Prompt.Builder().model(model).bytes(() -> bytes).tokens(tokens).build();
  }
}
