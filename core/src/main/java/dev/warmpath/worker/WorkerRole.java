package dev.warmpath.worker;

import java.util.Locale;

/** Which part of a request a worker computes. */
public enum WorkerRole {
  /** Prefill and decode both: an ordinary worker. */
  REGULAR,
  /** Prefill only, handing its KV cache to a decode worker. */
  PREFILL,
  /** Decode only, fed by a prefill worker. */
  DECODE;

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
  public static WorkerRole parse(String name) {
    for (WorkerRole role : values()) {
      if (role.label().equals(name.toLowerCase(Locale.ROOT))) {
        return role;
      }
    }
    throw new IllegalArgumentException(
        "unknown role '" + name + "': use one of regular, prefill, decode");
  }
}
