package dev.warmpath.fake.lab;

import java.util.List;

/**
 * How a fleet took what happened to some of its workers: incidents that follow each other within
 * {@link #PATIENCE_S} are one.
 *
 * @param incidents what happened, in order
 * @param before hit rate and load in the {@link #BEFORE_S} before
 * @param after the lowest hit rate, and the highest load, from the first incident on until {@link
 *     #PATIENCE_S} after the last
 * @param seconds from the last incident until the hit rate was back within {@link #BACK} of that
 *     before: 0 where it never was further off, NaN where it was not back in that time
 */
public record LabRecovery(List<LabIncident> incidents, State before, State after, double seconds) {
  /** Width of the windows that are compared, in seconds; they begin a second apart. */
  public static final int WINDOW_S = 5;

  /** How long before an incident is what was before it, in seconds. */
  public static final int BEFORE_S = 30;

  /** How long recovery is waited for, in seconds. */
  public static final int PATIENCE_S = 60;

  /** How near to the hit rate before counts as back: a difference of shares, 0 to 1. */
  public static final double BACK = 0.02;

  /** Copies {@code incidents}. */
  public LabRecovery {
    incidents = List.copyOf(incidents);
  }

  /**
   * What the fleet is like, over windows of {@link #WINDOW_S}.
   *
   * @param hitRate share of prompt tokens found in caches; NaN where nothing was sent
   * @param largestShare the most requests that one worker got in a window, over those of a worker
   *     on average: 1 is its fair share
   * @param longestQueue the most requests that waited at one worker, looked at once a second
   */
  public record State(double hitRate, double largestShare, int longestQueue) {}
}
