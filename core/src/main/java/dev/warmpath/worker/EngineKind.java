package dev.warmpath.worker;

import java.util.Locale;

/**
 * The inference engine a worker runs: it decides endpoints, telemetry names and how a DP rank is
 * named.
 */
public enum EngineKind {
  /** SGLang. */
  SGLANG,
  /** vLLM. */
  VLLM,
  /** ATOM, AMD's engine for ROCm. */
  ATOM,
  /** Not known (yet): only what all engines share is used. */
  UNKNOWN;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** The lower-case name used in configuration, labels and JSON. */
  public String label() {
    return label;
  }

  /**
   * Reads a configured name, ignoring case.
   *
   * @throws IllegalArgumentException naming the accepted values
   */
  public static EngineKind parse(String name) {
    for (EngineKind kind : values()) {
      if (kind.label().equals(name.toLowerCase(Locale.ROOT))) {
        return kind;
      }
    }
    throw new IllegalArgumentException(
        "unknown engine '" + name + "': use one of sglang, vllm, atom");
  }
}
