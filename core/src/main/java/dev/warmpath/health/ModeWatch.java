package dev.warmpath.health;

/** One degradation mode's hysteresis, of one rank. Not thread safe. */
final class ModeWatch {
  private boolean active;
  private boolean changed;
  private long changedNanos;
  private int inRow;

  boolean active() {
    return active;
  }

  /**
   * Takes a signal.
   *
   * @param signal NaN where nothing is known: it begins nothing, and what has begun ends for want
   *     of evidence
   * @return whether the mode has begun or ended
   */
  boolean take(double signal, DegradationSettings.Rule rule, long holdNanos, long nowNanos) {
    boolean other = active ? !(signal > rule.leave()) : signal >= rule.enter();
    inRow = other ? Math.min(inRow + 1, rule.readings()) : 0;
    if (inRow < rule.readings() || (changed && nowNanos - changedNanos < holdNanos)) {
      return false;
    }
    active = !active;
    changed = true;
    changedNanos = nowNanos;
    inRow = 0;
    return true;
  }

  /** Ends a mode that no rule speaks of any more; whether it was active. */
  boolean drop() {
    boolean was = active;
    active = false;
    inRow = 0;
    return was;
  }
}
