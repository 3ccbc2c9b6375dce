package dev.warmpath.policy;

import java.util.List;
import java.util.Map;

/** The weighted sum of an application's scorers. */
final class ScorerLink implements Link {
  private final String name;
  private final WeightedScorers scorers;

  ScorerLink(String name, List<WeightedScorer> scorers) {
    this.name = name;
    this.scorers = new WeightedScorers(scorers);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public boolean score(Board board) {
    for (int k = 0; k < board.liveCount(); k++) {
      board.score[board.live(k)] = 0;
    }
    return scorers.addTo(board);
  }

  @Override
  public Map<String, Double> terms(Board board, int candidate) {
    Terms terms = Terms.of();
    scorers.explain(board, candidate, terms);
    return terms.map();
  }
}
