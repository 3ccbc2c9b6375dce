package dev.warmpath.fake.lab;

import dev.warmpath.fake.load.LoadResult;
import java.util.List;
import java.util.Map;

/**
 * What a run came to.
 *
 * @param load what the users saw
 * @param seed the seed of the run
 * @param clients router clients
 * @param virtualSeconds virtual time from the first request to the last answer
 * @param realSeconds how long the simulation took
 * @param passes forward passes of all ranks
 * @param preemptions requests that lost their KV blocks while running
 * @param knowledge what became of the documents in front of prompts
 * @param workers the workers over time, in order of their addresses
 */
public record LabResult(
    LoadResult load,
    long seed,
    int clients,
    double virtualSeconds,
    double realSeconds,
    long passes,
    long preemptions,
    LabTransfers knowledge,
    Map<String, List<Sample>> workers) {

  /** Copies {@code workers}. */
  public LabResult {
    workers = java.util.Collections.unmodifiableMap(new java.util.LinkedHashMap<>(workers));
  }

  /**
   * A worker at one moment.
   *
   * @param seconds virtual time since the first request
   * @param running requests being computed
   * @param waiting requests in its queue
   * @param usage share of the KV pool that running requests hold
   */
  public record Sample(double seconds, int running, int waiting, double usage) {}
}
