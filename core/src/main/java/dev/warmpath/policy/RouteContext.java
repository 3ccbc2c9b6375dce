package dev.warmpath.policy;

import dev.warmpath.api.RouteOptions;
import dev.warmpath.health.FleetView;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.worker.CandidateSet;

/**
 * All a policy may read for one decision. Reading changes nothing, but for the round-robin turn,
 * which a real decision takes and a rehearsal ({@code explain}) only looks at.
 */
public final class RouteContext {
  private final FleetView fleet;
  private final CandidateSet candidates;
  private final Prompt prompt;
  private final RouteOptions options;
  private final long nowNanos;
  private final long seed;

  /**
   * Creates a context.
   *
   * @param fleet the workers and their live state
   * @param candidates who may serve the request
   * @param prompt what is asked
   * @param options how it wants to be routed, headers resolved
   * @param nowNanos the ticker's time of the decision
   * @param seed this decision's chance: equal seeds and state give equal plans
   */
  public RouteContext(
      FleetView fleet,
      CandidateSet candidates,
      Prompt prompt,
      RouteOptions options,
      long nowNanos,
      long seed) {
    this.fleet = fleet;
    this.candidates = candidates;
    this.prompt = prompt;
    this.options = options;
    this.nowNanos = nowNanos;
    this.seed = seed;
  }

  /** The workers and their live state. */
  public FleetView fleet() {
    return fleet;
  }

  /** Who may serve the request. */
  public CandidateSet candidates() {
    return candidates;
  }

  /** What is asked. */
  public Prompt prompt() {
    return prompt;
  }

  /** How it wants to be routed. */
  public RouteOptions options() {
    return options;
  }

  /** The ticker's time of the decision. */
  public long nowNanos() {
    return nowNanos;
  }

  /** This decision's chance. */
  public long seed() {
    return seed;
  }
}
