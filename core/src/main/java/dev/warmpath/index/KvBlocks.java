package dev.warmpath.index;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The blocks that a rank told of, by the engine's hash: how far into its prompt each reaches, the
 * client's own hash of what lies before its end, and in which tiers it is. One thread at a time.
 *
 * <p>The client's blocks and the engine's need not end at the same tokens: of an engine's block
 * that ends within one of the client's, the tokens since that one's beginning are kept, so that the
 * chain can go on from there.
 *
 * <p>The blocks lie densely in arrays that grow by an eighth, and an open hash table has only their
 * places: what a table needs to have free costs four bytes a slot rather than a block's, and to
 * grow never takes twice of all.
 */
final class KvBlocks {
  static final int NONE = -1;

  private static final int FIRST_ROOM = 1 << 6;
  private static final int MOST_BLOCKS = 1 << 28;
  private static final int MOST_TAIL_TOKENS = 1 << 30;

  /** The tokens of a client's block. */
  private final int clientTokens;

  private final AtomicLong used;
  private final long budget;

  /** The tokens of an engine's block, or 0 while there is none. */
  private int width;

  /** How many tokens a block may have beyond the end of a client's block. */
  private int tailTokens;

  /** One more than where a block is, or 0; at most three of four are taken. */
  private int[] slots = {};

  private long[] hashes = {};

  /** Of a place that is free again: one more than the next such place, or 0. */
  private long[] links = {};

  private int[] ends = {};
  private byte[] tiers = {};
  private int[] tails = {};

  /** How many places were ever taken. */
  private int taken;

  /** One more than the first place that is free again, or 0. */
  private int free;

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
    used.addAndGet(-bytes(hashes.length) - slotBytes(slots.length));
    slots = new int[0];
    hashes = new long[0];
    links = new long[0];
    ends = new int[0];
    tiers = new byte[0];
    tails = new int[0];
    taken = 0;
    free = 0;
    size = 0;
    width = 0;
  }

  private long bytes(int room) {
    return room == 0
        ? 0
        : 2 * HeapLayout.longs(room)
            + HeapLayout.ints(room)
            + HeapLayout.bytes(room)
            + HeapLayout.ints(room * tailTokens);
  }

  private static long slotBytes(int count) {
    return count == 0 ? 0 : HeapLayout.ints(count);
  }

  /** Where a block is, or {@link #NONE}; good until it is removed. */
  int find(long hash) {
    return slots.length == 0 ? NONE : slots[slotOf(hash)] - 1;
  }

  /** The slot of a block, or the free one where it belongs. */
  private int slotOf(long hash) {
    int mask = slots.length - 1;
    int slot = firstSlot(hash, mask);
    while (slots[slot] != 0 && hashes[slots[slot] - 1] != hash) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  private static int firstSlot(long hash, int mask) {
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
    if ((free == 0 && taken == hashes.length && !makePlaces())
        || (size >= slots.length / 4 * 3 && !makeSlots())) {
      return false;
    }
    int at = place();
    hashes[at] = hash;
    links[at] = link;
    ends[at] = end;
    tiers[at] = (byte) tier;
    System.arraycopy(tail, 0, tails, at * tailTokens, end % clientTokens);
    slots[slotOf(hash)] = at + 1;
    size++;
    return true;
  }

  private int place() {
    if (free == 0) {
      return taken++;
    }
    int at = free - 1;
    free = (int) links[at];
    return at;
  }

  private static int gcd(int a, int b) {
    return b == 0 ? a : gcd(b, a % b);
  }

  private boolean makePlaces() {
    int room = hashes.length + Math.max(FIRST_ROOM, hashes.length / 8);
    if (room > MOST_BLOCKS
        || (long) room * tailTokens > MOST_TAIL_TOKENS
        || !take(bytes(room) - bytes(hashes.length))) {
      return false;
    }
    hashes = Arrays.copyOf(hashes, room);
    links = Arrays.copyOf(links, room);
    ends = Arrays.copyOf(ends, room);
    tiers = Arrays.copyOf(tiers, room);
    tails = Arrays.copyOf(tails, room * tailTokens);
    return true;
  }

  private boolean makeSlots() {
    int count = Math.max(2 * FIRST_ROOM, 2 * slots.length);
    if (!take(slotBytes(count) - slotBytes(slots.length))) {
      return false;
    }
    int[] old = slots;
    slots = new int[count];
    for (int place : old) {
      if (place != 0) {
        slots[slotOf(hashes[place - 1])] = place;
      }
    }
    return true;
  }

  private boolean take(long bytes) {
    if (used.addAndGet(bytes) > budget) {
      used.addAndGet(-bytes);
      return false;
    }
    return true;
  }

  /** Takes a block away, and moves the slots up that were put further on because of it. */
  void remove(int at) {
    int mask = slots.length - 1;
    int gap = slotOf(hashes[at]);
    int next = (gap + 1) & mask;
    while (slots[next] != 0) {
      int first = firstSlot(hashes[slots[next] - 1], mask);
      if (((next - first) & mask) >= ((next - gap) & mask)) {
        slots[gap] = slots[next];
        gap = next;
      }
      next = (next + 1) & mask;
    }
    slots[gap] = 0;
    links[at] = free;
    free = at + 1;
    size--;
  }
}
