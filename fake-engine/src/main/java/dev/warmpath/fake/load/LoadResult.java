package dev.warmpath.fake.load;

import java.util.List;
import java.util.Map;

/**
 * What came back under one policy.
 *
 * @param policy the policy's name
 * @param requests requests that ended, failed ones included
 * @param failed requests that failed
 * @param errors failed requests by kind
 * @param seconds from the first request to the last answer
 * @param requestsPerSecond requests that succeeded, per second
 * @param ttft time to the first token, of streamed requests that succeeded
 * @param interToken time between two events of a stream
 * @param endToEnd time to the whole answer, of requests that succeeded
 * @param promptTokens prompt tokens, as engines counted them
 * @param cachedTokens those of them found in a cache
 * @param completionTokens tokens generated
 * @param perWorker requests that each worker answered; of pairs, that is decode
 * @param loadCov standard deviation over mean of {@code perWorker}
 * @param perPrefillWorker prompts that each prefill worker computed; empty where no pairs served
 * @param prefillLoadCov standard deviation over mean of {@code perPrefillWorker}; NaN where empty
 * @param timeline what went on, second by second of the run
 */
public record LoadResult(
    String policy,
    long requests,
    long failed,
    Map<String, Long> errors,
    double seconds,
    double requestsPerSecond,
    LatencySummary ttft,
    LatencySummary interToken,
    LatencySummary endToEnd,
    long promptTokens,
    long cachedTokens,
    long completionTokens,
    Map<String, Long> perWorker,
    double loadCov,
    Map<String, Long> perPrefillWorker,
    double prefillLoadCov,
    List<Slice> timeline) {

  /** Share of prompt tokens found in a cache, 0..1. */
  public double hitRate() {
    return promptTokens == 0 ? 0 : (double) cachedTokens / promptTokens;
  }

  /**
   * One slice of the run.
   *
   * @param endSeconds its end, from the run's begin
   * @param completed requests that succeeded in it
   * @param failed requests that failed in it
   * @param meanTtftMillis their mean time to the first token, or to the whole answer where not
   *     streamed
   * @param hitRate their share of cached prompt tokens
   */
  public record Slice(
      double endSeconds, long completed, long failed, double meanTtftMillis, double hitRate) {}
}
