package dev.warmpath.prompt;

import java.util.Locale;

/** How faithfully a {@link Prompt} stands for what the engine will compute. */
public enum Exactness {
  /** Rendered and tokenized as the engine does: token ids and block hashes are the engine's own. */
  EXACT,
  /**
   * The text is known, its tokens are estimated: compared byte by byte, never with engine hashes.
   */
  ESTIMATED,
  /** The body says nothing of a prompt: routed on load alone. */
  OPAQUE;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** The lower-case name used in JSON. */
  public String label() {
    return label;
  }
}
