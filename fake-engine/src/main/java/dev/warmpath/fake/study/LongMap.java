package dev.warmpath.fake.study;

/** Numbers of 0 or more by which numbers are found, without an object per entry; only grows. */
final class LongMap {
  private long[] keys = new long[256];
  private long[] values = new long[256];
  private int size;

  /** The value of a key, or another where there is none. */
  long get(long key, long otherwise) {
    int at = place(key);
    return keys[at] == 0 ? otherwise : values[at];
  }

  void put(long key, long value) {
    int at = place(key);
    values[at] = value;
    if (keys[at] == 0) {
      keys[at] = key + 1;
      if (2 * ++size > keys.length) {
        grow();
      }
    }
  }

  /** Where a key is, or the free place for it; 0 marks a free one, so that keys are stored + 1. */
  private int place(long key) {
    int mask = keys.length - 1;
    int at = (int) ((key * 0x9E3779B97F4A7C15L) >>> 32) & mask;
    while (keys[at] != 0 && keys[at] != key + 1) {
      at = (at + 1) & mask;
    }
    return at;
  }

  private void grow() {
    long[] oldKeys = keys;
    long[] oldValues = values;
    keys = new long[2 * oldKeys.length];
    values = new long[2 * oldKeys.length];
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldKeys[i] != 0) {
        int at = place(oldKeys[i] - 1);
        keys[at] = oldKeys[i];
        values[at] = oldValues[i];
      }
    }
  }
}
