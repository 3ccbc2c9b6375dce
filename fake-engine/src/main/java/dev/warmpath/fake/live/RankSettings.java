package dev.warmpath.fake.live;

import dev.warmpath.fake.scheduler.CoreOptions;
import java.util.Objects;

/**
 * What a rank is, besides its scheduler.
 *
 * @param dpRank its place among the data-parallel ranks, 0 or more
 * @param handoffs whether it takes part in handoffs, as prefill and decode workers do; an
 *     aggregated rank never takes a command about one
 * @param commandCapacity how many commands about handoffs may wait to be taken
 * @param observer sees what it publishes
 */
public record RankSettings(
    int dpRank, boolean handoffs, int commandCapacity, RankObserver observer) {
  /** Checks the ranges. */
  public RankSettings {
    Objects.requireNonNull(observer, "observer");
    if (dpRank < 0) {
      throw new IllegalArgumentException("dpRank must be 0 or more, was " + dpRank);
    }
    if (commandCapacity < 1) {
      throw new IllegalArgumentException(
          "commandCapacity must be at least 1, was " + commandCapacity);
    }
  }

  /**
   * Describes a rank that computes prompts and answers alike.
   *
   * @param dpRank its place among the data-parallel ranks
   * @param options the scheduler's knobs
   * @return settings with nobody observing
   */
  public static RankSettings aggregated(int dpRank, CoreOptions options) {
    return new RankSettings(dpRank, false, capacity(options), RankObserver.NONE);
  }

  /**
   * Describes a rank of a prefill or decode worker.
   *
   * @param dpRank its place among the data-parallel ranks
   * @param options the scheduler's knobs
   * @return settings with nobody observing
   */
  public static RankSettings handoffs(int dpRank, CoreOptions options) {
    return new RankSettings(dpRank, true, capacity(options), RankObserver.NONE);
  }

  private static int capacity(CoreOptions options) {
    boolean unbounded = options.maxNumSeqs() == Integer.MAX_VALUE;
    int requests = unbounded ? options.numBlocks() : options.maxNumSeqs();
    return 2 * Math.max(1, Math.min(requests, Integer.MAX_VALUE / 2));
  }

  /**
   * Returns these settings with another observer.
   *
   * @param value sees what the rank publishes
   * @return a copy
   */
  public RankSettings withObserver(RankObserver value) {
    return new RankSettings(dpRank, handoffs, commandCapacity, value);
  }
}
