package dev.warmpath.policy;

import java.util.Map;

/** The fewest requests, own unseen ones weighed by their tokens. */
final class ShortestQueueLink implements Link {
  @Override
  public String name() {
    return "shortest_queue";
  }

  @Override
  public boolean score(Board board) {
    Loads loads = board.loads();
    for (int k = 0; k < board.liveCount(); k++) {
      int i = board.live(k);
      board.score[i] = loads.total(i);
    }
    return true;
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
