package dev.warmpath.fake.wire;

import java.util.Locale;

/** What part of a request a worker computes. */
public enum FakeRole {
  /** Everything. */
  REGULAR,
  /** Prompts; its decode time is zero, since the first token belongs to the prefill pass. */
  PREFILL,
  /** Generated tokens; its prefill time is zero, since the prompt's KV arrives from elsewhere. */
  DECODE;

  /**
   * Parses a name.
   *
   * @param name {@code regular}, {@code prefill} or {@code decode}, in any case
   * @return the role
   * @throws IllegalArgumentException if it is none of these
   */
  public static FakeRole parse(String name) {
    try {
      return valueOf(name.strip().toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "unknown role '" + name + "': expected regular, prefill or decode", e);
    }
  }
}
