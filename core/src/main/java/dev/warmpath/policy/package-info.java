/**
 * Decisions: a {@link dev.warmpath.policy.RoutingPolicy} turns a {@link
 * dev.warmpath.policy.RouteContext} into a {@link dev.warmpath.policy.RoutePlan}. Policies keep no
 * state.
 */
@NullMarked
package dev.warmpath.policy;

import org.jspecify.annotations.NullMarked;
