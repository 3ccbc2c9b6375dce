package dev.warmpath.policy;

import dev.warmpath.api.RouteDecision.CandidateView;
import java.util.List;

/**
 * Decides where a request goes. A pure function of its context: no state, no I/O, no locks; it runs
 * on the caller's thread, for many requests at once.
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
   * Tells how this policy sees each candidate, best first, with the terms of its score.
   *
   * @param context everything that may be read
   */
  List<CandidateView> explain(RouteContext context);
}
