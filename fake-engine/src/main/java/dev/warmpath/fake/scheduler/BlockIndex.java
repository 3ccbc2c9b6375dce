package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.BlockPool.Block;
import org.jspecify.annotations.Nullable;

/**
 * Blocks by hash: an open-addressing table with linear probing, which keeps a million blocks
 * without an object per entry. The hashes lie next to each other, so that a search reads no block
 * but the one it finds.
 */
final class BlockIndex {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private long[] hashes = new long[64];
  private @Nullable Block[] blocks = new Block[64];
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
    return blocks[slot(hash)];
  }

  /** Where a hash is, or the free slot where it would be put. */
  private int slot(long hash) {
    int mask = blocks.length - 1;
    int at = home(hash);
    while (hashes[at] != hash && blocks[at] != null) {
      at = (at + 1) & mask;
    }
    return at;
  }

  /**
   * Adds a block unless there is one with its hash.
   *
   * @return the one that was there, or null
   */
  @Nullable Block putIfAbsent(Block block) {
    int at = slot(block.hash());
    Block resident = blocks[at];
    if (resident == null) {
      size++;
      hashes[at] = block.hash();
      blocks[at] = block;
      if (size * 2 > blocks.length) {
        grow();
      }
    }
    return resident;
  }

  /** Puts a block in the place of the one with the same hash, which must be there. */
  void replace(Block block) {
    blocks[slot(block.hash())] = block;
  }

  private void grow() {
    @Nullable Block[] old = blocks;
    hashes = new long[old.length * 2];
    blocks = new Block[old.length * 2];
    shift--;
    for (Block block : old) {
      if (block != null) {
        int at = slot(block.hash());
        hashes[at] = block.hash();
        blocks[at] = block;
      }
    }
  }

  /**
   * Takes a block out if it is the one that is found and has no further copy.
   *
   * @return false, without any change, if it isn't
   */
  boolean removeOnly(Block block) {
    int gap = slot(block.hash());
    if (blocks[gap] != block || block.hasCopy()) {
      return false;
    }
    size--;
    int mask = blocks.length - 1;
    int at = gap;
    while (true) {
      at = (at + 1) & mask;
      if (blocks[at] == null) {
        break;
      }
      // a block may fill the gap unless its home lies behind the gap
      if (((at - home(hashes[at])) & mask) >= ((at - gap) & mask)) {
        hashes[gap] = hashes[at];
        blocks[gap] = blocks[at];
        gap = at;
      }
    }
    blocks[gap] = null;
    return true;
  }
}
