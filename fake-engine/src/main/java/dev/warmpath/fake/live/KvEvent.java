package dev.warmpath.fake.live;

import dev.warmpath.fake.scheduler.EngineEffect;
import java.util.Objects;

/**
 * A numbered change of a rank's prefix cache.
 *
 * @param eventId counts the rank's cache changes from 0, without gaps
 * @param dpRank the data-parallel rank
 * @param timeMs when it became visible, in milliseconds of the rank's time
 * @param change one of {@link EngineEffect.BlocksStored}, {@link EngineEffect.BlockRemoved} and
 *     {@link EngineEffect.CacheCleared}
 */
public record KvEvent(long eventId, int dpRank, double timeMs, EngineEffect change) {
  /** Checks that the change is about cached blocks. */
  public KvEvent {
    Objects.requireNonNull(change, "change");
    if (change.kind() != EngineEffect.Kind.KV) {
      throw new IllegalArgumentException("not a change of cached blocks: " + change);
    }
  }
}
