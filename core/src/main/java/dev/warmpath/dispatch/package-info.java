/**
 * Carries a decision out: admission, leases, attempts along the plan, retries, circuit breakers,
 * dead letters, and what is learnt from each outcome.
 */
@NullMarked
package dev.warmpath.dispatch;

import org.jspecify.annotations.NullMarked;
