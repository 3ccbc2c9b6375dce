package dev.warmpath.policy;

import java.util.List;

/** Adds an application's weighted scores to those on a board. */
final class WeightedScorers {
  private final WeightedScorer[] scorers;
  private final Complaint complaint = new Complaint();

  WeightedScorers(List<WeightedScorer> scorers) {
    this.scorers = scorers.toArray(new WeightedScorer[0]);
  }

  /** Adds to the score of those in play; false when no scorer knew anything of anyone. */
  boolean addTo(Board board) {
    boolean any = false;
    for (WeightedScorer scorer : scorers) {
      double mean = read(board, scorer);
      if (!Double.isNaN(mean)) {
        any = true;
        for (int k = 0; k < board.liveCount(); k++) {
          int i = board.live(k);
          board.score[i] += contribution(board, scorer, i, mean);
        }
      }
    }
    return any;
  }

  void explain(Board board, int candidate, Terms terms) {
    for (WeightedScorer scorer : scorers) {
      double mean = read(board, scorer);
      terms.add(
          scorer.name(), Double.isNaN(mean) ? 0 : contribution(board, scorer, candidate, mean));
    }
  }

  private static double contribution(Board board, WeightedScorer scorer, int i, double mean) {
    double value = board.extra[i];
    return scorer.weight() * (Double.isNaN(value) ? mean : value);
  }

  /** Asks one scorer about every member; the mean of what it knows, NaN for nothing. */
  private double read(Board board, WeightedScorer scorer) {
    board.readMatches();
    double sum = 0;
    int known = 0;
    for (int k = 0; k < board.memberCount(); k++) {
      int i = board.member(k);
      double value;
      try {
        value =
            scorer.scorer().score(board.context(), board.rank(i), board.state(i), board.matched(i));
      } catch (RuntimeException e) {
        complaint.about("Scorer " + scorer.name() + " failed and counts as unknown", e);
        value = Double.NaN;
      }
      board.extra[i] = value;
      if (!Double.isNaN(value)) {
        sum += value;
        known++;
      }
    }
    return known == 0 ? Double.NaN : sum / known;
  }
}
