package dev.warmpath.okhttp.internal;

import java.util.HashMap;
import java.util.Map;

/**
 * A worker's counters at one reading; two readings give rates. Filled by one thread, then only
 * read.
 */
final class Counters {
  private final long atNanos;
  private final Map<Integer, Values> byRank = new HashMap<>();

  /**
   * One rank's counters; NaN where not exported.
   *
   * @param generated tokens generated
   * @param prompted prompt tokens taken in
   * @param hits prompt tokens found in the cache
   * @param queries prompt tokens looked for in the cache
   */
  record Values(double generated, double prompted, double hits, double queries) {}

  Counters(long atNanos) {
    this.atNanos = atNanos;
  }

  void put(int rank, Values values) {
    byRank.put(rank, values);
  }

  /**
   * Generated tokens per second since {@code before}; NaN where not known or a counter ran
   * backwards.
   */
  double throughputSince(Counters before, int rank) {
    Values now = byRank.get(rank);
    Values then = before.byRank.get(rank);
    if (now == null || then == null || atNanos <= before.atNanos) {
      return Double.NaN;
    }
    double grown = now.generated - then.generated;
    return grown >= 0 ? grown / ((atNanos - before.atNanos) / 1e9) : Double.NaN;
  }

  /** Share of looked-up tokens found since {@code before}; NaN where nothing was looked up. */
  double hitRateSince(Counters before, int rank) {
    Values now = byRank.get(rank);
    Values then = before.byRank.get(rank);
    if (now == null || then == null) {
      return Double.NaN;
    }
    double queries = now.queries - then.queries;
    double hits = now.hits - then.hits;
    return queries > 0 && hits >= 0 ? Math.min(1, hits / queries) : Double.NaN;
  }

  /**
   * The sum of prompt and generated tokens, which only a restart makes smaller; NaN where neither
   * is exported.
   */
  double total() {
    double total = Double.NaN;
    for (Values values : byRank.values()) {
      for (double part : new double[] {values.generated, values.prompted}) {
        if (!Double.isNaN(part)) {
          total = Double.isNaN(total) ? part : total + part;
        }
      }
    }
    return total;
  }
}
