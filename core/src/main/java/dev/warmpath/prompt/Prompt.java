package dev.warmpath.prompt;

import org.jspecify.annotations.Nullable;

/**
 * What routing needs of a request's body. Holds the prompt's text as bytes in the order in which
 * engines lay it out (tools, then messages), so that two requests share a prefix of these bytes
 * where their prompts share a prefix. Immutable; never logged.
 */
public final class Prompt {
  /** Bytes per token assumed where no tokenizer is at hand. */
  public static final int BYTES_PER_TOKEN = 4;

  private final @Nullable String model;
  private final boolean stream;
  private final String namespace;
  private final byte[] bytes;
  private final int tokens;
  private final Exactness exactness;
  private final @Nullable String requestId;
  private final boolean single;

  Prompt(
      @Nullable String model,
      boolean stream,
      String namespace,
      byte[] bytes,
      int tokens,
      Exactness exactness,
      @Nullable String requestId,
      boolean single) {
    this.model = model;
    this.stream = stream;
    this.namespace = namespace;
    this.bytes = bytes;
    this.tokens = tokens;
    this.exactness = exactness;
    this.requestId = requestId;
    this.single = single;
  }

  /** The model or LoRA adapter the request names, or null. */
  public @Nullable String model() {
    return model;
  }

  /** Whether the body asks for a stream. */
  public boolean stream() {
    return stream;
  }

  /**
   * Separates what must never be compared: model (or LoRA adapter), cache salt and extra key.
   * Prompts of different namespaces share nothing.
   */
  public String namespace() {
    return namespace;
  }

  /** The prompt's text; empty where it is opaque. Not to be changed. */
  public byte[] bytes() {
    return bytes;
  }

  /** Its tokens, estimated unless {@link #exactness()} is exact. */
  public int tokens() {
    return tokens;
  }

  /** How faithful it is. */
  public Exactness exactness() {
    return exactness;
  }

  /** The request id that the body itself carries ({@code rid}), or null. */
  public @Nullable String requestId() {
    return requestId;
  }

  /**
   * Whether the body is one generation: known to be neither a batch of prompts nor {@code n > 1}.
   */
  public boolean single() {
    return single;
  }

  /** Sizes only: never the text. */
  @Override
  public String toString() {
    return "Prompt[" + bytes.length + " bytes, " + tokens + " tokens, " + exactness.label() + "]";
  }
}
