package dev.warmpath;

import dev.warmpath.policy.PolicySwitch;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * What to reach for when routing itself is suspected, at run time and without a restart: plain
 * round robin, one fallback address for everything, or only a share of the traffic under the
 * policy. Requests that are on their way stay where they are. Thread safe.
 */
public final class EscapeHatch {
  private static final String SOURCE = "fallback";

  private final PolicySwitch policies;
  private final WorkerRegistry registry;
  private final Set<String> schemes;
  private final UnaryOperator<WorkerSpec> keyed;

  EscapeHatch(
      PolicySwitch policies,
      WorkerRegistry registry,
      Set<String> schemes,
      UnaryOperator<WorkerSpec> keyed) {
    this.policies = policies;
    this.registry = registry;
    this.schemes = schemes;
    this.keyed = keyed;
  }

  /** Sends every request by plain round robin over the workers, until {@link #restore}. */
  public synchronized void roundRobin() {
    policies.roundRobin();
    registry.replace(SOURCE, List.of());
  }

  /**
   * Sends every request to one address, such as a gateway's or a model provider's, until {@link
   * #restore}; requests that prefill and decode workers would have shared, too. It is a worker like
   * others meanwhile, with the client's keys where its own form names none.
   *
   * @param worker its one-line form: a URL, optionally with {@code ;engine=} and so on
   * @throws IllegalArgumentException saying what to correct
   */
  public synchronized void fallback(String worker) {
    WorkerSpec spec = keyed.apply(WorkerSpec.parse(worker));
    if (!schemes.contains(spec.id().scheme())) {
      throw new IllegalArgumentException(
          "no transport carries " + spec.id().scheme() + ": use one of " + schemes);
    }
    registry.replace(SOURCE, List.of(spec));
    policies.fallback(spec.id());
  }

  /** Lets the configured policy decide again. */
  public synchronized void restore() {
    policies.restore();
    registry.replace(SOURCE, List.of());
  }

  /** How much the policy decides, what shadow decisions came to, what affinity is left to place. */
  public PolicySwitch policies() {
    return policies;
  }
}
