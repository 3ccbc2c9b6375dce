package dev.warmpath.fake.scheduler;

import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The KV blocks of one rank: owned ones with reference counts, cached ones in LRU order.
 *
 * <p>A hash may have several physical copies when two sequences computed the same block at the same
 * time; the oldest serves hits. Sequences release their tail first, so that in the LRU order leaves
 * are older than their parents and suffixes are evicted before prefixes.
 *
 * <p>With a tier below, an evicted block's slot is quarantined until its content has been copied:
 * it belongs to nobody, and counts as active.
 */
final class BlockPool {

  /** One physical block. */
  static final class Block implements TierTransfers.Evicted {
    private long hash;
    private long parentHash;
    private boolean root;
    private boolean cached;
    private int refs;
    private @Nullable Block older;
    private @Nullable Block newer;
    private @Nullable Block nextCopy;

    private Block() {}

    @Override
    public long hash() {
      return hash;
    }

    @Override
    public long parentHash() {
      return parentHash;
    }

    @Override
    public boolean root() {
      return root;
    }

    int refs() {
      return refs;
    }

    /** Whether a newer copy of its hash follows it in the index. */
    boolean hasCopy() {
      return nextCopy != null;
    }
  }

  /** Takes what is evicted. */
  interface LowerTier {
    /**
     * Offers a block whose last copy is being evicted.
     *
     * @return true if the slot must be kept until {@link BlockPool#freeQuarantined}
     */
    boolean accept(Block block, List<EngineEffect> effects);

    /** Ends a series of offers. */
    void commit();
  }

  /** How an attempt to get blocks ended. */
  enum Acquired {
    /** The blocks are there. */
    DONE,
    /** There are too few, and nothing has changed. */
    NO_SPACE,
    /** There will be enough when copies to the lower tier have ended. */
    BLOCKED
  }

  private final int capacity;
  private final boolean reportRemovals;
  private final ArrayDeque<Block> free = new ArrayDeque<>();
  private final BlockIndex index = new BlockIndex();
  private @Nullable LowerTier lower;
  private int created;
  private int inactive;
  private int quarantined;
  private int heldOfPrefix;
  private @Nullable Block oldest;
  private @Nullable Block newest;

  /**
   * Creates an empty pool.
   *
   * @param capacity blocks
   * @param reportRemovals whether evictions are added to lists of effects
   */
  BlockPool(int capacity, boolean reportRemovals) {
    this.capacity = capacity;
    this.reportRemovals = reportRemovals;
  }

  /** Evictions go there from now on. */
  void lowerTier(LowerTier tier) {
    lower = tier;
  }

  int capacity() {
    return capacity;
  }

  /** Blocks that only the cache holds. */
  int inactive() {
    return inactive;
  }

  /** Blocks whose content is on its way to the lower tier. */
  int quarantined() {
    return quarantined;
  }

  /** Blocks that sequences hold, and quarantined ones. */
  int active() {
    return created - free.size() - inactive;
  }

  /** Blocks that hold nothing at all. */
  int unused() {
    return capacity - created + free.size();
  }

  /** Distinct hashes that can be found. */
  int residentHashes() {
    return index.size();
  }

  /** Whether a hash can be found. */
  boolean isResident(long hash) {
    return index.get(hash) != null;
  }

  /** Number of leading hashes that are resident. */
  int residentPrefix(long[] hashes, int limit) {
    int count = 0;
    int held = 0;
    while (count < limit) {
      Block block = index.get(hashes[count]);
      if (block == null) {
        break;
      }
      held += block.refs > 0 ? 1 : 0;
      count++;
    }
    heldOfPrefix = held;
    return count;
  }

  /** How many blocks of the prefix that {@link #residentPrefix} found last some sequence holds. */
  int heldOfPrefix() {
    return heldOfPrefix;
  }

  /**
   * Takes {@code hits} resident blocks and {@code fresh} new ones, evicting the oldest cached
   * blocks where needed. All or nothing, but for evictions that a lower tier has begun to take.
   */
  Acquired acquire(
      long[] hashes, int hits, int fresh, List<Block> into, List<EngineEffect> effects) {
    int available = unused() + inactive;
    int first = into.size();
    for (int i = 0; i < hits; i++) {
      Block block = resident(hashes[i]);
      into.add(block);
      if (block.refs == 0) {
        available--;
      }
    }
    if (fresh > available) {
      into.subList(first, into.size()).clear();
      return Acquired.NO_SPACE;
    }
    for (int i = first; i < into.size(); i++) {
      Block block = into.get(i);
      if (block.refs++ == 0) {
        unlink(block);
      }
    }
    if (fresh > unused() && !evict(fresh - unused(), effects)) {
      for (int i = 0; i < hits; i++) {
        unpin(into.remove(into.size() - 1));
      }
      return Acquired.BLOCKED;
    }
    for (int i = 0; i < fresh; i++) {
      into.add(takeUnused());
    }
    return Acquired.DONE;
  }

  private Block resident(long hash) {
    Block block = index.get(hash);
    if (block == null) {
      throw new IllegalStateException("block is not resident");
    }
    return block;
  }

  private Block takeUnused() {
    Block block = free.pollLast();
    if (block == null) {
      block = new Block();
      created++;
    }
    block.refs = 1;
    return block;
  }

  /** Evicts the oldest cached blocks; false if some of their slots are quarantined. */
  private boolean evict(int count, List<EngineEffect> effects) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
      Block block = oldest;
      if (block == null) {
        throw new IllegalStateException("no block to evict");
      }
      unlink(block);
      boolean last = uncache(block);
      if (last && reportRemovals) {
        effects.add(new EngineEffect.BlockRemoved(StorageTier.DEVICE, block.hash));
      }
      if (last && lower != null && lower.accept(block, effects)) {
        kept++;
      } else {
        free.addLast(block);
      }
    }
    quarantined += kept;
    if (kept > 0 && lower != null) {
      lower.commit();
    }
    return kept == 0;
  }

  /** The content of a quarantined slot has been copied. */
  void freeQuarantined(Block block) {
    quarantined--;
    free.addLast(block);
  }

  /** Removes a copy from the index; true if it was the last one of its hash. */
  private boolean uncache(Block block) {
    block.cached = false;
    if (index.removeOnly(block)) {
      return true;
    }
    Block head = resident(block.hash);
    Block next = block.nextCopy;
    if (head == block && next != null) {
      block.nextCopy = null;
      index.replace(next);
      return false;
    }
    for (Block at = head; at != null; at = at.nextCopy) {
      if (at.nextCopy == block) {
        at.nextCopy = block.nextCopy;
        block.nextCopy = null;
        return false;
      }
    }
    throw new IllegalStateException("copy is not indexed");
  }

  /**
   * Makes a computed block findable.
   *
   * @param block a block that isn't findable yet
   * @param hashes chained hashes of its sequence
   * @param at its place in the sequence
   * @return true if its hash was not resident before
   */
  boolean publish(Block block, long[] hashes, int at) {
    block.hash = hashes[at];
    block.root = at == 0;
    block.parentHash = at == 0 ? 0 : hashes[at - 1];
    block.cached = true;
    Block head = index.putIfAbsent(block);
    if (head == null) {
      return true;
    }
    while (head.nextCopy != null) {
      head = head.nextCopy;
    }
    head.nextCopy = block;
    return false;
  }

  /** Gives back every block of a sequence, tail first, and empties the list. */
  void release(List<Block> blocks) {
    releaseTail(blocks, 0);
  }

  /** Gives back the last blocks of a sequence, so that {@code keep} remain. */
  void releaseTail(List<Block> blocks, int keep) {
    for (int i = blocks.size() - 1; i >= keep; i--) {
      unpin(blocks.remove(i));
    }
  }

  private void unpin(Block block) {
    if (--block.refs > 0) {
      return;
    }
    if (block.cached) {
      link(block);
    } else {
      free.addLast(block);
    }
  }

  /** Forgets every cached block that no sequence holds. */
  void dropInactive() {
    while (oldest != null) {
      Block block = oldest;
      unlink(block);
      uncache(block);
      free.addLast(block);
    }
  }

  private void link(Block block) {
    block.older = newest;
    block.newer = null;
    if (newest == null) {
      oldest = block;
    } else {
      newest.newer = block;
    }
    newest = block;
    inactive++;
  }

  private void unlink(Block block) {
    if (block.older == null) {
      oldest = block.newer;
    } else {
      block.older.newer = block.newer;
    }
    if (block.newer == null) {
      newest = block.older;
    } else {
      block.newer.older = block.older;
    }
    block.older = null;
    block.newer = null;
    inactive--;
  }
}
