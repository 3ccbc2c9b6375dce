package dev.warmpath.policy;

/**
 * How much of the traffic the configured policy decides. Immutable.
 *
 * @param baseline decides the rest; {@code shortest_queue} by default
 * @param share the share of conversations, 0..1, that the policy decides, all of them by default;
 *     by a stable hash of the conversation, so that all clients agree and a conversation stays
 * @param shadow whether the policy only says what it would do, and the baseline decides; off by
 *     default
 * @param control the share of conversations, 0..0.5, that the baseline decides as a control group:
 *     where the policy's times to first token are measurably worse than theirs, it decides fewer
 *     and fewer, and more again once they are not. 0, no group, by default; a few per cent do
 */
public record RolloutSettings(
    RoutingPolicy baseline, double share, boolean shadow, double control) {
  /** All of it, without control group. */
  public static final RolloutSettings DEFAULT =
      new RolloutSettings(Policies.shortestQueue(), 1, false, 0);

  /** Checks the ranges. */
  public RolloutSettings {
    if (!(share >= 0 && share <= 1)) {
      throw new IllegalArgumentException("share " + share + " must be in 0..1");
    }
    if (!(control >= 0 && control <= 0.5)) {
      throw new IllegalArgumentException("control " + control + " must be in 0..0.5");
    }
  }

  /** Whether others come to the same, policies compared by name. */
  public boolean sameAs(RolloutSettings other) {
    return baseline.name().equals(other.baseline.name())
        && share == other.share
        && shadow == other.shadow
        && control == other.control;
  }

  /** The same with another {@link #baseline()}. */
  public RolloutSettings baseline(RoutingPolicy baseline) {
    return new RolloutSettings(baseline, share, shadow, control);
  }

  /** The same with another {@link #share()}. */
  public RolloutSettings share(double share) {
    return new RolloutSettings(baseline, share, shadow, control);
  }

  /** The same with another {@link #shadow()}. */
  public RolloutSettings shadow(boolean shadow) {
    return new RolloutSettings(baseline, share, shadow, control);
  }

  /** The same with another {@link #control()}. */
  public RolloutSettings control(double control) {
    return new RolloutSettings(baseline, share, shadow, control);
  }
}
