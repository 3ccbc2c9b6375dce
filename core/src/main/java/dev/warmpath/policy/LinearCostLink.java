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
    Loads loads = board.loads();
    board.readMatches();
    double perToken = perToken(board);
    for (int k = 0; k < board.liveCount(); k++) {
      int i = board.live(k);
      board.score[i] =
          weights.running() * loads.running(i)
              + weights.waiting() * loads.waiting(i)
              + weights.usage() * loads.usage(i)
              + weights.inFlight() * loads.inFlight(i)
              + weights.latency() * latency(loads, i)
              - weights.hitRate() * loads.hitRate(i)
              - weights.prefix() * board.gain(i) * perToken;
    }
    extra.addTo(board);
    return true;
  }

  @Override
  public Map<String, Double> terms(Board board, int i) {
    Loads loads = board.loads();
    Terms terms =
        Terms.of()
            .add("running", weights.running() * loads.running(i))
            .add("waiting", weights.waiting() * loads.waiting(i))
            .add("usage", weights.usage() * loads.usage(i))
            .add("in_flight", weights.inFlight() * loads.inFlight(i))
            .add("latency", weights.latency() * latency(loads, i))
            .add("hit_rate", -weights.hitRate() * loads.hitRate(i))
            .add("prefix", -weights.prefix() * board.gain(i) * perToken(board));
    extra.explain(board, i, terms);
    return terms.map();
  }

  private static double latency(Loads loads, int i) {
    double latency = loads.latency(i);
    return latency > MAX_LATENCY ? MAX_LATENCY : latency;
  }

  private static double perToken(Board board) {
    return 1.0 / board.context().environment().tokensPerRequest();
  }
}
