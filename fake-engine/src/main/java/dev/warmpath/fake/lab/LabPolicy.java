package dev.warmpath.fake.lab;

import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RoutingPolicy;

/** A policy that takes part in a comparison: one of the product's, or the lab's oracle. */
final class LabPolicy {
  private final String name;

  private LabPolicy(String name) {
    this.name = name;
  }

  /**
   * Reads a name: {@code oracle}, or what {@link Policies#parse} reads.
   *
   * @throws IllegalArgumentException naming the policies that are known
   */
  static LabPolicy parse(String name) {
    if (!name.equals(Oracle.NAME)) {
      try {
        Policies.parse(name);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(e.getMessage() + ", or " + Oracle.NAME, e);
      }
    }
    return new LabPolicy(name);
  }

  String name() {
    return name;
  }

  RoutingPolicy make(LabNetwork network, LabSettings settings) {
    return name.equals(Oracle.NAME)
        ? new Oracle(network, settings.timing(), settings.core().maxNumBatchedTokens()).policy()
        : Policies.parse(name);
  }
}
