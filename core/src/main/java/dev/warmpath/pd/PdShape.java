package dev.warmpath.pd;

import java.util.Locale;

/** The order in which a protocol's two legs are sent. */
enum PdShape {
  /** Both at once: they find each other by a key, and either would wait for the other. */
  CONCURRENT,
  /** Prefill to its end, whose answer tells decode where the KV is. */
  SEQUENTIAL;

  /** The lower-case name used in labels. */
  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
