package dev.warmpath.policy;

import java.util.Map;

/**
 * The fewest requests, own unseen ones weighed by their tokens: of two at random among those that
 * have about the fewest. Many clients that see the same picture would else all send to the one that
 * it shows best.
 */
final class ShortestQueueLink implements Link {
  private static final int PURPOSE = 0x5a0e;

  /** A request that telemetry does not show yet is the least that it may be wrong by. */
  private static final double ABOUT = 1;

  private static final double ABOUT_SHARE = 0.125;

  @Override
  public String name() {
    return "shortest_queue";
  }

  @Override
  public boolean score(Board board) {
    Loads loads = board.loads();
    int count = board.liveCount();
    double lowest = Double.POSITIVE_INFINITY;
    for (int k = 0; k < count; k++) {
      int i = board.live(k);
      board.score[i] = loads.total(i);
      lowest = Math.min(lowest, board.score[i]);
    }
    double limit = lowest + Math.max(ABOUT, ABOUT_SHARE * lowest);
    int near = 0;
    for (int k = 0; k < count; k++) {
      near += board.score[board.live(k)] < limit ? 1 : 0;
    }
    if (near > 2) {
      keepTwo(board, limit, near);
    }
    return true;
  }

  private static void keepTwo(Board board, double limit, int near) {
    int one = PowerOfTwoLink.below(near, board.chance(PURPOSE, 0));
    int other = PowerOfTwoLink.below(near - 1, board.chance(PURPOSE, 1));
    other += other >= one ? 1 : 0;
    int seen = 0;
    for (int k = 0; k < board.liveCount(); k++) {
      int i = board.live(k);
      if (board.score[i] < limit) {
        if (seen != one && seen != other) {
          board.score[i] = Double.POSITIVE_INFINITY;
        }
        seen++;
      }
    }
  }

  @Override
  public Map<String, Double> terms(Board board, int candidate) {
    return loadTerms(board, candidate);
  }

  static Map<String, Double> loadTerms(Board board, int candidate) {
    Loads loads = board.loads();
    return Terms.of()
        .add("running", loads.running(candidate))
        .add("waiting", loads.waiting(candidate))
        .add("in_flight", loads.inFlight(candidate))
        .map();
  }
}
