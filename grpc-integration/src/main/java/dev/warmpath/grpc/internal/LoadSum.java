package dev.warmpath.grpc.internal;

import dev.warmpath.transport.RankLoad;
import java.util.List;

/** Adds up the loads of ranks that requests can't name: what is chosen is the worker as a whole. */
final class LoadSum {
  private int ranks;
  private double running;
  private double waiting;
  private double used;
  private double usage;
  private double capacity;
  private double maxRunning;
  private double hitRate;
  private double throughput;
  private double uncached;

  void add(RankLoad load) {
    ranks++;
    running += load.runningRequests();
    waiting += load.waitingRequests();
    used += load.usedTokens();
    usage += load.tokenUsage();
    capacity += load.kvCapacityTokens();
    maxRunning += load.maxRunningRequests();
    hitRate += load.cacheHitRate();
    throughput += load.generationTokensPerSecond();
    uncached += load.waitingUncachedTokens();
  }

  /** The sum, shares as their mean; nothing where there was nothing. */
  List<RankLoad> ranks() {
    return ranks == 0
        ? List.of()
        : List.of(
            new RankLoad(
                -1,
                running,
                waiting,
                used,
                usage / ranks,
                capacity,
                maxRunning,
                hitRate / ranks,
                throughput,
                uncached));
  }

  /** Capacities are never zero: the server does not know them. */
  static double unlessZero(int value) {
    return value == 0 ? Double.NaN : value;
  }
}
