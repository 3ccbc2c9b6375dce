package dev.warmpath.fake.study;

import java.util.Arrays;

/**
 * One worker's blocks: free ones, those that requests hold, and cached ones that nobody holds, in
 * the exact order of their last use. A block that is taken and not yet {@linkplain #put cached} has
 * no identity; only its number counts.
 */
final class BlockCache {
  private static final int NONE = -1;

  /** Hears which blocks can be found and which no longer. */
  interface Listener {
    /** Hears nothing. */
    Listener NOBODY =
        new Listener() {
          @Override
          public void stored(int block) {}

          @Override
          public void removed(int block) {}
        };

    /** A block can be found from now on. */
    void stored(int block);

    /** A block can no longer be found. */
    void removed(int block);
  }

  private final int capacity;
  private final Listener listener;
  private final int[] table;
  private final int shift;
  private int[] block;
  private int[] holders;
  private int[] older;
  private int[] newer;
  private int oldest = NONE;
  private int newest = NONE;
  private int unusedSlots = NONE;
  private int slots;
  private int free;
  private int evictable;

  BlockCache(int capacity, Listener listener) {
    this.capacity = capacity;
    this.listener = listener;
    this.free = capacity;
    int bits = Math.max(4, 33 - Integer.numberOfLeadingZeros(Math.max(1, capacity)));
    this.table = new int[1 << bits];
    this.shift = Integer.SIZE - bits;
    Arrays.fill(table, NONE);
    int room = Math.min(capacity, 1_024);
    block = new int[room];
    holders = new int[room];
    older = new int[room];
    newer = new int[room];
  }

  int capacity() {
    return capacity;
  }

  /** Blocks that requests hold. */
  int held() {
    return capacity - free - evictable;
  }

  /** Cached blocks that nobody holds. */
  int evictable() {
    return evictable;
  }

  /** Blocks that could be taken. */
  int available() {
    return free + evictable;
  }

  /** The slot of a block, or -1 if it can't be found. */
  int find(int id) {
    return table[place(id)];
  }

  /** Whether nobody holds the block in a slot. */
  boolean isEvictable(int slot) {
    return holders[slot] == 0;
  }

  private int home(int id) {
    return (id * 0x9E3779B9) >>> shift;
  }

  private int place(int id) {
    int mask = table.length - 1;
    int at = home(id);
    while (table[at] != NONE && block[table[at]] != id) {
      at = (at + 1) & mask;
    }
    return at;
  }

  /** Holds a block that can be found. */
  void hold(int slot) {
    if (holders[slot]++ == 0) {
      unlink(slot);
      evictable--;
    }
  }

  /** Gives up a hold; the block becomes the one used last, or free if it was flushed meanwhile. */
  void release(int slot) {
    if (--holders[slot] > 0) {
      return;
    }
    if (block[slot] == NONE) {
      recycle(slot);
      free++;
      return;
    }
    older[slot] = newest;
    newer[slot] = NONE;
    if (newest == NONE) {
      oldest = slot;
    } else {
      newer[newest] = slot;
    }
    newest = slot;
    evictable++;
  }

  /** Takes blocks, evicting as many as that needs; there must be enough. */
  void take(int count) {
    while (free < count) {
      evict(oldest);
    }
    free -= count;
  }

  /** Gives back blocks that were taken and never cached. */
  void giveBack(int count) {
    free += count;
  }

  /**
   * Caches one of the taken blocks under its identity, held by who took it.
   *
   * @return its slot, or -1 if there is one already, and the block stays merely taken
   */
  int put(int id) {
    int at = place(id);
    if (table[at] != NONE) {
      return NONE;
    }
    int slot = slot();
    block[slot] = id;
    holders[slot] = 1;
    table[at] = slot;
    listener.stored(id);
    return slot;
  }

  /** Forgets everything: what is held stays held and can't be found any more. */
  void flush() {
    while (oldest != NONE) {
      evict(oldest);
    }
    for (int slot = 0; slot < slots; slot++) {
      if (holders[slot] > 0 && block[slot] != NONE) {
        forget(slot);
      }
    }
  }

  private void evict(int slot) {
    unlink(slot);
    forget(slot);
    recycle(slot);
    evictable--;
    free++;
  }

  private void forget(int slot) {
    int id = block[slot];
    removeFromTable(id);
    block[slot] = NONE;
    listener.removed(id);
  }

  private void unlink(int slot) {
    if (older[slot] == NONE) {
      oldest = newer[slot];
    } else {
      newer[older[slot]] = newer[slot];
    }
    if (newer[slot] == NONE) {
      newest = older[slot];
    } else {
      older[newer[slot]] = older[slot];
    }
  }

  private void removeFromTable(int id) {
    int mask = table.length - 1;
    int gap = place(id);
    int at = gap;
    while (true) {
      at = (at + 1) & mask;
      if (table[at] == NONE) {
        break;
      }
      // an entry may fill the gap unless its home lies behind the gap
      if (((at - home(block[table[at]])) & mask) >= ((at - gap) & mask)) {
        table[gap] = table[at];
        gap = at;
      }
    }
    table[gap] = NONE;
  }

  private int slot() {
    if (unusedSlots != NONE) {
      int slot = unusedSlots;
      unusedSlots = newer[slot];
      return slot;
    }
    if (slots == block.length) {
      int room = Math.min(capacity, 2 * slots);
      block = Arrays.copyOf(block, room);
      holders = Arrays.copyOf(holders, room);
      older = Arrays.copyOf(older, room);
      newer = Arrays.copyOf(newer, room);
    }
    return slots++;
  }

  private void recycle(int slot) {
    block[slot] = NONE;
    newer[slot] = unusedSlots;
    unusedSlots = slot;
  }
}
