package dev.warmpath.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Who stands behind each slot, and how much it has received.
 *
 * <p>A table is published whole: another life of a slot is another table, so that all entries of
 * the old life vanish for readers in one step. The two running numbers are shared by successive
 * tables and move in place.
 */
final class HolderTable {
  /** Stamps count tokens in units of 2^6, so that their 32 bits last for 2^38 tokens. */
  private static final int UNIT_BITS = 6;

  private static final long MOST_TOKENS = 1L << 36;

  private static final int SHALLOW = HeapLayout.object(5, 4);
  private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);

  /** The newest holder id of each slot. */
  final long[] ids;

  /** What entries of the slot must carry to be alive; 0 is a slot that never had a holder. */
  final int[] generations;

  private final boolean[] live;
  private final long[] received;
  private final long[] capacities;

  private HolderTable(
      long[] ids, int[] generations, boolean[] live, long[] received, long[] capacities) {
    this.ids = ids;
    this.generations = generations;
    this.live = live;
    this.received = received;
    this.capacities = capacities;
  }

  static HolderTable empty() {
    return new HolderTable(new long[0], new int[0], new boolean[0], new long[0], new long[0]);
  }

  static long bytes(int slots) {
    return SHALLOW + 3 * HeapLayout.longs(slots) + HeapLayout.ints(slots) + HeapLayout.bytes(slots);
  }

  int slots() {
    return ids.length;
  }

  int liveHolders() {
    int count = 0;
    for (boolean alive : live) {
      count += alive ? 1 : 0;
    }
    return count;
  }

  boolean alive(long holderId) {
    int slot = HolderIds.slot(holderId);
    return slot < ids.length && live[slot] && ids[slot] == holderId;
  }

  /** Whether the slot has never had this holder nor a newer one. */
  boolean unseen(long holderId) {
    int slot = HolderIds.slot(holderId);
    return slot >= ids.length
        || generations[slot] == 0
        || HolderIds.epoch(holderId) > HolderIds.epoch(ids[slot]);
  }

  /** A table with room for the slot. */
  HolderTable grown(int slot, int most) {
    if (slot < ids.length) {
      return this;
    }
    int length = Math.min(most, Math.max(slot + 1, ids.length + (ids.length >> 1) + 8));
    return new HolderTable(
        Arrays.copyOf(ids, length),
        Arrays.copyOf(generations, length),
        Arrays.copyOf(live, length),
        Arrays.copyOf(received, length),
        Arrays.copyOf(capacities, length));
  }

  /** A table in which the slot begins another generation, of this holder. */
  HolderTable next(long holderId, boolean alive) {
    int slot = HolderIds.slot(holderId);
    long[] newIds = ids.clone();
    int[] newGenerations = generations.clone();
    boolean[] newLive = live.clone();
    if (newIds[slot] != holderId) {
      LONGS.setOpaque(received, slot, 0L);
      LONGS.setOpaque(capacities, slot, 0L);
    }
    newIds[slot] = holderId;
    newGenerations[slot]++;
    newLive[slot] = alive;
    return new HolderTable(newIds, newGenerations, newLive, received, capacities);
  }

  void receive(int slot, long tokens) {
    LONGS.setOpaque(received, slot, received[slot] + tokens);
  }

  void capacity(int slot, long tokens) {
    LONGS.setOpaque(capacities, slot, Math.min(tokens, MOST_TOKENS));
  }

  /** What the slot has received so far, as stamps carry it. */
  int units(int slot) {
    return (int) ((long) LONGS.getOpaque(received, slot) >>> UNIT_BITS);
  }

  /**
   * How likely an entry is still cached: 1 until its holder has received three quarters of its
   * capacity since the stamp, from there falling in a straight line to 0 at the whole capacity.
   */
  float survival(int slot, int units) {
    long capacity = (long) LONGS.getOpaque(capacities, slot);
    if (capacity == 0) {
      return 1;
    }
    long since = (long) (units(slot) - units) << UNIT_BITS;
    long ramp = Math.max(1, capacity >> 2);
    long left = capacity - since;
    return left >= ramp ? 1 : left <= 0 ? 0 : (float) left / ramp;
  }
}
