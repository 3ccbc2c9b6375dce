package dev.warmpath.fake.internal.kv;

import dev.warmpath.fake.scheduler.StorageTier;
import java.util.List;

/**
 * Cache changes of one rank that are told together, whichever way they are published.
 *
 * @param number counts the rank's batches from 0
 * @param epochSeconds when they were made
 * @param rank the data-parallel rank
 * @param changes at least one, in order
 */
public record KvBatch(long number, double epochSeconds, int rank, List<Change> changes) {
  /** One change of a cache. */
  public sealed interface Change {}

  /**
   * Blocks came.
   *
   * @param tier where to
   * @param blocks at least one; each is the parent of the next
   */
  public record Stored(StorageTier tier, List<EngineBlock> blocks) implements Change {}

  /**
   * A block went.
   *
   * @param tier where from
   * @param block the block
   */
  public record Removed(StorageTier tier, EngineBlock block) implements Change {}

  /** Every block went. */
  public record Cleared() implements Change {}
}
