package dev.warmpath.index;

import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRank;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Puts together what several nodes hold of a prompt, by rank: nodes that are the same rank, as its
 * tensor-parallel parts may be, add up block by block. One look-up, one thread.
 */
final class RankTiers {
  private record Held(BlockTiers blocks, int blockTokens) {}

  private final LookupTargets workers;
  private final Map<WorkerRank, Held> byRank = new LinkedHashMap<>();
  private int ignored;

  RankTiers(LookupTargets workers) {
    this.workers = workers;
  }

  /** Takes in the nodes of an answer that are workers of a group. */
  void add(LookupTargets.Group group, int blockTokens, List<BlockAnswer.Node> nodes) {
    for (BlockAnswer.Node node : nodes) {
      List<WorkerRank> ranks = ranks(group, workers.target(node));
      if (ranks.isEmpty()) {
        ignored++;
      }
      for (WorkerRank rank : ranks) {
        byRank.merge(
            rank,
            new Held(node.blocks(), blockTokens),
            (one, other) -> new Held(one.blocks().with(other.blocks()), blockTokens));
      }
    }
  }

  /** The ranks that a node stands for: all of a worker's where it names none. */
  private List<WorkerRank> ranks(
      LookupTargets.Group group, NodeIdResolver.@Nullable Target target) {
    Worker worker = target == null ? null : workers.topology().worker(target.worker());
    if (target == null || worker == null || !group.workers().contains(worker)) {
      return List.of();
    }
    List<WorkerRank> all = worker.ranks();
    if (target.rank().isEmpty() || all.size() == 1) {
      return all;
    }
    int rank = target.rank().getAsInt();
    return rank >= 0 && rank < all.size() ? List.of(all.get(rank)) : List.of();
  }

  /** Nodes that were none of the workers asked for. */
  int ignored() {
    return ignored;
  }

  /** The ranks that hold the beginning of a prompt of so many tokens. */
  List<BlockLocations.Match> matches(int promptTokens) {
    List<BlockLocations.Match> matches = new ArrayList<>(byRank.size());
    byRank.forEach(
        (rank, held) -> {
          TierCounts tiers = held.blocks().ofRun();
          int run = tiers.blocks();
          if (run > 0) {
            matches.add(
                new BlockLocations.Match(
                    rank, run, found(run, held.blockTokens(), promptTokens), tiers));
          }
        });
    return matches;
  }

  /** Whole blocks, and never the last token, which an engine computes to go on from. */
  private static int found(int run, int blockTokens, int promptTokens) {
    long held = Math.min((long) run * blockTokens, Math.max(0, promptTokens - 1));
    return (int) (held / blockTokens * blockTokens);
  }
}
