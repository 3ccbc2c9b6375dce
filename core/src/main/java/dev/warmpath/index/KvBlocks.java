package dev.warmpath.index;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The blocks that a rank told of, by the engine's hash: how far into its prompt each reaches, the
 * client's own hash of what lies before its end, and in which tiers it is. An open hash table in
 * arrays. One thread at a time.
 *
 * <p>The client's blocks and the engine's need not end at the same tokens: of an engine's block
 * that ends within one of the client's, the tokens since that one's beginning are kept, so that the
 * chain can go on from there.
 */
final class KvBlocks {
  static final int NONE = -1;

  private static final int FIRST_CAPACITY = 1 << 6;
  private static final int MOST_CAPACITY = 1 << 28;
  private static final int MOST_TAIL_TOKENS = 1 << 30;

  /** The tokens of a client's block. */
  private final int clientTokens;

  private final AtomicLong used;
  private final long budget;

  /** The tokens of an engine's block, or 0 while there is none. */
  private int width;

  /** How many tokens a block may have beyond the end of a client's block. */
  private int tailTokens;

  private long[] hashes = {};
  private long[] links = {};
  private int[] ends = {};
  private byte[] tiers = {};
  private int[] tails = {};
  private int size;

  /**
   * Creates an empty table.
   *
   * @param used what all tables take up, which this one adds to
   * @param budget what they may take up together, in bytes
   */
  KvBlocks(int clientTokens, AtomicLong used, long budget) {
    this.clientTokens = clientTokens;
    this.used = used;
    this.budget = budget;
  }

  int size() {
    return size;
  }

  /** The tokens of a block, or 0 while there was none. */
  int width() {
    return width;
  }

  /** Forgets all blocks, and gives back what they took up. */
  void clear() {
    used.addAndGet(-bytes(hashes.length));
    hashes = new long[0];
    links = new long[0];
    ends = new int[0];
    tiers = new byte[0];
    tails = new int[0];
    size = 0;
    width = 0;
  }

  private long bytes(int capacity) {
    return capacity == 0
        ? 0
        : 2 * HeapLayout.longs(capacity)
            + HeapLayout.ints(capacity)
            + HeapLayout.bytes(capacity)
            + HeapLayout.ints(capacity * tailTokens);
  }

  /** Where a block is, or {@link #NONE}; good until the next change. */
  int find(long hash) {
    int mask = hashes.length - 1;
    if (mask < 0) {
      return NONE;
    }
    int at = slot(hash, mask);
    while (tiers[at] != 0) {
      if (hashes[at] == hash) {
        return at;
      }
      at = (at + 1) & mask;
    }
    return NONE;
  }

  private static int slot(long hash, int mask) {
    long mixed = hash * 0x9E3779B97F4A7C15L;
    return (int) (mixed ^ mixed >>> 32) & mask;
  }

  /** Tokens up to the block's end. */
  int end(int at) {
    return ends[at];
  }

  /** The client's hash of the last of its blocks that ends within the block or before it. */
  long link(int at) {
    return links[at];
  }

  int tiers(int at) {
    return tiers[at];
  }

  void setTiers(int at, int of) {
    tiers[at] = (byte) of;
  }

  /** Copies the tokens after the last client's block, and returns how many they are. */
  int tail(int at, int[] to) {
    int count = ends[at] % clientTokens;
    System.arraycopy(tails, at * tailTokens, to, 0, count);
    return count;
  }

  /** How many of the client's blocks end within the block. */
  int clientBlocks(int at) {
    return ends[at] / clientTokens - (ends[at] - width) / clientTokens;
  }

  /**
   * Adds a block that is not there.
   *
   * @param blockTokens the tokens of a block, the same for all
   * @param tail begins with its last tokens, as {@link #tail} gives them
   * @return false if there is no room for it
   */
  boolean add(long hash, int blockTokens, int end, long link, int tier, int[] tail) {
    if (width == 0) {
      width = blockTokens;
      tailTokens = clientTokens - gcd(blockTokens, clientTokens);
    }
    if ((size + 1) * 3L > hashes.length * 2L && !grow()) {
      return false;
    }
    int at = free(hash);
    hashes[at] = hash;
    links[at] = link;
    ends[at] = end;
    tiers[at] = (byte) tier;
    System.arraycopy(tail, 0, tails, at * tailTokens, end % clientTokens);
    size++;
    return true;
  }

  private static int gcd(int a, int b) {
    return b == 0 ? a : gcd(b, a % b);
  }

  private int free(long hash) {
    int mask = hashes.length - 1;
    int at = slot(hash, mask);
    while (tiers[at] != 0) {
      at = (at + 1) & mask;
    }
    return at;
  }

  private boolean grow() {
    int capacity = Math.max(FIRST_CAPACITY, 2 * hashes.length);
    if (capacity > MOST_CAPACITY || (long) capacity * tailTokens > MOST_TAIL_TOKENS) {
      return false;
    }
    long more = bytes(capacity) - bytes(hashes.length);
    if (used.addAndGet(more) > budget) {
      used.addAndGet(-more);
      return false;
    }
    long[] oldHashes = hashes;
    long[] oldLinks = links;
    int[] oldEnds = ends;
    byte[] oldTiers = tiers;
    int[] oldTails = tails;
    hashes = new long[capacity];
    links = new long[capacity];
    ends = new int[capacity];
    tiers = new byte[capacity];
    tails = new int[capacity * tailTokens];
    for (int old = 0; old < oldHashes.length; old++) {
      if (oldTiers[old] != 0) {
        int at = free(oldHashes[old]);
        hashes[at] = oldHashes[old];
        links[at] = oldLinks[old];
        ends[at] = oldEnds[old];
        tiers[at] = oldTiers[old];
        System.arraycopy(oldTails, old * tailTokens, tails, at * tailTokens, tailTokens);
      }
    }
    return true;
  }

  /** Takes a block away, and moves those up that were put further on because of it. */
  void remove(int at) {
    int mask = hashes.length - 1;
    int gap = at;
    int next = (at + 1) & mask;
    while (tiers[next] != 0) {
      int home = slot(hashes[next], mask);
      if (((next - home) & mask) >= ((next - gap) & mask)) {
        hashes[gap] = hashes[next];
        links[gap] = links[next];
        ends[gap] = ends[next];
        tiers[gap] = tiers[next];
        System.arraycopy(tails, next * tailTokens, tails, gap * tailTokens, tailTokens);
        gap = next;
      }
      next = (next + 1) & mask;
    }
    tiers[gap] = 0;
    size--;
  }
}
