package dev.warmpath.index;

/**
 * A count that fades, and two floats, each in one word, so that readers see both parts together. A
 * count is worth e times less after {@link #SECONDS}; it is brought up to date only when it is
 * looked at.
 *
 * <p>Time comes in ticks of 2^24 ns and wraps after two years.
 */
final class Fading {
  /**
   * 15 s: replicas of a prefix that has suddenly become popular must be there before a queue is,
   * and counts of minutes are late by minutes.
   */
  static final double SECONDS = 15;

  private static final int TICK_SHIFT = 24;
  private static final double PER_TICK = (1L << TICK_SHIFT) / (SECONDS * 1e9);

  private Fading() {}

  static int tick(long nanos) {
    return (int) (nanos >> TICK_SHIFT);
  }

  static long count(double value, int tick) {
    return (long) Float.floatToRawIntBits((float) value) << 32 | Integer.toUnsignedLong(tick);
  }

  /** What the count is worth at a tick. */
  static double value(long count, int tick) {
    float value = first(count);
    int age = tick - (int) count;
    return value == 0 || age <= 0 ? value : value * Math.exp(-age * PER_TICK);
  }

  /** The count once so much was added. */
  static long add(long count, double more, int tick) {
    return count(Math.max(0, value(count, tick) + more), tick);
  }

  static long pair(float first, float second) {
    return (long) Float.floatToRawIntBits(first) << 32
        | Integer.toUnsignedLong(Float.floatToRawIntBits(second));
  }

  static float first(long pair) {
    return Float.intBitsToFloat((int) (pair >>> 32));
  }

  static float second(long pair) {
    return Float.intBitsToFloat((int) pair);
  }
}
