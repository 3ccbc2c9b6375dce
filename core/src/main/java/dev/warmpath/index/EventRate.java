package dev.warmpath.index;

/**
 * How many events come in a second: a moving average in which what came counts for less the longer
 * ago it is, by half after seven seconds. Immutable.
 *
 * @param perSecond the average when it was last added to
 * @param atMillis when that was
 */
record EventRate(double perSecond, long atMillis) {
  private static final double DECAY_MILLIS = 10_000;

  /** Nothing has come. */
  static final EventRate NONE = new EventRate(0, 0);

  /** The average with some events more. */
  EventRate plus(int events, long nowMillis) {
    return new EventRate(at(nowMillis) + events * 1_000 / DECAY_MILLIS, nowMillis);
  }

  /** The average at a later moment at which nothing more has come. */
  double at(long nowMillis) {
    return perSecond * Math.exp(-Math.max(0, nowMillis - atMillis) / DECAY_MILLIS);
  }
}
