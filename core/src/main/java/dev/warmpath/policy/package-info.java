/**
 * Decisions: a {@link dev.warmpath.policy.RoutingPolicy} turns a {@link
 * dev.warmpath.policy.RouteContext} into a {@link dev.warmpath.policy.RoutePlan}. Policies keep no
 * state; what decisions of one client share is its {@link dev.warmpath.policy.RoutingEnvironment}.
 *
 * <p>{@link dev.warmpath.policy.Policies} has the built-in policies; {@link
 * dev.warmpath.policy.Scorer} and {@link dev.warmpath.policy.WorkerFilter} put an application's own
 * view into them.
 */
@NullMarked
package dev.warmpath.policy;

import org.jspecify.annotations.NullMarked;
