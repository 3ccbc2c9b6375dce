package dev.warmpath.policy;

import dev.warmpath.health.RankState;
import dev.warmpath.worker.WorkerRank;

/**
 * An application's own view of a candidate, weighed into a policy by {@link Policies#scored} or
 * beside the built-in terms by {@link Policies#linearCost(LinearCostWeights, java.util.List)}.
 *
 * <p>Called on the caller's thread for every candidate of every decision, from many threads: it
 * must not block and should not allocate. What it throws counts as unknown and is logged once.
 */
@FunctionalInterface
public interface Scorer {
  /**
   * Scores one candidate.
   *
   * @param context the decision
   * @param candidate who is scored
   * @param state its live state
   * @param matchedTokens prompt tokens it is believed to hold
   * @return a cost, lower being better; NaN for unknown, which then counts as the mean of the
   *     candidates whose score is known
   */
  double score(RouteContext context, WorkerRank candidate, RankState state, int matchedTokens);
}
