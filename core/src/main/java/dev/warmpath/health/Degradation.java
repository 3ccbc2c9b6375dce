package dev.warmpath.health;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * How much a rank that answers is to be used, and why not fully. Immutable.
 *
 * @param modes what is wrong; empty when nothing is
 * @param share the part, 0..1, of the requests that would be its that it is sent while others can
 *     take the rest; 1 when nothing is wrong
 * @param affinityShare the part under a policy that sends requests to where their prompts' KV is,
 *     which {@link DegradationMode#busy()} modes cost nothing; at least {@code share}
 * @param sinceNanos the ticker's time of the last change of {@code modes}
 */
public record Degradation(
    Set<DegradationMode> modes, double share, double affinityShare, long sinceNanos) {
  /** Nothing is wrong. */
  public static final Degradation NONE = new Degradation(Set.of(), 1, 1, 0);

  /** Copies {@code modes}, in their order. */
  public Degradation {
    modes = modes.isEmpty() ? Set.of() : Collections.unmodifiableSet(EnumSet.copyOf(modes));
  }

  /** Whether anything is wrong. */
  public boolean degraded() {
    return !modes.isEmpty();
  }

  /** Such as {@code degraded:kv_full,latency}; {@code up} when nothing is wrong. */
  public String label() {
    return modes.isEmpty()
        ? Availability.UP.label()
        : modes.stream()
            .map(DegradationMode::label)
            .collect(Collectors.joining(",", "degraded:", ""));
  }
}
