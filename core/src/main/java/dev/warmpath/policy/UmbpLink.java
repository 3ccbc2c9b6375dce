package dev.warmpath.policy;

import dev.warmpath.index.BlockLocations;
import java.util.Map;

/**
 * As {@code cache_aware}, by what a {@link dev.warmpath.index.BlockLocator} told: the load in front
 * of the request, and twice what the rank does not hold, where a held block counts by its tier. No
 * opinion where nothing was told of any candidate: unknown is not empty, and empty may be a store
 * that has just started.
 */
final class UmbpLink implements Link {
  private static final double UNCACHED = 2;

  @Override
  public String name() {
    return "umbp";
  }

  @Override
  public boolean score(Board board) {
    if (!told(board)) {
      return false;
    }
    Loads loads = board.loads();
    board.readMatches();
    double perRequest = board.context().environment().tokensPerRequest();
    int tokens = board.context().prompt().tokens();
    for (int k = 0; k < board.liveCount(); k++) {
      int i = board.live(k);
      board.score[i] = loads.total(i) * perRequest + UNCACHED * (tokens - board.worth(i));
    }
    return true;
  }

  private static boolean told(Board board) {
    BlockLocations located = board.context().located();
    if (!located.found()) {
      return false;
    }
    for (int k = 0; k < board.memberCount(); k++) {
      if (located.blocks(board.candidates().holderId(board.member(k))) > 0) {
        return true;
      }
    }
    return false;
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
