package dev.warmpath.policy;

import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.StableHash;

/**
 * A key's own order of the workers, by rendezvous (Thaler and Ravishankar 1998): each worker's
 * weight depends on the key and its name only, so that clients with different lists agree on all
 * but the workers that one of them does not have, and a worker that comes or goes moves its own
 * keys only. Holds the first few; reused from decision to decision.
 */
final class Ranking {
  /** The most that are put in order. */
  static final int MOST = 24;

  private final int[] who = new int[MOST];
  private final long[] weights = new long[MOST];
  private int size;

  /**
   * Puts the best in order.
   *
   * @param among candidates' numbers, the first {@code count} of which take part
   * @param want how many to keep, at most {@link #MOST}
   */
  void rank(CandidateSet candidates, long key, int[] among, int count, int want) {
    size = 0;
    int most = Math.min(want, count);
    for (int k = 0; k < count; k++) {
      int i = among[k];
      offer(i, StableHash.pair(key, candidates.stableHash(i)) + Long.MIN_VALUE, most);
    }
  }

  /**
   * Puts some of a key's first {@code replicas} in order by chance: where there are many, each
   * decision looks at others.
   *
   * @param share the share of all workers that are replicas: a worker is one by its weight alone
   */
  void sample(Board board, long key, int purpose, double share, int want) {
    size = 0;
    CandidateSet candidates = board.candidates();
    for (int k = 0; k < board.liveCount(); k++) {
      int i = board.live(k);
      if (within(StableHash.pair(key, candidates.stableHash(i)), share)) {
        offer(i, board.chance(purpose, i), want);
      }
    }
  }

  /** Whether a weight is among the largest of that share, as far as weights are spread evenly. */
  static boolean within(long weight, double share) {
    return (~weight >>> 11) * 0x1p-53 < share;
  }

  void clear() {
    size = 0;
  }

  /** Takes a candidate in if its weight is among the largest; not one that is in already. */
  void offer(int i, long weight, int most) {
    if (size == most && weight <= weights[size - 1]) {
      return;
    }
    int at = size < most ? size++ : size - 1;
    while (at > 0 && weights[at - 1] < weight) {
      weights[at] = weights[at - 1];
      who[at] = who[at - 1];
      at--;
    }
    weights[at] = weight;
    who[at] = i;
  }

  int size() {
    return size;
  }

  /** The candidate at a place, 0-based. */
  int get(int place) {
    return who[place];
  }

  /** Its place, or -1. */
  int indexOf(int candidate) {
    for (int k = 0; k < size; k++) {
      if (who[k] == candidate) {
        return k;
      }
    }
    return -1;
  }
}
