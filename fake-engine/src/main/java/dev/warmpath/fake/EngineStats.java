package dev.warmpath.fake;

import dev.warmpath.fake.internal.surface.RequestCounts;
import dev.warmpath.fake.live.RankSnapshot;
import java.util.List;

/**
 * What happened at a fake engine so far, restarts included, and what it is doing now.
 *
 * <p>Gauges are as old as the last pass boundary.
 *
 * @param running requests in the running sets
 * @param waiting requests queued
 * @param activeBlocks KV blocks held by running requests
 * @param cachedBlocks KV blocks that only the prefix cache holds
 * @param totalBlocks KV blocks of all ranks
 * @param connections open HTTP connections
 * @param received inference requests that arrived
 * @param served inference requests answered completely
 * @param failed inference requests that a fault hit
 * @param aborted inference requests given up by their client or an admin call
 * @param rejected inference requests answered with an error of the engine's own
 * @param leaked inference requests left running after their client had gone
 * @param preemptions running requests that lost their blocks
 * @param promptTokens prompt tokens of admitted requests
 * @param cachedTokens those of them found in the prefix cache
 * @param generatedTokens tokens generated
 * @param starts how often the engine started
 */
public record EngineStats(
    int running,
    int waiting,
    int activeBlocks,
    int cachedBlocks,
    int totalBlocks,
    int connections,
    long received,
    long served,
    long failed,
    long aborted,
    long rejected,
    long leaked,
    long preemptions,
    long promptTokens,
    long cachedTokens,
    long generatedTokens,
    int starts) {

  /** The stats of nothing. */
  public static final EngineStats NONE =
      new EngineStats(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** The stats of one life, from what its ranks published last. */
  static EngineStats of(List<RankSnapshot> ranks, RequestCounts counts, int connections) {
    int running = 0;
    int waiting = 0;
    int active = 0;
    int cached = 0;
    int total = 0;
    long preemptions = 0;
    long promptTokens = 0;
    long cachedTokens = 0;
    long generatedTokens = 0;
    for (RankSnapshot rank : ranks) {
      var metrics = rank.metrics();
      running += metrics.running();
      waiting += metrics.waiting();
      active += metrics.activeBlocks();
      cached += metrics.cachedBlocks();
      total += metrics.totalBlocks();
      preemptions += metrics.preemptions();
      promptTokens += metrics.promptTokens();
      cachedTokens += metrics.cachedTokens();
      generatedTokens += metrics.generatedTokens();
    }
    return new EngineStats(
        running,
        waiting,
        active,
        cached,
        total,
        connections,
        counts.received(),
        counts.served(),
        counts.failed(),
        counts.aborted(),
        counts.rejected(),
        counts.leaked(),
        preemptions,
        promptTokens,
        cachedTokens,
        generatedTokens,
        1);
  }

  /**
   * Adds the stats of another engine.
   *
   * @param other the other engine's
   * @return the sums
   */
  public EngineStats plus(EngineStats other) {
    return new EngineStats(
        running + other.running,
        waiting + other.waiting,
        activeBlocks + other.activeBlocks,
        cachedBlocks + other.cachedBlocks,
        totalBlocks + other.totalBlocks,
        connections + other.connections,
        received + other.received,
        served + other.served,
        failed + other.failed,
        aborted + other.aborted,
        rejected + other.rejected,
        leaked + other.leaked,
        preemptions + other.preemptions,
        promptTokens + other.promptTokens,
        cachedTokens + other.cachedTokens,
        generatedTokens + other.generatedTokens,
        starts + other.starts);
  }

  /** Only what stays counted after an engine has stopped. */
  EngineStats countersOnly() {
    return new EngineStats(
        0,
        0,
        0,
        0,
        0,
        0,
        received,
        served,
        failed,
        aborted,
        rejected,
        leaked,
        preemptions,
        promptTokens,
        cachedTokens,
        generatedTokens,
        starts);
  }

  /**
   * Returns the share of prompt tokens found in the prefix cache.
   *
   * @return 0 to 1; 0 before the first prompt
   */
  public double hitRate() {
    return promptTokens == 0 ? 0 : (double) cachedTokens / promptTokens;
  }
}
