package dev.warmpath.policy;

import org.jspecify.annotations.Nullable;

/**
 * The candidates of one request, best first, each at most once, worked out as they are asked for:
 * the first is cheap, the rest is rarely needed. Retries and hedges of one request walk the same
 * plan, so none is tried twice. Thread safe.
 */
public interface RoutePlan {
  /** The next candidate, or null when all have been given. */
  @Nullable Candidate next();
}
