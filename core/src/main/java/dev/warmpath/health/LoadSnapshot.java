package dev.warmpath.health;

import dev.warmpath.transport.RankLoad;

/**
 * A rank's telemetry and when it was read. Immutable. Numbers are as in {@link RankLoad}: NaN is
 * unknown.
 *
 * @param load what the engine said
 * @param observedAtNanos the ticker's time at which it was asked for: it is at least as old as that
 *     says
 * @param source the endpoint that gave it
 */
public record LoadSnapshot(RankLoad load, long observedAtNanos, String source) {
  /** How old it is. */
  public long ageNanos(long nowNanos) {
    return nowNanos - observedAtNanos;
  }
}
