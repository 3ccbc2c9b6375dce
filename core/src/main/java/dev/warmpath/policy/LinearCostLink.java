package dev.warmpath.policy;

import java.util.List;
import java.util.Map;

/**
 * The weighted sum that {@link LinearCostWeights} defines, and an application's terms beside it.
 */
final class LinearCostLink implements Link {
  private static final double MAX_LATENCY = 4;

  private final LinearCostWeights weights;
  private final WeightedScorers extra;

  LinearCostLink(LinearCostWeights weights, List<WeightedScorer> extra) {
    this.weights = weights;
    this.extra = new WeightedScorers(extra);
  }

  @Override
  public String name() {
    return "linear_cost";
  }

  @Override
  public boolean score(Board board) {
    board.readLoads();
    board.readMatches();
    double perToken = perToken(board);
    for (int k = 0; k < board.liveCount(); k++) {
      int i = board.live(k);
      board.score[i] =
          weights.running() * board.running(i)
              + weights.waiting() * board.waiting(i)
              + weights.usage() * board.usage(i)
              + weights.inFlight() * board.inFlight(i)
              + weights.latency() * latency(board, i)
              - weights.hitRate() * board.hitRate(i)
              - weights.prefix() * board.gain(i) * perToken;
    }
    extra.addTo(board);
    return true;
  }

  @Override
  public Map<String, Double> terms(Board board, int i) {
    Terms terms =
        Terms.of()
            .add("running", weights.running() * board.running(i))
            .add("waiting", weights.waiting() * board.waiting(i))
            .add("usage", weights.usage() * board.usage(i))
            .add("in_flight", weights.inFlight() * board.inFlight(i))
            .add("latency", weights.latency() * latency(board, i))
            .add("hit_rate", -weights.hitRate() * board.hitRate(i))
            .add("prefix", -weights.prefix() * board.gain(i) * perToken(board));
    extra.explain(board, i, terms);
    return terms.map();
  }

  private static double latency(Board board, int i) {
    return Math.min(MAX_LATENCY, board.latency(i));
  }

  private static double perToken(Board board) {
    return 1.0 / board.context().environment().tokensPerRequest();
  }
}
