package dev.warmpath.fake.scheduler;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive passes in which every running request emitted exactly one token and nothing began or
 * ended.
 *
 * @param startMs when the first pass began
 * @param endsMs when each pass ended, which is when the next one began
 * @param requestIds who emitted a token in each pass, in order
 * @param cacheEvents cache changes, in order
 * @param last what the last pass computed, or null if there was no pass
 */
public record PassRun(
    double startMs,
    double[] endsMs,
    long[] requestIds,
    List<CacheEvent> cacheEvents,
    @Nullable ForwardPassMetrics last) {

  private static final double[] NO_ENDS = {};
  private static final long[] NO_REQUESTS = {};

  /**
   * A cache change.
   *
   * @param pass index of the pass it belongs to
   * @param effect what changed
   */
  public record CacheEvent(int pass, EngineEffect effect) {}

  /** Copies the events. */
  public PassRun {
    cacheEvents = List.copyOf(cacheEvents);
  }

  /**
   * Returns a run without passes.
   *
   * @param nowMs where it would have begun
   * @return the run
   */
  public static PassRun none(double nowMs) {
    return new PassRun(nowMs, NO_ENDS, NO_REQUESTS, List.of(), null);
  }

  /**
   * Returns how many passes there were.
   *
   * @return 0 or more
   */
  public int passes() {
    return endsMs.length;
  }

  /**
   * Returns when the last pass ended.
   *
   * @return the time, or the start if there was no pass
   */
  public double endMs() {
    return endsMs.length == 0 ? startMs : endsMs[endsMs.length - 1];
  }
}
