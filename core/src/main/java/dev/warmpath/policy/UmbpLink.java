package dev.warmpath.policy;

import java.util.Map;

/**
 * As {@code cache_aware}, by what a {@link dev.warmpath.index.BlockLocator} told: the load in front
 * of the request, and twice what the rank does not hold, where a held block counts by its tier. Of
 * ranks whose engines tell of their caches themselves the engine's word counts instead. No opinion
 * where nothing was told of any other: unknown is not empty, and empty may be a store that has just
 * started.
 */
final class UmbpLink implements Link {
  private static final double UNCACHED = 2;

  @Override
  public String name() {
    return "umbp";
  }

  @Override
  public boolean affinity() {
    return true;
  }

  @Override
  public boolean score(Board board) {
    if (!board.context().located().found()) {
      return false;
    }
    board.readMatches();
    if (!board.anyLocated()) {
      return false;
    }
    Loads loads = board.loads();
    double perRequest = board.context().environment().tokensPerRequest();
    int tokens = board.context().prompt().tokens();
    for (int k = 0; k < board.liveCount(); k++) {
      int i = board.live(k);
      board.score[i] = loads.total(i) * perRequest + UNCACHED * (tokens - board.worth(i));
    }
    return true;
  }

  @Override
  public Map<String, Double> terms(Board board, int candidate) {
    Loads loads = board.loads();
    return Terms.of()
        .add("load", loads.total(candidate) * board.context().environment().tokensPerRequest())
        .add("uncached", UNCACHED * (board.context().prompt().tokens() - board.worth(candidate)))
        .map();
  }
}
