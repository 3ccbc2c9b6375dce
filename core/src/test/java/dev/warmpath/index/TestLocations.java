package dev.warmpath.index;

import dev.warmpath.worker.WorkerRank;
import java.util.ArrayList;
import java.util.List;

/** Look-ups' results, made by hand. */
public final class TestLocations {
  private final List<BlockLocations.Match> matches = new ArrayList<>();

  /** A rank that holds so many leading blocks, in this order of tiers. */
  public TestLocations holds(WorkerRank rank, int blockTokens, int hbm, int dram, int ssd) {
    int blocks = hbm + dram + ssd;
    matches.add(
        new BlockLocations.Match(
            rank, blocks, blocks * blockTokens, new TierCounts(hbm, dram, ssd)));
    return this;
  }

  /** What was found. */
  public BlockLocations found() {
    return new BlockLocations(
        "test", BlockLocations.Outcome.FOUND, null, 100, 0, 1_000_000, matches);
  }

  /** A look-up that told nothing. */
  public static BlockLocations failed() {
    return new BlockLocations(
        "test", BlockLocations.Outcome.FAILED, "deadline", 0, 0, 1_000_000, List.of());
  }

  /** A look-up that found nothing. */
  public static BlockLocations empty() {
    return new BlockLocations(
        "test", BlockLocations.Outcome.EMPTY, null, 100, 0, 1_000_000, List.of());
  }
}
