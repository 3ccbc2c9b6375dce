package dev.warmpath.health;

/**
 * The share of its traffic that a worker is sent after it was down, suspect or restarted: grows in
 * a straight line, and more slowly each time it comes back soon after it came back before. Not
 * thread safe.
 */
final class SlowStart {
  /** Recoveries within so many times the slow start of the last one make the next one longer. */
  private static final int SOON = 4;

  private static final int MOST_DOUBLINGS = 3;

  private boolean ever;
  private boolean growing;
  private long countedNanos;
  private long beganNanos;
  private int doublings;

  /**
   * The worker is back: its share begins anew. What comes within {@link DegradationSettings#hold()}
   * of a recovery, as when probes, circuit breaker and a restart tell of one, is not counted as
   * another.
   */
  void begin(DegradationSettings settings, long nowNanos) {
    if (!ever || nowNanos - countedNanos >= settings.hold().toNanos()) {
      long last = settings.slowStart().toNanos() << doublings;
      boolean soon = ever && nowNanos - beganNanos < SOON * last;
      doublings = soon ? Math.min(MOST_DOUBLINGS, doublings + 1) : 0;
      countedNanos = nowNanos;
    }
    ever = true;
    growing = true;
    beganNanos = nowNanos;
  }

  /** From {@link DegradationSettings#slowStartShare()} to 1. */
  double share(DegradationSettings settings, long nowNanos) {
    if (!growing) {
      return 1;
    }
    double length = settings.slowStart().toNanos() << doublings;
    double grown = (nowNanos - beganNanos) / length;
    if (!(grown < 1)) {
      growing = false;
      return 1;
    }
    double from = settings.slowStartShare();
    return from + (1 - from) * grown;
  }
}
