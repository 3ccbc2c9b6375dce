package dev.warmpath.prompt.tokenizer.internal.huggingface;

import java.util.Arrays;
import java.util.BitSet;

/**
 * The merges of a byte-pair encoding: for a pair of adjacent symbols the rank of their merge, and
 * for a rank the symbol that results. One {@code long} holds a pair (twenty bits each) and its rank
 * (twenty-four bits), in an open-addressing table.
 */
final class Merges {
  /** No merge; greater than any rank. */
  static final int NONE = Integer.MAX_VALUE;

  private static final int ID_BITS = 20;
  private static final int RANK_BITS = 24;
  private static final int RANK_MASK = (1 << RANK_BITS) - 1;
  private static final long EMPTY = -1;
  private static final int FILTER_BITS_PER_SLOT = 4;
  private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

  private final long[] table;
  private final int shift;

  /**
   * A Bloom filter of the pairs. Most pairs have no merge, and this is small enough to stay in a
   * processor's own cache, as the table is not.
   */
  private final long[] filter;

  private final int filterShift;
  private final int[] results;

  /**
   * Takes merges in the order of their ranks; a pair that comes again gets its last rank.
   *
   * @param lefts left symbols
   * @param rights right symbols
   * @param results merged symbols
   */
  Merges(int[] lefts, int[] rights, int[] results) {
    if (results.length >= RANK_MASK) {
      throw new IllegalArgumentException("too many merges: " + results.length);
    }
    this.results = results;
    // At most two thirds full: a miss then ends soon, and the table is half as large as it could
    // be.
    table = new long[Math.max(16, Integer.highestOneBit(results.length * 3 / 2 + 1) * 2)];
    Arrays.fill(table, EMPTY);
    shift = 64 - Integer.numberOfTrailingZeros(table.length);
    int filterBits = Math.max(64, table.length * FILTER_BITS_PER_SLOT);
    filter = new long[filterBits >>> 6];
    filterShift = 64 - Integer.numberOfTrailingZeros(filterBits);
    for (int rank = 0; rank < results.length; rank++) {
      long key = key(lefts[rank], rights[rank]);
      long hash = key * MULTIPLIER;
      int bit = (int) (hash >>> filterShift);
      filter[bit >>> 6] |= 1L << bit;
      int slot = (int) (hash >>> shift);
      while (table[slot] != EMPTY && table[slot] >>> RANK_BITS != key) {
        slot = slot + 1 & table.length - 1;
      }
      table[slot] = key << RANK_BITS | rank;
    }
  }

  /** The rank of a pair, or {@link #NONE}. */
  int rank(int left, int right) {
    long key = key(left, right);
    long hash = key * MULTIPLIER;
    int bit = (int) (hash >>> filterShift);
    if ((filter[bit >>> 6] >>> bit & 1) == 0) {
      return NONE;
    }
    long[] table = this.table;
    int slot = (int) (hash >>> shift);
    while (true) {
      long entry = table[slot];
      if (entry >>> RANK_BITS == key) {
        return (int) entry & RANK_MASK;
      }
      if (entry == EMPTY) {
        return NONE;
      }
      slot = slot + 1 & table.length - 1;
    }
  }

  /** The symbol that the merge of a rank makes. */
  int result(int rank) {
    return results[rank];
  }

  /** Whether one of the symbols takes part in a merge. */
  boolean touchAny(int[] symbols) {
    BitSet wanted = new BitSet();
    for (int symbol : symbols) {
      wanted.set(symbol);
    }
    for (long entry : table) {
      if (entry != EMPTY
          && (wanted.get((int) (entry >>> (RANK_BITS + ID_BITS)))
              || wanted.get((int) (entry >>> RANK_BITS) & (1 << ID_BITS) - 1))) {
        return true;
      }
    }
    return false;
  }

  /** Number of ranks. */
  int count() {
    return results.length;
  }

  private static long key(int left, int right) {
    return (long) left << ID_BITS | right;
  }
}
