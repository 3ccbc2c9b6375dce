package dev.warmpath.index;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Feeds a block index with what engines tell of their KV caches: a {@link KvRank} for each rank
 * that tells, all of whose blocks are under one budget. Thread safe.
 */
public final class KvEventIndex {
  private final BlockIndex index;
  private final int clientTokens;
  private final long budgetBytes;
  private final AtomicLong used = new AtomicLong();

  /**
   * Creates a feed.
   *
   * @param index what is fed
   * @param clientTokens tokens of a block in the index
   * @param budgetBytes what the engines' hashes may take up: 32 bytes for a block on average, and
   *     more where the engine's blocks don't end where the client's do. A rank for whose blocks
   *     there is no room is not authoritative
   */
  public KvEventIndex(BlockIndex index, int clientTokens, long budgetBytes) {
    this.index = index;
    this.clientTokens = clientTokens;
    this.budgetBytes = budgetBytes;
  }

  /**
   * Begins to take in what a rank tells.
   *
   * @param holderId the rank
   * @param model the name by which requests ask for the rank's model; of prompts of other names
   *     nothing is told. Null for that of requests that name none
   * @return where to apply its events
   */
  public KvRank rank(long holderId, @Nullable String model) {
    return new KvRank(index, holderId, model, clientTokens, used, budgetBytes);
  }

  /** What the engines' hashes take up, in bytes. */
  public long usedBytes() {
    return used.get();
  }

  /** What they may take up. */
  public long budgetBytes() {
    return budgetBytes;
  }
}
