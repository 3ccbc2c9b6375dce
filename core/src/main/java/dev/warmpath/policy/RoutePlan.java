package dev.warmpath.policy;

import org.jspecify.annotations.Nullable;

/**
 * The candidates of one request, best first, each at most once, worked out as they are asked for:
 * the first is cheap, the rest is rarely needed. Retries and hedges of one request walk the same
 * plan, so none is tried twice. Thread safe: concurrent callers get different candidates.
 *
 * <p>Ranks that are believed to answer come first, in the policy's order, those last that this
 * request keeps away from because they are degraded ({@link
 * dev.warmpath.health.DegradationSettings}); then, flagged {@link Candidate#lastResort()}, those
 * that failed lately, and at the very end those that are down. What comes later is judged by what
 * is known when it is asked for, so a retry sees the loads of now.
 */
public interface RoutePlan {
  /** The next candidate, or null when all have been given. Never blocks. */
  @Nullable Candidate next();
}
