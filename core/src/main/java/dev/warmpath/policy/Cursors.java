package dev.warmpath.policy;

import dev.warmpath.worker.StableHash;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The round-robin turns of a client: one count for each (role, candidate set), since a count shared
 * between the prefill and decode sets of one request would tie each prefill worker to one decode
 * worker.
 *
 * <p>Bounded: a table of {@link #CAPACITY} sets in groups of eight; a set that finds its group full
 * takes over the place of another, which starts anew when it comes back. Each count starts at a
 * place of its own chance, so that clients that start together do not begin with the same worker.
 * Thread safe and lock-free; a turn is given once.
 */
public final class Cursors {
  /** How many candidate sets are remembered at most. */
  public static final int CAPACITY = 1_024;

  private static final int WAYS = 8;

  private final long seed;
  private final AtomicLongArray keys = new AtomicLongArray(CAPACITY);
  private final AtomicLongArray turns = new AtomicLongArray(CAPACITY);

  /**
   * Creates an empty table.
   *
   * @param seed where the counts start
   */
  public Cursors(long seed) {
    this.seed = seed;
  }

  /** Takes the next turn of a set ({@code CandidateSet.key()}): a number from 0 up. */
  long take(long set) {
    long key = keyOf(set);
    return turn(key, turns.getAndIncrement(claim(key)));
  }

  /** What {@link #take} would give now. */
  long peek(long set) {
    long key = keyOf(set);
    return turn(key, turns.get(find(key)));
  }

  /** How many candidate sets have a count now. */
  public int size() {
    int used = 0;
    for (int i = 0; i < CAPACITY; i++) {
      if (keys.get(i) != 0) {
        used++;
      }
    }
    return used;
  }

  private long turn(long key, long count) {
    return StableHash.mix(key ^ seed) + count & Long.MAX_VALUE;
  }

  /** Where the key's count is or would be. */
  private int find(long key) {
    int group = group(key);
    for (int at = group; at < group + WAYS; at++) {
      long there = keys.get(at);
      if (there == key || there == 0) {
        return at;
      }
    }
    return group + victim(key);
  }

  private int claim(long key) {
    while (true) {
      int at = find(key);
      long there = keys.get(at);
      if (there == key || keys.compareAndSet(at, there, key)) {
        return at;
      }
    }
  }

  private static int group(long key) {
    return (int) (key >>> 32) & CAPACITY - WAYS;
  }

  private static int victim(long key) {
    return (int) key & WAYS - 1;
  }

  /** Zero means free. */
  private static long keyOf(long set) {
    long key = StableHash.mix(set);
    return key == 0 ? 1 : key;
  }
}
