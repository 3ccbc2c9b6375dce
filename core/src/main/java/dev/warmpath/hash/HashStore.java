package dev.warmpath.hash;

import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Append-only records of longs that chains share with the chains forked from them. Whoever wins the
 * records after its own end writes on in place; a second fork of the same state copies, or, where
 * records are wide and many, goes on in a store of its own that refers to what is before. Records
 * below a chain's end never change.
 */
final class HashStore {

  private static final int MIN_RECORDS = 4;

  /** Fewer records than these are copied rather than referred to. */
  private static final int WORTH_SHARING = 64;

  private static final int MOST_BASES = 3;

  final long[] words;
  final int width;

  /** The first record in {@link #words}; the ones before are in {@link #base}. */
  final int from;

  private final @Nullable HashStore base;
  private final int bases;
  private final AtomicInteger claimed;

  private HashStore(long[] words, int width, int from, @Nullable HashStore base, int claimed) {
    this.words = words;
    this.width = width;
    this.from = from;
    this.base = base;
    this.bases = base == null ? 0 : base.bases + 1;
    this.claimed = new AtomicInteger(claimed);
  }

  static HashStore empty(int width) {
    return new HashStore(new long[0], width, 0, null, 0);
  }

  /** A store that holds the first {@code size} records and leaves the next {@code more} to us. */
  HashStore claim(int size, int more) {
    int end = Math.addExact(size, more);
    if ((long) (end - from) * width <= words.length && claimed.compareAndSet(size, end)) {
      return this;
    }
    int own = size - from;
    if (width > 1 && own >= WORTH_SHARING && bases < MOST_BASES) {
      // Next to what chains that go on from here all begin with, what they go on with is little.
      long[] next = new long[Math.multiplyExact(2 * more + MIN_RECORDS, width)];
      return new HashStore(next, width, size, this, end);
    }
    // A chain's first append is a whole prompt; later ones are messages of a growing conversation.
    int capacity = own == 0 ? more : Math.max(own + more, own + (own >> 1) + MIN_RECORDS);
    long[] copy = new long[Math.multiplyExact(capacity, width)];
    System.arraycopy(words, 0, copy, 0, own * width);
    return new HashStore(copy, width, from, base, end);
  }

  long get(int record, int word) {
    HashStore at = this;
    while (record < at.from) {
      at = Objects.requireNonNull(at.base);
    }
    return at.words[(record - at.from) * width + word];
  }

  /** Number of leading records that are the same in both. */
  int commonPrefix(int size, HashStore other, int otherSize) {
    int records = Math.min(size, otherSize);
    if (width == 1 && other.width == 1) { // which refer to no other store
      int mismatch = Arrays.mismatch(words, 0, records, other.words, 0, records);
      return mismatch < 0 ? records : mismatch;
    }
    int same = 0;
    while (same < records && get(same, 0) == other.get(same, 0)) {
      same++;
    }
    return same;
  }

  /** Longs that it keeps reachable. */
  long reachable() {
    long sum = 0;
    for (HashStore at = this; at != null; at = at.base) {
      sum += at.words.length;
    }
    return sum;
  }
}
