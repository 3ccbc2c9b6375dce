package dev.warmpath.index;

import java.util.Arrays;

/**
 * The blocks that a holder was believed to hold at some moment, by their keys, without the holder:
 * made by {@link BlockIndex#held}, taken by {@link BlockIndex#assume}. Immutable.
 *
 * <p>They come in stretches, the most recently used first. A stretch is blocks of which each
 * follows the one before, in the same tiers; it follows a block of an earlier stretch, or none.
 */
public final class HeldBlocks {
  static final HeldBlocks NONE = new HeldBlocks(new long[0], new int[0], new int[0], new byte[0]);

  /** The parent of a stretch that begins a chain. */
  static final int ROOT = -1;

  /** The keys of all stretches, one after the other. */
  final long[] keys;

  /** Where the stretches end among the keys, ascending. */
  final int[] ends;

  /** Which of the keys before it each stretch follows, or {@link #ROOT}. */
  final int[] parents;

  /** The tiers of each stretch, as bits. */
  final byte[] tiers;

  HeldBlocks(long[] keys, int[] ends, int[] parents, byte[] tiers) {
    this.keys = keys;
    this.ends = ends;
    this.parents = parents;
    this.tiers = tiers;
  }

  /**
   * Tells how many blocks these are.
   *
   * @return the number of blocks
   */
  public int size() {
    return keys.length;
  }

  int stretches() {
    return ends.length;
  }

  int start(int stretch) {
    return stretch == 0 ? 0 : ends[stretch - 1];
  }

  /** How many blocks come before each stretch in its chain. */
  int[] depths() {
    int[] depths = new int[ends.length];
    for (int stretch = 0; stretch < depths.length; stretch++) {
      int parent = parents[stretch];
      if (parent != ROOT) {
        int above = stretchOf(parent);
        depths[stretch] = depths[above] + parent - start(above) + 1;
      }
    }
    return depths;
  }

  private int stretchOf(int position) {
    int found = Arrays.binarySearch(ends, position);
    return found >= 0 ? found + 1 : ~found;
  }

  @Override
  public String toString() {
    return keys.length + " blocks";
  }
}
