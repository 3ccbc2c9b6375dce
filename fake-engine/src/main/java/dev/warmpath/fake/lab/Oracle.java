package dev.warmpath.fake.lab;

import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RoutingPolicy;
import dev.warmpath.policy.WeightedScorer;
import java.util.List;

/**
 * The ceiling that policies are compared with: it looks into the workers, which no real router can.
 * It sends each request to the rank where its first token is due soonest, knowing what every cache
 * holds at the moment, every request on its way, and the timing model. It is greedy: a fleet could
 * do better still by knowing the future.
 */
final class Oracle {
  static final String NAME = "oracle";

  private final LabNetwork network;
  private final LatencyModel timing;
  private final int budget;

  Oracle(LabNetwork network, LatencyModel timing, int budget) {
    this.network = network;
    this.timing = timing;
    this.budget = budget;
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
                      : firstTokenMs(
                          network.request(context.prompt()),
                          worker.rank(candidate.rank().orElse(0)));
                },
                1)));
  }

  private double firstTokenMs(LabRequest request, LabRank rank) {
    CoreMetrics metrics = rank.metrics();
    long fresh = (long) request.promptTokens() - rank.cachedTokens(request);
    double decodeMs =
        metrics.running() == 0
            ? 0
            : timing.decodeMs(
                metrics.running(),
                metrics.usedTokens(),
                (int) (metrics.usedTokens() / metrics.running()),
                metrics.totalTokens());
    // What does not fit waits until a running request ends; full pools are the last resort.
    double full = metrics.usedTokens() + request.promptTokens() > metrics.totalTokens() ? 1e6 : 0;
    return prefillMs(rank.pendingTokens() + fresh) + decodeMs + full;
  }

  /** Pass by pass. */
  private double prefillMs(long tokens) {
    long whole = tokens / budget;
    int rest = (int) (tokens % budget);
    return whole * timing.prefillMs(1, budget, 0) + (rest == 0 ? 0 : timing.prefillMs(1, rest, 0));
  }
}
