package dev.warmpath.fake.wire;

import java.util.Locale;

/** The engines that can be imitated. */
public enum FakeKind {
  /** SGLang, around v0.5.18. */
  SGLANG("sglang", 64),
  /** vLLM's OpenAI server, around v0.19 and later. */
  VLLM("vllm", 64),
  /** ROCm ATOM's own OpenAI server. */
  ATOM("atom", 16);

  private final String id;
  private final int defaultBlockSize;

  FakeKind(String id, int defaultBlockSize) {
    this.id = id;
    this.defaultBlockSize = defaultBlockSize;
  }

  /**
   * Returns the name the engine gives itself in {@code owned_by}.
   *
   * @return lower-case name
   */
  public String id() {
    return id;
  }

  /**
   * Returns the block size of a fake of this kind when none is set. SGLang's own default is pages of
   * one token; 64 is usual with its hierarchical cache and keeps a simulated pool small.
   *
   * @return tokens
   */
  public int defaultBlockSize() {
    return defaultBlockSize;
  }

  /**
   * Parses a name.
   *
   * @param name {@code sglang}, {@code vllm} or {@code atom}, in any case
   * @return the kind
   * @throws IllegalArgumentException if it is none of these
   */
  public static FakeKind parse(String name) {
    for (FakeKind kind : values()) {
      if (kind.id.equals(name.strip().toLowerCase(Locale.ROOT))) {
        return kind;
      }
    }
    throw new IllegalArgumentException(
        "unknown engine '" + name + "': expected sglang, vllm or atom");
  }
}
