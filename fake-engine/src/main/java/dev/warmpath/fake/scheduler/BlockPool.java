package dev.warmpath.fake.scheduler;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The KV blocks of one rank: owned ones with reference counts, cached ones in LRU order.
 *
 * <p>A hash may have several physical copies when two sequences computed the same block at the same
 * time; the oldest serves hits. Sequences release their tail first, so that in the LRU order leaves
 * are older than their parents and suffixes are evicted before prefixes.
 */
final class BlockPool {

  /** One physical block. */
  static final class Block {
    private long hash;
    private boolean cached;
    private int refs;
    private @Nullable Block older;
    private @Nullable Block newer;
    private @Nullable Block nextCopy;

    private Block() {}
  }

  private final int capacity;
  private final ArrayDeque<Block> free = new ArrayDeque<>();
  private final Map<Long, Block> byHash = new HashMap<>();
  private int created;
  private int inactive;
  private @Nullable Block oldest;
  private @Nullable Block newest;

  BlockPool(int capacity) {
    this.capacity = capacity;
  }

  int capacity() {
    return capacity;
  }

  /** Blocks that only the cache holds. */
  int inactive() {
    return inactive;
  }

  /** Blocks that sequences hold. */
  int active() {
    return created - free.size() - inactive;
  }

  /** Number of leading hashes that are resident. */
  int residentPrefix(long[] hashes, int limit) {
    int count = 0;
    while (count < limit && byHash.containsKey(hashes[count])) {
      count++;
    }
    return count;
  }

  /** Number of the first {@code limit} resident hashes that some sequence holds. */
  int activePrefix(long[] hashes, int limit) {
    int count = 0;
    for (int i = 0; i < limit; i++) {
      Block block = byHash.get(hashes[i]);
      if (block != null && block.refs > 0) {
        count++;
      }
    }
    return count;
  }

  /**
   * Takes {@code hits} resident blocks and {@code fresh} new ones, evicting the oldest cached
   * blocks where needed. All or nothing.
   *
   * @return false, without any change, if the pool can't provide them
   */
  boolean acquire(
      long[] hashes, int hits, int fresh, List<Block> into, List<EngineEffect> removals) {
    int available = capacity - created + free.size() + inactive;
    for (int i = 0; i < hits; i++) {
      if (resident(hashes[i]).refs == 0) {
        available--;
      }
    }
    if (fresh > available) {
      return false;
    }
    for (int i = 0; i < hits; i++) {
      Block block = resident(hashes[i]);
      if (block.refs++ == 0) {
        unlink(block);
      }
      into.add(block);
    }
    for (int i = 0; i < fresh; i++) {
      into.add(takeFresh(removals));
    }
    return true;
  }

  private Block resident(long hash) {
    Block block = byHash.get(hash);
    if (block == null) {
      throw new IllegalStateException("block is not resident");
    }
    return block;
  }

  private Block takeFresh(List<EngineEffect> removals) {
    Block block = free.pollLast();
    if (block == null && created < capacity) {
      block = new Block();
      created++;
    }
    if (block == null) {
      block = oldest;
      if (block == null) {
        throw new IllegalStateException("no block to evict");
      }
      unlink(block);
      if (uncache(block)) {
        removals.add(new EngineEffect.BlockRemoved(StorageTier.DEVICE, block.hash));
      }
    }
    block.refs = 1;
    return block;
  }

  /** Removes a copy from the index; true if it was the last one of its hash. */
  private boolean uncache(Block block) {
    block.cached = false;
    Block head = resident(block.hash);
    if (head == block) {
      Block next = block.nextCopy;
      block.nextCopy = null;
      if (next == null) {
        byHash.remove(block.hash);
        return true;
      }
      byHash.put(block.hash, next);
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
   * @return true if its hash was not resident before
   */
  boolean publish(Block block, long hash) {
    block.hash = hash;
    block.cached = true;
    Block head = byHash.putIfAbsent(hash, block);
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
    for (int i = blocks.size() - 1; i >= 0; i--) {
      Block block = blocks.get(i);
      if (--block.refs > 0) {
        continue;
      }
      if (block.cached) {
        link(block);
      } else {
        free.addLast(block);
      }
    }
    blocks.clear();
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
