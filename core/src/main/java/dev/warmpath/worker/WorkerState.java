package dev.warmpath.worker;

import java.util.Locale;

/**
 * Whether a worker takes new requests. Health is not told here: see {@code dev.warmpath.health}.
 */
public enum WorkerState {
  /** Takes new requests. */
  ACTIVE,
  /** Finishes what it has and takes nothing new. */
  DRAINING;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** The lower-case name used in JSON. */
  public String label() {
    return label;
  }
}
