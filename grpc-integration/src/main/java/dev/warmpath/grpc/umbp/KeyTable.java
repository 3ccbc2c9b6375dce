package dev.warmpath.grpc.umbp;

import org.jspecify.annotations.Nullable;

/**
 * Which block a key is of, for thousands of keys that each look-up learns and forgets: a table with
 * open addressing, without an object for an entry. Not thread safe.
 */
final class KeyTable {
  /** There is no such key. */
  static final int NONE = -1;

  private static final int LEAST = 128;

  private @Nullable String[] keys = new @Nullable String[LEAST];
  private int[] blocks = new int[LEAST];
  private int size;

  /**
   * Notes a block's key, unless an earlier block has it.
   *
   * @return that block, or {@link #NONE}
   */
  int put(String key, int block) {
    if (2 * size >= keys.length) {
      grow();
    }
    int at = place(key);
    if (keys[at] != null) {
      return blocks[at];
    }
    keys[at] = key;
    blocks[at] = block;
    size++;
    return NONE;
  }

  /** The first block that has a key, or {@link #NONE}. */
  int get(String key) {
    int at = place(key);
    return keys[at] == null ? NONE : blocks[at];
  }

  /** Where a key is, or is to be. */
  private int place(String key) {
    int mask = keys.length - 1;
    int hash = key.hashCode() * 0x9E3779B9;
    int at = (hash ^ hash >>> 16) & mask;
    for (String there = keys[at]; there != null && !there.equals(key); there = keys[at]) {
      at = at + 1 & mask;
    }
    return at;
  }

  private void grow() {
    @Nullable String[] before = keys;
    int[] its = blocks;
    keys = new @Nullable String[4 * before.length];
    blocks = new int[keys.length];
    for (int i = 0; i < before.length; i++) {
      String key = before[i];
      if (key != null) {
        int at = place(key);
        keys[at] = key;
        blocks[at] = its[i];
      }
    }
  }
}
