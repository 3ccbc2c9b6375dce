package dev.warmpath.policy;

/**
 * Decides where a request goes. A pure function of its context: no state, no I/O, no locks; it runs
 * on the caller's thread, for many requests at once. What has to be remembered between decisions
 * (round-robin turns, what caches hold, loads) comes in through the context.
 *
 * <p>{@link Policies} has the built-in ones and composes them.
 */
public interface RoutingPolicy {
  /**
   * The name used in configuration, decisions and metrics; a chain's is its parts joined by {@code
   * >}.
   */
  String name();

  /**
   * Makes the plan of one request.
   *
   * @param context everything that may be read
   * @return the candidates in order of preference, worked out as they are asked for
   */
  RoutePlan plan(RouteContext context);

  /**
   * Tells how this policy sees each candidate, with the terms of its score. Takes no turn and
   * changes nothing, whatever {@link RouteContext#rehearsal()} says.
   *
   * @param context everything that may be read
   * @return the candidates in the order in which a plan of the same context gives them
   */
  RouteExplanation explain(RouteContext context);
}
