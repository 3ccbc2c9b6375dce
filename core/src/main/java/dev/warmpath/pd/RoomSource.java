package dev.warmpath.pd;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;

/**
 * Numbers by which prefill and decode find each other: 1 up to what a transport carries, random, so
 * that many clients of one worker do not meet, and congruent to the prefill rank where there are
 * several, since engines place a room by its remainder.
 *
 * <p>SplitMix64 over striped counters: one uncontended addition per room, on any kind of thread.
 */
final class RoomSource {
  /**
   * What a JSON body carries: half of what engines take, which leaves room for their {@code +i}.
   */
  static final long HTTP_MAX = 1L << 62;

  /** What the {@code int32} of smg's gRPC schema carries. */
  static final long INT32_MAX = Integer.MAX_VALUE;

  private static final long GAMMA = 0x9e3779b97f4a7c15L;

  /** Longs from one stripe to the next: a cache line apart. */
  private static final int SPREAD = 8;

  private final int stripes;
  private final AtomicLongArray states;

  /**
   * Creates a source.
   *
   * @param seeds where the stripes begin: a secure source where clients must not meet, a seeded one
   *     in tests
   * @param stripes how many threads draw without meeting; a power of two
   */
  RoomSource(LongSupplier seeds, int stripes) {
    if (Integer.bitCount(stripes) != 1) {
      throw new IllegalArgumentException(stripes + " stripes: use a power of two");
    }
    this.stripes = stripes;
    this.states = new AtomicLongArray(stripes * SPREAD);
    for (int i = 0; i < stripes; i++) {
      states.set(i * SPREAD, seeds.getAsLong());
    }
  }

  private long next() {
    int stripe = (int) ((Thread.currentThread().getId() * GAMMA) >>> 32) & stripes - 1;
    long z = states.addAndGet(stripe * SPREAD, GAMMA);
    z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
    z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
    return z ^ z >>> 31;
  }

  /**
   * Draws a room.
   *
   * @param max the largest that can be carried
   * @param rank the prefill rank, or -1 where none is chosen
   * @param ranks how many prefill ranks there are; 1 where that is not known
   */
  long draw(long max, int rank, int ranks) {
    long drawn = 1 + Long.remainderUnsigned(next(), max);
    if (rank < 0 || ranks <= 1) {
      return drawn;
    }
    long room = drawn - Math.floorMod(drawn, (long) ranks) + rank;
    return room < 1 ? room + ranks : room > max ? room - ranks : room;
  }
}
