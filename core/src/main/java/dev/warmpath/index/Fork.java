package dev.warmpath.index;

/**
 * What was learned at a place where prompts may part: how often what follows there had been seen
 * before, and how often the prefix up to there was found in a cache. Written by the one writer,
 * read by anybody.
 */
final class Fork {
  /** Visits beyond which the past begins to fade. */
  private static final float MANY = 50;

  private static final float FADING = 0.98f;

  /** A prefix that was never asked for is likely to be there: its fork has been seen. */
  private static final float PRESENCE = 0.8f;

  private static final float LEAST_WEIGHT = 0.05f;
  private static final float PRIOR_REPORTS = 3;

  /** Visits that went on, and how many of them found what follows reused. */
  private volatile long reuse;

  /** A moving average, and how many reports are in it. */
  private volatile long presence = Fading.pair(PRESENCE, 0);

  Fork() {}

  Fork(long reuse, long presence) {
    this.reuse = reuse;
    this.presence = presence;
  }

  long reuse() {
    return reuse;
  }

  long presence() {
    return presence;
  }

  void visited(boolean reused) {
    long now = reuse;
    float visits = Fading.first(now);
    float times = Fading.second(now);
    if (visits >= MANY) {
      visits *= FADING;
      times *= FADING;
    }
    reuse = Fading.pair(visits + 1, times + (reused ? 1 : 0));
  }

  void found(boolean present) {
    long now = presence;
    float average = Fading.first(now);
    float reports = Fading.second(now);
    float weight = Math.max(LEAST_WEIGHT, 1 / (PRIOR_REPORTS + reports));
    presence = Fading.pair(average + weight * ((present ? 1 : 0) - average), reports + 1);
  }
}
