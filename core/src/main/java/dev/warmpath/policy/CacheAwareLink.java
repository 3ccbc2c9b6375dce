package dev.warmpath.policy;

import java.util.Map;

/**
 * The fewest tokens to pay for: the load in front of the request at so many tokens each, and those
 * of the prompt that the rank does not hold, twice, since a conversation that moves leaves its
 * cache behind and pays again when it goes on. Affinity has a price and no switch: it fades as the
 * gap in load grows. What every candidate holds cancels out, and so a cold request goes by load
 * alone.
 */
final class CacheAwareLink implements Link {
  private static final double UNCACHED = 2;

  @Override
  public String name() {
    return "cache_aware";
  }

  @Override
  public boolean affinity() {
    return true;
  }

  @Override
  public boolean score(Board board) {
    Loads loads = board.loads();
    board.readMatches();
    double perRequest = board.context().environment().tokensPerRequest();
    int tokens = board.context().prompt().tokens();
    for (int k = 0; k < board.liveCount(); k++) {
      int i = board.live(k);
      board.score[i] = loads.total(i) * perRequest + UNCACHED * (tokens - board.own(i));
    }
    return true;
  }

  @Override
  public Map<String, Double> terms(Board board, int candidate) {
    Loads loads = board.loads();
    return Terms.of()
        .add("load", loads.total(candidate) * board.context().environment().tokensPerRequest())
        .add("uncached", UNCACHED * (board.context().prompt().tokens() - board.own(candidate)))
        .map();
  }
}
