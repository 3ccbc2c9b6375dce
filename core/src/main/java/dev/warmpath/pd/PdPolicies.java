package dev.warmpath.pd;

import dev.warmpath.policy.RoutingPolicy;

/**
 * Who chooses the two workers of a pair. A request keeps what it began with.
 *
 * @param prefill chooses who computes the prompt
 * @param decode chooses who generates
 */
public record PdPolicies(RoutingPolicy prefill, RoutingPolicy decode) {
  /** The policies' names, as decisions show them. */
  String names() {
    return "prefill: " + prefill.name() + ", decode: " + decode.name();
  }
}
