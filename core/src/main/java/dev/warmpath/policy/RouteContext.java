package dev.warmpath.policy;

import dev.warmpath.api.RouteOptions;
import dev.warmpath.health.FleetView;
import dev.warmpath.health.RankState;
import dev.warmpath.index.BlockLocations;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.WorkerRank;

/**
 * All a policy may read for one decision. Reading changes nothing, but for the round-robin turn,
 * which a real decision takes and a rehearsal ({@code explain}) only looks at.
 */
public final class RouteContext {
  private final FleetView fleet;
  private final CandidateSet candidates;
  private final Prompt prompt;
  private final RouteOptions options;
  private final RoutingEnvironment environment;
  private final long nowNanos;
  private final long seed;
  private final boolean rehearsal;
  private final BlockLocations located;
  private final KnowledgeChoice knowledge;

  /**
   * Creates the context of one decision.
   *
   * @param fleet the workers and their live state
   * @param candidates who may serve the request, of {@code fleet}'s topology
   * @param prompt what is asked
   * @param options how it wants to be routed, headers resolved
   * @param environment what the client's decisions share
   * @param nowNanos the ticker's time of the decision
   * @param seed this decision's chance: equal seeds and state give equal plans
   * @param rehearsal whether nothing will be sent, so that no turn is to be taken
   */
  public RouteContext(
      FleetView fleet,
      CandidateSet candidates,
      Prompt prompt,
      RouteOptions options,
      RoutingEnvironment environment,
      long nowNanos,
      long seed,
      boolean rehearsal) {
    this(
        fleet,
        candidates,
        prompt,
        options,
        environment,
        nowNanos,
        seed,
        rehearsal,
        BlockLocations.NONE);
  }

  /**
   * Creates the context of one decision on a prompt that was looked up.
   *
   * @param located what the look-up told
   */
  public RouteContext(
      FleetView fleet,
      CandidateSet candidates,
      Prompt prompt,
      RouteOptions options,
      RoutingEnvironment environment,
      long nowNanos,
      long seed,
      boolean rehearsal,
      BlockLocations located) {
    this(
        fleet,
        candidates,
        prompt,
        options,
        environment,
        nowNanos,
        seed,
        rehearsal,
        located,
        KnowledgeChoice.NONE);
  }

  private RouteContext(
      FleetView fleet,
      CandidateSet candidates,
      Prompt prompt,
      RouteOptions options,
      RoutingEnvironment environment,
      long nowNanos,
      long seed,
      boolean rehearsal,
      BlockLocations located,
      KnowledgeChoice knowledge) {
    this.fleet = fleet;
    this.candidates = candidates;
    this.prompt = prompt;
    this.options = options;
    this.environment = environment;
    this.nowNanos = nowNanos;
    this.seed = seed;
    this.rehearsal = rehearsal;
    this.located = located;
    this.knowledge = knowledge;
  }

  /** The workers and their live state. */
  public FleetView fleet() {
    return fleet;
  }

  /** Who may serve the request. */
  public CandidateSet candidates() {
    return candidates;
  }

  /** The live state of one of the candidates. */
  public RankState state(WorkerRank candidate) {
    return fleet.state(candidate);
  }

  /** What is asked. */
  public Prompt prompt() {
    return prompt;
  }

  /** How it wants to be routed. */
  public RouteOptions options() {
    return options;
  }

  /** What the client's decisions share. */
  public RoutingEnvironment environment() {
    return environment;
  }

  /** The ticker's time of the decision. */
  public long nowNanos() {
    return nowNanos;
  }

  /** This decision's chance. */
  public long seed() {
    return seed;
  }

  /** Whether nothing will be sent, so that no turn is to be taken. */
  public boolean rehearsal() {
    return rehearsal;
  }

  /**
   * What the client's {@link dev.warmpath.index.BlockLocator} told of the prompt, rank by rank and
   * tier by tier; {@link BlockLocations#NONE} where there is none.
   */
  public BlockLocations located() {
    return located;
  }

  /** Who should answer by where the request's knowledge is. */
  public KnowledgeChoice knowledge() {
    return knowledge;
  }

  /** The same context of a request whose knowledge was decided on. */
  public RouteContext withKnowledge(KnowledgeChoice choice) {
    return choice.equals(knowledge) ? this : copy(rehearsal, choice);
  }

  /** The same context, as a rehearsal. */
  public RouteContext asRehearsal() {
    return rehearsal ? this : copy(true, knowledge);
  }

  private RouteContext copy(boolean asRehearsal, KnowledgeChoice choice) {
    return new RouteContext(
        fleet,
        candidates,
        prompt,
        options,
        environment,
        nowNanos,
        seed,
        asRehearsal,
        located,
        choice);
  }
}
