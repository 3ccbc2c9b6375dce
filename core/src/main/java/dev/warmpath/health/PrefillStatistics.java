package dev.warmpath.health;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What a client has learned of its fleet's prefills: how much of a prompt is computed, how often
 * others have been there before, and at which pace. Moving averages; lock-free, for any number of
 * threads. Lives as long as the client.
 */
public final class PrefillStatistics {
  /**
   * Milliseconds for each uncached token until there is a measurement: that of an 8-billion
   * parameter model on a data-centre GPU. To be off by a factor of two costs a few per cent.
   */
  public static final double DEFAULT_MILLIS_PER_TOKEN = 0.0186;

  private static final double WEIGHT = 0.02;

  /** By which factor a rank's pace must differ. */
  private static final double CLEARLY = 1.5;

  private final AtomicLong uncached = new AtomicLong(Double.doubleToRawLongBits(2_000));
  private final AtomicLong squares = new AtomicLong(Double.doubleToRawLongBits(8e6));
  private final AtomicLong foreign = new AtomicLong(Double.doubleToRawLongBits(0.5));
  private final PrefillPace pace = new PrefillPace();

  /** A request had to compute so many of its prompt tokens. */
  public void computed(double uncachedTokens) {
    move(uncached, uncachedTokens);
    move(squares, uncachedTokens * uncachedTokens);
  }

  /**
   * A request found so much of what follows its hub in the cache, as a share of it: 0 where it
   * found nothing.
   */
  public void reused(double share) {
    move(foreign, share);
  }

  /** A first token came; see {@link PrefillPace#observe}. */
  public void firstToken(double tokens, double millis) {
    pace.observe(tokens, millis);
  }

  private static void move(AtomicLong average, double value) {
    average.getAndUpdate(
        bits -> {
          double old = Double.longBitsToDouble(bits);
          return Double.doubleToRawLongBits(old + WEIGHT * (value - old));
        });
  }

  /** Prompt tokens that a request has to compute, on average. */
  public double uncachedTokens() {
    return Double.longBitsToDouble(uncached.get());
  }

  /**
   * Prompt tokens that are still to be computed of the request that a busy rank computes, on
   * average over the times at which one may look: the mean residual of renewal theory, {@code
   * E[X²]/(2 E[X])}. It is more than half of {@link #uncachedTokens()}, since a long prompt is met
   * more often than a short one.
   */
  public double tokensUnderWay() {
    return Double.longBitsToDouble(squares.get()) / Math.max(1, 2 * uncachedTokens());
  }

  /** The share of what follows a hub that a request finds in the cache, on average. */
  public double reuse() {
    return Double.longBitsToDouble(foreign.get());
  }

  /** Milliseconds for each uncached token, whichever rank computes it. */
  public double millisPerToken() {
    double measured = pace.millisPerToken();
    return Double.isNaN(measured) ? DEFAULT_MILLIS_PER_TOKEN : measured;
  }

  /**
   * Milliseconds for each uncached token at one rank: its own pace where that is clearly another
   * than everybody's, by so much as it is. To take noise for a difference would send prompts away
   * from home.
   */
  public double millisPerToken(RankState state) {
    double own = state.pace().millisPerToken();
    double all = millisPerToken();
    if (own > all * CLEARLY) {
      return own / CLEARLY;
    }
    return own < all / CLEARLY ? own * CLEARLY : all;
  }
}
