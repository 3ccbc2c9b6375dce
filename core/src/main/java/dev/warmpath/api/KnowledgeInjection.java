package dev.warmpath.api;

import java.util.Locale;

/** How a request's knowledge comes to the worker that answers. */
public enum KnowledgeInjection {
  /** As KV where that is estimated to be quicker than computing it, else as text. */
  AUTO,
  /** As text in the prompt. */
  TEXT,
  /** As text in the prompt, whose KV is put where the worker finds it. */
  KV,
  /** Not at all: the application does it itself, and the request is only routed by it. */
  OFF;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** The word used in headers and decisions. */
  public String label() {
    return label;
  }

  /**
   * Reads {@link #label()}.
   *
   * @throws IllegalArgumentException naming the words that are known
   */
  public static KnowledgeInjection of(String label) {
    for (KnowledgeInjection injection : values()) {
      if (injection.label().equals(label.strip().toLowerCase(Locale.ROOT))) {
        return injection;
      }
    }
    throw new IllegalArgumentException("knowledge is injected by auto, text, kv or off");
  }
}
