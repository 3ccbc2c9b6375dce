package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.BlockPool.Block;
import org.jspecify.annotations.Nullable;

/**
 * Blocks by hash: an open-addressing table with linear probing, which keeps a million blocks
 * without an object per entry.
 */
final class BlockIndex {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private @Nullable Block[] table = new Block[64];
  private int shift = Long.SIZE - 6;
  private int size;

  int size() {
    return size;
  }

  private int home(long hash) {
    return (int) ((hash * GOLDEN) >>> shift);
  }

  /** The block of a hash, or null. */
  @Nullable Block get(long hash) {
    return table[slot(hash)];
  }

  /** Where a hash is, or the free slot where it would be put. */
  private int slot(long hash) {
    int mask = table.length - 1;
    int at = home(hash);
    for (Block block = table[at]; block != null && block.hash() != hash; block = table[at]) {
      at = (at + 1) & mask;
    }
    return at;
  }

  /** Adds a block, or replaces the one with the same hash. */
  void put(Block block) {
    int at = slot(block.hash());
    if (table[at] == null) {
      size++;
    }
    table[at] = block;
    if (size * 2 > table.length) {
      grow();
    }
  }

  private void grow() {
    @Nullable Block[] old = table;
    table = new Block[old.length * 2];
    shift--;
    for (Block block : old) {
      if (block != null) {
        table[slot(block.hash())] = block;
      }
    }
  }

  /** Takes a hash out, if it is there. */
  void remove(long hash) {
    int gap = slot(hash);
    if (table[gap] == null) {
      return;
    }
    size--;
    int mask = table.length - 1;
    int at = gap;
    while (true) {
      at = (at + 1) & mask;
      Block block = table[at];
      if (block == null) {
        break;
      }
      // a block may fill the gap unless its home lies behind the gap
      int home = home(block.hash());
      if (((at - home) & mask) >= ((at - gap) & mask)) {
        table[gap] = block;
        gap = at;
      }
    }
    table[gap] = null;
  }
}
