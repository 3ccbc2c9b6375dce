package dev.warmpath.fake.lab;

import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RoutingPolicy;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A policy that takes part in a comparison: one of the product's, or the lab's oracle. */
final class LabPolicy {
  private final String name;
  private final @Nullable Double weight;

  private LabPolicy(String name, @Nullable Double weight) {
    this.name = name;
    this.weight = weight;
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
    return new LabPolicy(name, null);
  }

  /** What is to be tried for this policy: itself, or the oracle with each of its weights. */
  List<LabPolicy> variants() {
    return name.equals(Oracle.NAME)
        ? Oracle.WEIGHTS.stream().map(each -> new LabPolicy(name, each)).toList()
        : List.of(this);
  }

  String name() {
    return name;
  }

  RoutingPolicy make(LabNetwork network, LabSettings settings) {
    return weight == null
        ? Policies.parse(name)
        : new Oracle(network, settings.timing(), settings.core().maxNumBatchedTokens(), weight)
            .policy();
  }
}
