package dev.warmpath.fake.lab;

import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RoutingPolicy;
import java.util.List;

/**
 * A policy that takes part in a comparison: one of the product's, or the lab's oracle.
 *
 * @param name the name the result goes under
 * @param variants what is run, of which the best counts: one for a policy, several for the oracle
 */
record LabPolicy(String name, List<Maker> variants) {
  LabPolicy {
    variants = List.copyOf(variants);
  }

  /** Makes the policy of one run. */
  @FunctionalInterface
  interface Maker {
    /**
     * Makes it.
     *
     * @param network the run's, for a policy that may look into it: no real one
     */
    RoutingPolicy make(LabNetwork network, LabSettings settings);
  }

  /** A policy of one variant. */
  static LabPolicy of(String name, Maker maker) {
    return new LabPolicy(name, List.of(maker));
  }

  /**
   * Reads a name: {@code oracle}, or what {@link Policies#parse} reads.
   *
   * @throws IllegalArgumentException naming the policies that are known
   */
  static LabPolicy parse(String name) {
    if (name.equals(Oracle.NAME)) {
      return new LabPolicy(name, Oracle.WEIGHTS.stream().map(LabPolicy::oracle).toList());
    }
    try {
      RoutingPolicy policy = Policies.parse(name);
      return of(name, (network, settings) -> policy);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(e.getMessage() + ", or " + Oracle.NAME, e);
    }
  }

  private static Maker oracle(double weight) {
    return (network, settings) ->
        new Oracle(network, settings.timing(), settings.core().maxNumBatchedTokens(), weight)
            .policy();
  }
}
