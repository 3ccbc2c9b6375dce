package dev.warmpath.index;

import java.time.Duration;
import java.util.Set;

/**
 * One holder of one block, as {@link BlockIndex#holders} tells it.
 *
 * @param holderId the rank of a worker epoch
 * @param tiers where it keeps the block; none while only a dispatch under way claims it
 * @param claimed whether a dispatch under way is about to bring the block into HBM
 * @param age the time since the holder was last known to use the block, to within 67 ms
 */
public record BlockHolder(long holderId, Set<Tier> tiers, boolean claimed, Duration age) {
  /** Copies the tiers. */
  public BlockHolder {
    tiers = Set.copyOf(tiers);
  }
}
