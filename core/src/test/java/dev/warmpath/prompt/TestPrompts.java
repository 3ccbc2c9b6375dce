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

  /** A prompt with these bytes, apart from those of other namespaces. */
  public static Prompt inNamespace(String namespace, byte[] bytes) {
    return new Prompt.Builder()
        .namespace(namespace)
        .bytes(() -> bytes)
        .tokens(bytes.length / Prompt.BYTES_PER_TOKEN)
        .build();
  }
}
