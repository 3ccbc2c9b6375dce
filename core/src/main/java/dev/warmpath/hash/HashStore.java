package dev.warmpath.hash;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Append-only records of longs that chains share with the chains forked from them. Whoever wins the
 * records after its own end writes on in place; a second fork of the same state copies. Records
 * below a chain's end never change.
 */
final class HashStore {

  private static final int MIN_RECORDS = 4;

  final long[] words;
  final int width;
  private final AtomicInteger claimed;

  private HashStore(long[] words, int width, int claimed) {
    this.words = words;
    this.width = width;
    this.claimed = new AtomicInteger(claimed);
  }

  static HashStore empty(int width) {
    return new HashStore(new long[0], width, 0);
  }

  /** A store that holds the first {@code size} records and leaves the next {@code more} to us. */
  HashStore claim(int size, int more) {
    int end = Math.addExact(size, more);
    if ((long) end * width <= words.length && claimed.compareAndSet(size, end)) {
      return this;
    }
    // A chain's first append is a whole prompt; later ones are messages of a growing conversation.
    int capacity = size == 0 ? end : Math.max(end, size + (size >> 1) + MIN_RECORDS);
    long[] copy = new long[Math.multiplyExact(capacity, width)];
    System.arraycopy(words, 0, copy, 0, size * width);
    return new HashStore(copy, width, end);
  }

  long get(int record, int word) {
    return words[record * width + word];
  }

  /** Number of leading records that are the same in both. */
  int commonPrefix(int size, HashStore other, int otherSize) {
    int records = Math.min(size, otherSize);
    if (width == 1 && other.width == 1) {
      int mismatch = Arrays.mismatch(words, 0, records, other.words, 0, records);
      return mismatch < 0 ? records : mismatch;
    }
    int same = 0;
    while (same < records && get(same, 0) == other.get(same, 0)) {
      same++;
    }
    return same;
  }
}
