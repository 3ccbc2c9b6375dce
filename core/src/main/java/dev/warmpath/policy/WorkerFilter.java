package dev.warmpath.policy;

import dev.warmpath.health.RankState;
import dev.warmpath.worker.WorkerRank;

/**
 * An application's own say in who may serve a request, put around a policy by {@link
 * Policies#filtered}. What it refuses is never tried, not even as a last resort.
 *
 * <p>Called on the caller's thread for every candidate of every decision, from many threads: it
 * must not block and should not allocate. Where it throws the candidate is accepted, and the error
 * is logged once.
 */
@FunctionalInterface
public interface WorkerFilter {
  /**
   * Whether a candidate may serve the request.
   *
   * @param context the decision
   * @param candidate who is asked about
   * @param state its live state
   */
  boolean accepts(RouteContext context, WorkerRank candidate, RankState state);
}
