package dev.warmpath.health;

import dev.warmpath.transport.RankLoad;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Brings what a worker's telemetry names (ranks, or the worker as a whole) to the ranks that the
 * client chooses among. Three cases don't match one to one:
 *
 * <ul>
 *   <li>The worker is chosen as a whole and the telemetry names ranks: amounts are added, ratios
 *       averaged. An amount that one rank does not tell is unknown in the sum.
 *   <li>Ranks are chosen and the telemetry speaks of the whole: each rank is taken to carry its
 *       equal share of the amounts and the ratios as they are. Giving each rank the whole would
 *       make a worker of eight ranks look eight times as loaded as its neighbour that names them;
 *       leaving them unknown would throw the reading away.
 *   <li>The telemetry names some ranks only: the others stay unknown, never zero.
 * </ul>
 */
final class RankLoads {
  private static final int WHOLE = -1;

  private RankLoads() {}

  /**
   * What a report says of one rank.
   *
   * @param reported the report's entries
   * @param rank the rank, -1 where the worker is chosen as a whole
   * @param rankCount how many ranks the worker has
   * @return null when it says nothing of it
   */
  static @Nullable RankLoad of(List<RankLoad> reported, int rank, int rankCount) {
    RankLoad whole = null;
    RankLoad exact = null;
    int named = 0;
    for (RankLoad load : reported) {
      if (load.rank() < 0) {
        whole = load;
      } else {
        named++;
      }
      if (load.rank() == rank) {
        exact = load;
      }
    }
    if (rank < 0) {
      return whole != null || named == 0 ? whole : sum(reported);
    }
    if (named > 0) {
      return exact;
    }
    return whole == null ? null : share(whole, rank, rankCount);
  }

  private static RankLoad sum(List<RankLoad> ranks) {
    double used = total(ranks, RankLoad::usedTokens);
    double capacity = total(ranks, RankLoad::kvCapacityTokens);
    double usage = used / capacity;
    return new RankLoad(
        WHOLE,
        total(ranks, RankLoad::runningRequests),
        total(ranks, RankLoad::waitingRequests),
        used,
        Double.isFinite(usage) ? usage : mean(ranks, RankLoad::tokenUsage),
        capacity,
        total(ranks, RankLoad::maxRunningRequests),
        mean(ranks, RankLoad::cacheHitRate),
        total(ranks, RankLoad::generationTokensPerSecond),
        total(ranks, RankLoad::waitingUncachedTokens));
  }

  private static RankLoad share(RankLoad whole, int rank, int rankCount) {
    return new RankLoad(
        rank,
        whole.runningRequests() / rankCount,
        whole.waitingRequests() / rankCount,
        whole.usedTokens() / rankCount,
        whole.tokenUsage(),
        whole.kvCapacityTokens() / rankCount,
        whole.maxRunningRequests() / rankCount,
        whole.cacheHitRate(),
        whole.generationTokensPerSecond() / rankCount,
        whole.waitingUncachedTokens() / rankCount);
  }

  private static double total(List<RankLoad> ranks, ToDoubleFunction<RankLoad> value) {
    return ranks.stream().mapToDouble(value).sum();
  }

  private static double mean(List<RankLoad> ranks, ToDoubleFunction<RankLoad> value) {
    return ranks.stream().mapToDouble(value).average().orElse(Double.NaN);
  }
}
