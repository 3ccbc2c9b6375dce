package dev.warmpath.fake.study;

import java.util.List;

/**
 * What a run came to, over the requests that arrived in its window.
 *
 * @param policy the policy's name
 * @param requests how many got an answer
 * @param failed how many of the whole run got none
 * @param hitRate share of prompt tokens found in a cache
 * @param meanMs mean time to the first token
 * @param p50Ms its median
 * @param p99Ms its 99th percentile
 * @param cov standard deviation over mean of the workers' requests
 * @param maxShare the largest share of requests that one worker got
 * @param migrations share of a conversation's later requests that went to another worker than the
 *     one before
 * @param perSecond answers a second that ended in the window
 * @param slices the run from its beginning, by the time of arrival, {@link StudyMeter#SLICE_MS}
 *     each
 */
public record StudyResult(
    String policy,
    long requests,
    long failed,
    double hitRate,
    double meanMs,
    double p50Ms,
    double p99Ms,
    double cov,
    double maxShare,
    double migrations,
    double perSecond,
    List<Slice> slices) {

  /** Copies {@code slices}. */
  public StudyResult {
    slices = List.copyOf(slices);
  }

  /**
   * Ten seconds of a run.
   *
   * @param requests requests that arrived
   * @param meanMs their mean time to the first token
   * @param hitRate their share of cached prompt tokens
   */
  public record Slice(long requests, double meanMs, double hitRate) {}
}
