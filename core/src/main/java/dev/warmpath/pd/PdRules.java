package dev.warmpath.pd;

import dev.warmpath.policy.RoutingPolicy;

/**
 * What requests go by that take a prefill and a decode worker. Swapped whole; a request keeps those
 * it began with.
 *
 * @param prefill chooses who computes the prompt
 * @param decode chooses who generates
 * @param settings how requests are carried out
 */
public record PdRules(RoutingPolicy prefill, RoutingPolicy decode, PdSettings settings) {
  /** The policies' names, as decisions show them. */
  String names() {
    return "prefill: " + prefill.name() + ", decode: " + decode.name();
  }
}
