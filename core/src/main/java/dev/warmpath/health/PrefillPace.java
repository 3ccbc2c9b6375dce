package dev.warmpath.health;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Learns how many milliseconds a prompt token takes that is not in the cache: the slope of a
 * regression of times to first token against the tokens that had to be computed before it.
 *
 * <p>Least squares over exponentially fading samples, where a sample counts the less the further it
 * lies from what was expected (Huber's weights): what waited behind other clients' requests says
 * little of the pace. Lock-free, for any number of threads.
 */
public final class PrefillPace {
  /** Samples before the slope is believed. */
  public static final int ENOUGH = 64;

  private static final double FADING = 0.99;
  private static final double DEVIATION_WEIGHT = 0.05;
  private static final double TRUSTED_DEVIATIONS = 1.5;

  /** Tokens by which samples must differ, as a standard deviation. */
  private static final double SPREAD = 64;

  private static final double SLOWEST = 10;
  private static final double FASTEST = 1e-4;

  private final AtomicReference<Sums> sums = new AtomicReference<>(Sums.NONE);

  /** Volatile for the many readers of decisions. */
  private volatile double millisPerToken = Double.NaN;

  private record Sums(
      int samples, double w, double x, double y, double xx, double xy, double deviation) {
    static final Sums NONE = new Sums(0, 0, 0, 0, 0, 0, 0);

    Sums plus(double tokens, double millis) {
      double off = Math.abs(millis - expected(tokens));
      double trusted = TRUSTED_DEVIATIONS * deviation;
      double weight = samples < ENOUGH || off <= trusted ? 1 : trusted / off;
      double counted = samples < ENOUGH ? off : Math.min(off, 3 * trusted);
      return new Sums(
          Math.min(samples + 1, ENOUGH),
          FADING * w + weight,
          FADING * x + weight * tokens,
          FADING * y + weight * millis,
          FADING * xx + weight * tokens * tokens,
          FADING * xy + weight * tokens * millis,
          samples == 0 ? 0 : deviation + DEVIATION_WEIGHT * (counted - deviation));
    }

    double expected(double tokens) {
      if (w == 0) {
        return 0;
      }
      double slope = slope();
      double k = Double.isNaN(slope) ? 0 : slope;
      return y / w + k * (tokens - x / w);
    }

    /** NaN while the samples don't tell. */
    double slope() {
      double variance = xx - x * x / w;
      return variance > SPREAD * SPREAD * w ? (xy - x * y / w) / variance : Double.NaN;
    }
  }

  /**
   * Takes note of a first token.
   *
   * @param tokens what had to be computed before it: the request's own uncached tokens and those
   *     ahead of it
   * @param millis how long it took to come
   */
  public void observe(double tokens, double millis) {
    if (!(tokens >= 0 && millis >= 0)) {
      return;
    }
    Sums now = sums.updateAndGet(before -> before.plus(tokens, millis));
    double slope = now.slope();
    if (now.samples() >= ENOUGH && slope > 0) {
      millisPerToken = Math.min(SLOWEST, Math.max(FASTEST, slope));
    }
  }

  /** Milliseconds for each uncached prompt token; NaN before enough is known. */
  public double millisPerToken() {
    return millisPerToken;
  }
}
