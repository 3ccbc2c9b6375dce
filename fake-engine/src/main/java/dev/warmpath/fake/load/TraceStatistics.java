package dev.warmpath.fake.load;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What a trace is like, in numbers.
 *
 * @param rows requests
 * @param sessions conversations
 * @param spanSeconds time from the first arrival to the last
 * @param requestsPerSecond rows over span
 * @param input prompt lengths
 * @param output answer lengths
 * @param blocks blocks of all prompts, partial ones included
 * @param uniqueBlocks different ones of them
 * @param distinctFirstBlocks different beginnings
 * @param distinctArrivals different times of arrival
 * @param mostAtOnce requests at the busiest of them
 * @param reusableShare share of blocks that an endless cache, one for all, would have had
 */
public record TraceStatistics(
    int rows,
    int sessions,
    double spanSeconds,
    double requestsPerSecond,
    Lengths input,
    Lengths output,
    long blocks,
    long uniqueBlocks,
    int distinctFirstBlocks,
    int distinctArrivals,
    int mostAtOnce,
    double reusableShare) {

  /**
   * A distribution of lengths in tokens. Percentile p of n sorted lengths is the one at {@code (n -
   * 1) * p / 100}, rounded down, from 0.
   *
   * @param total their sum
   * @param mean their mean
   * @param p50 the median
   * @param p90 the 90th percentile
   * @param p99 the 99th percentile
   * @param max the longest
   */
  public record Lengths(long total, double mean, int p50, int p90, int p99, int max) {
    private static Lengths of(int[] lengths) {
      int[] sorted = lengths.clone();
      Arrays.sort(sorted);
      long total = Arrays.stream(sorted).asLongStream().sum();
      return new Lengths(
          total,
          (double) total / sorted.length,
          percentile(sorted, 50),
          percentile(sorted, 90),
          percentile(sorted, 99),
          sorted[sorted.length - 1]);
    }

    private static int percentile(int[] sorted, int percent) {
      return sorted[(int) ((sorted.length - 1L) * percent / 100)];
    }
  }

  /**
   * Counts.
   *
   * @param requests a trace, not empty
   * @return its statistics
   */
  public static TraceStatistics of(List<TraceRequest> requests) {
    if (requests.isEmpty()) {
      throw new IllegalArgumentException("a trace without requests has no statistics");
    }
    Set<Long> seen = new HashSet<>();
    Set<Long> firsts = new HashSet<>();
    Set<String> sessions = new HashSet<>();
    Map<Double, Integer> arrivals = new HashMap<>();
    long blocks = 0;
    long hits = 0;
    double first = Double.POSITIVE_INFINITY;
    double last = Double.NEGATIVE_INFINITY;
    for (TraceRequest request : requests) {
      sessions.add(request.sessionId());
      arrivals.merge(request.arrivalMs(), 1, Integer::sum);
      firsts.add(request.hashIds()[0]);
      first = Math.min(first, request.arrivalMs());
      last = Math.max(last, request.arrivalMs());
      blocks += request.hashIds().length;
      boolean prefix = true;
      for (long id : request.hashIds()) {
        prefix &= !seen.add(id);
        hits += prefix ? 1 : 0;
      }
    }
    double span = (last - first) / 1e3;
    return new TraceStatistics(
        requests.size(),
        sessions.size(),
        span,
        span > 0 ? requests.size() / span : 0,
        Lengths.of(requests.stream().mapToInt(TraceRequest::inputTokens).toArray()),
        Lengths.of(requests.stream().mapToInt(TraceRequest::outputTokens).toArray()),
        blocks,
        seen.size(),
        firsts.size(),
        arrivals.size(),
        arrivals.values().stream().mapToInt(n -> n).max().orElse(0),
        (double) hits / blocks);
  }
}
