package dev.warmpath.fake.lab;

import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RoutingPolicy;
import dev.warmpath.policy.WeightedScorer;
import java.util.List;

/**
 * The ceiling that policies are compared with: it looks into the workers, which no real router can.
 * For each rank it reckons when the request's first token would come, knowing what the cache holds
 * at the moment, every request under way there with the length of its answer, and the timing model;
 * to that it adds what the request costs those behind it, which is the time to compute what the
 * cache lacks, times a weight. It takes the cheapest.
 *
 * <p>No weight is best for all traffic, so a comparison takes the one of {@link #WEIGHTS} that came
 * out best in hindsight. A router that also knew the future could still do better.
 */
final class Oracle {
  static final String NAME = "oracle";

  /** From one that thinks of the request alone to one that spares the fleet all it can. */
  static final List<Double> WEIGHTS = List.of(0.0, 1.0, 2.0, 4.0, 8.0);

  private final LabNetwork network;
  private final LatencyModel timing;
  private final int budget;
  private final double weight;

  Oracle(LabNetwork network, LatencyModel timing, int budget, double weight) {
    this.network = network;
    this.timing = timing;
    this.budget = budget;
    this.weight = weight;
    network.watch();
  }

  RoutingPolicy policy() {
    return Policies.scored(
        NAME,
        List.of(
            new WeightedScorer(
                "ttft_ms",
                (context, candidate, state, matchedTokens) -> {
                  LabWorker worker = network.worker(candidate.worker().id().value());
                  return worker == null
                      ? Double.NaN
                      : cost(
                          network.request(context.prompt()),
                          worker.rank(candidate.rank().orElse(0)));
                },
                1)));
  }

  private double cost(LabRequest request, LabRank rank) {
    CoreMetrics metrics = rank.metrics();
    int fresh = request.promptTokens() - rank.cachedTokens(request);
    double step = 0;
    if (metrics.running() > 0) {
      step =
          timing.decodeMs(
              metrics.running(),
              metrics.usedTokens(),
              (int) (metrics.usedTokens() / metrics.running()),
              metrics.totalTokens());
    }
    return roomMs(request, rank, metrics, step)
        + prefillMs(rank.pendingTokens() + fresh)
        + step
        + weight * prefillMs(fresh);
  }

  /** How long until enough of those under way have ended for this one to fit into the pool. */
  private static double roomMs(
      LabRequest request, LabRank rank, CoreMetrics metrics, double stepMs) {
    long missing = request.promptTokens() - metrics.totalTokens();
    for (LabExchange other : rank.underWay()) {
      missing += other.heldTokens();
    }
    if (missing <= 0) {
      return 0;
    }
    int steps = 0;
    for (LabExchange other :
        rank.underWay().stream()
            .sorted(java.util.Comparator.comparingInt(LabExchange::tokensToCome))
            .toList()) {
      steps = other.tokensToCome();
      missing -= other.heldTokens();
      if (missing <= 0) {
        break;
      }
    }
    return steps * stepMs;
  }

  /** Pass by pass. */
  private double prefillMs(long tokens) {
    long whole = tokens / budget;
    int rest = (int) (tokens % budget);
    return whole * timing.prefillMs(1, budget, 0) + (rest == 0 ? 0 : timing.prefillMs(1, rest, 0));
  }
}
