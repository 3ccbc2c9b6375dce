package dev.warmpath.dispatch;

import dev.warmpath.policy.RoutingPolicy;
import java.util.Map;

/**
 * What requests go by. A dispatcher swaps them whole, and a request keeps those it began with.
 *
 * @param policy decides, unless a profile names another
 * @param settings how requests are carried out
 * @param profiles option sets by name
 */
public record Rules(
    RoutingPolicy policy, DispatchSettings settings, Map<String, Profile> profiles) {
  /** Copies the profiles. */
  public Rules {
    profiles = Map.copyOf(profiles);
  }
}
