package dev.warmpath.health;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * When a rank counts as degraded and how much traffic that costs it. Immutable.
 *
 * <p>A degraded rank is sent its {@link Rule#share()} of what it would be sent, the smallest of its
 * modes', whatever the policy; the rest goes where the policy sends it without that rank. Shares
 * are taken relative to the best rank that may serve the request: a fleet that is degraded as a
 * whole works as if nothing were wrong, and there is always somebody to send to. A share of 0 means
 * "only if all are like that". A pinned request goes by its pin, and one whose policy sends it to
 * where its KV is goes there through {@link DegradationMode#busy()} modes.
 *
 * <p>Two thresholds and {@link #hold()} keep a rank from changing to and fro: a mode begins after
 * {@link Rule#readings()} signals in a row at or above {@link Rule#enter()}, ends after as many at
 * or below {@link Rule#leave()}, and neither sooner than {@code hold} after its last change.
 *
 * @param hold the least time between two changes of one mode of one rank, 10 s by default
 * @param slowStart for how long the share of a rank that was down, suspect or restarted grows in a
 *     straight line to all of it, 30 s by default; twice as long each time it recovers again within
 *     four times that, up to eight times as long; zero for at once
 * @param slowStartShare where it begins, 0.1 by default
 * @param rules by mode; a mode without one never begins. {@link DegradationMode#RECOVERING} has
 *     none
 */
public record DegradationSettings(
    Duration hold, Duration slowStart, double slowStartShare, Map<DegradationMode, Rule> rules) {

  /** The defaults, as {@link #rules()} documents them. */
  public static final DegradationSettings DEFAULT =
      new DegradationSettings(
          Duration.ofSeconds(10),
          Duration.ofSeconds(30),
          0.1,
          Map.of(
              DegradationMode.STUCK, new Rule(20, 1, 2, 0),
              DegradationMode.KV_FULL, new Rule(0.97, 0.9, 3, 0.3),
              DegradationMode.OVERLOADED, new Rule(4, 0, 1, 0.5),
              DegradationMode.LATENCY, new Rule(4, 2, 3, 0.5),
              DegradationMode.FAILING, new Rule(0.3, 0.1, 1, 0.3),
              DegradationMode.STALE, new Rule(1, 0.5, 2, 0.7)));

  /** Nothing is ever degraded, and nothing starts slowly. */
  public static final DegradationSettings OFF =
      new DegradationSettings(Duration.ZERO, Duration.ZERO, 1, Map.of());

  /** Checks every value; the message says which one to correct. */
  public DegradationSettings {
    if (hold.isNegative() || slowStart.isNegative()) {
      throw new IllegalArgumentException("hold and slowStart must not be negative");
    }
    if (!(slowStartShare >= 0 && slowStartShare <= 1)) {
      throw new IllegalArgumentException("slowStartShare " + slowStartShare + " must be in 0..1");
    }
    if (rules.containsKey(DegradationMode.RECOVERING)) {
      throw new IllegalArgumentException("recovering goes by slowStart and takes no rule");
    }
    rules = Map.copyOf(rules);
  }

  /**
   * One mode's thresholds.
   *
   * <p>The defaults: stuck 20 s without progress, over at 1 s, share 0; kv_full from 0.97 to 0.9,
   * share 0.3; overloaded from 4 readings of growth, a second or more apart, to 0, the first
   * reading counts, share 0.5; latency from 4 times the fleet's to twice, share 0.5; failing from
   * 0.3 to 0.1, the first counts, share 0.3; stale from once the believed age to half of it, share
   * 0.7. Where nothing else is said, 3 readings; stuck and stale 2.
   *
   * @param enter the signal at or above which the mode begins
   * @param leave the signal at or below which it ends; less than {@code enter}
   * @param readings how many signals in a row it takes, at least 1
   * @param share the part of its traffic that a rank in this mode keeps, 0..1
   */
  public record Rule(double enter, double leave, int readings, double share) {
    /** Checks the values. */
    public Rule {
      if (!(leave < enter)) {
        throw new IllegalArgumentException("leave " + leave + " must be below enter " + enter);
      }
      if (readings < 1) {
        throw new IllegalArgumentException("readings must be at least 1, not " + readings);
      }
      if (!(share >= 0 && share <= 1)) {
        throw new IllegalArgumentException("share " + share + " must be in 0..1");
      }
    }
  }

  @Nullable Rule rule(DegradationMode mode) {
    return rules.get(mode);
  }

  /** A builder holding the defaults. */
  public static Builder builder() {
    return DEFAULT.toBuilder();
  }

  /** A builder holding these values. */
  public Builder toBuilder() {
    return new Builder(this);
  }

  /** Builds {@link DegradationSettings}. Not thread safe. */
  public static final class Builder {
    private final Map<DegradationMode, Rule> rules = new EnumMap<>(DegradationMode.class);
    private Duration hold;
    private Duration slowStart;
    private double slowStartShare;

    private Builder(DegradationSettings from) {
      rules.putAll(from.rules);
      hold = from.hold;
      slowStart = from.slowStart;
      slowStartShare = from.slowStartShare;
    }

    /** Sets {@link DegradationSettings#hold()}. */
    public Builder hold(Duration value) {
      hold = value;
      return this;
    }

    /** Sets {@link DegradationSettings#slowStart()} and {@link #slowStartShare()}. */
    public Builder slowStart(Duration time, double share) {
      slowStart = time;
      slowStartShare = share;
      return this;
    }

    /** Sets one mode's thresholds. */
    public Builder rule(DegradationMode mode, Rule rule) {
      rules.put(mode, rule);
      return this;
    }

    /** Switches one mode off. */
    public Builder without(DegradationMode mode) {
      rules.remove(mode);
      return this;
    }

    /**
     * The finished settings.
     *
     * @throws IllegalArgumentException saying which value to correct
     */
    public DegradationSettings build() {
      return new DegradationSettings(hold, slowStart, slowStartShare, rules);
    }
  }
}
