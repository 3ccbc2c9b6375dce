package dev.warmpath.policy;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** Collects the parts of a score, in their order. */
final class Terms {
  private final Map<String, Double> terms = new LinkedHashMap<>();

  private Terms() {}

  static Terms of() {
    return new Terms();
  }

  Terms add(String name, double value) {
    terms.put(name, value + 0.0); // no negative zero
    return this;
  }

  Map<String, Double> map() {
    return Collections.unmodifiableMap(terms);
  }
}
