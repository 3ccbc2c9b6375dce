package dev.warmpath.fake.scheduler;

/**
 * Which share of the running requests' remaining output SGLang keeps free when it admits more.
 *
 * <p>It starts at 0.7 times the conservativeness, falls in 600 equal steps, one per pass, to 0.14
 * of that, and starts again when the guess proved wrong and requests had to be retracted.
 */
final class NewTokenRatio {
  private static final double INITIAL = 0.7;
  private static final double LOWEST_SHARE = 0.14;
  private static final int DECAY_PASSES = 600;

  private final double initial;
  private final double lowest;
  private final double step;
  private double value;

  NewTokenRatio(double conservativeness) {
    this.initial = INITIAL * conservativeness;
    this.lowest = initial * LOWEST_SHARE;
    this.step = (initial - lowest) / DECAY_PASSES;
    this.value = initial;
  }

  double value() {
    return value;
  }

  void decay() {
    value = Math.max(lowest, value - step);
  }

  void reset() {
    value = initial;
  }
}
