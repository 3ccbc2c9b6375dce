package dev.warmpath.health;

import java.util.Locale;

/** Whether a rank is believed to answer. */
public enum Availability {
  /** Its last probes passed, or requests it served prove it alive. */
  UP,
  /** Not probed yet: neither good nor bad. */
  UNKNOWN,
  /**
   * It failed requests lately (its circuit breaker is open or testing), or its probes fail and
   * there is nobody else to do its work. A last resort.
   */
  SUSPECT,
  /** Its probes fail, others can do its work. A last resort too, since probes can be wrong. */
  DOWN;

  private final String label = name().toLowerCase(Locale.ROOT);

  /** The lower-case name used in views. */
  public String label() {
    return label;
  }
}
