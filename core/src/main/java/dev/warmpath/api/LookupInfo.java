package dev.warmpath.api;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What an index outside of the client, such as a UMBP master, told of a prompt before it was
 * decided on.
 *
 * @param locator the index's name
 * @param outcome {@code found}; {@code empty} where it knows of no worker that holds the prompt's
 *     beginning; {@code failed} where it told nothing; {@code skipped} where it was not asked
 * @param detail why it failed or was skipped, or what cut it short; else null
 * @param askedBlocks the prompt's first blocks that the answer is about
 * @param ignoredNodes those it named that are none of the workers that were asked for
 * @param millis how long it took
 * @param matches the workers that hold the prompt's beginning
 */
public record LookupInfo(
    String locator,
    String outcome,
    @Nullable String detail,
    int askedBlocks,
    int ignoredNodes,
    double millis,
    List<Match> matches) {
  /** Copies the list. */
  public LookupInfo {
    matches = List.copyOf(matches);
  }

  /**
   * A worker that holds the prompt's beginning.
   *
   * @param worker the worker's address
   * @param rank the data-parallel rank, or null where none is named
   * @param blocks how many blocks without a gap, from the first on
   * @param tokens the prompt tokens that the worker need not compute
   * @param tiers how many of the blocks are in which tier ({@code hbm}, {@code dram}, {@code ssd}),
   *     each in the best one
   */
  public record Match(
      String worker, @Nullable Integer rank, int blocks, int tokens, Map<String, Integer> tiers) {}

  /** Whether the index told anything, be it that it knows of nobody. */
  public boolean told() {
    return outcome.equals("found") || outcome.equals("empty");
  }

  /** The match of a rank of a worker, or null where it holds nothing. */
  public @Nullable Match match(String worker, @Nullable Integer rank) {
    for (Match match : matches) {
      if (match.worker().equals(worker) && Objects.equals(match.rank(), rank)) {
        return match;
      }
    }
    return null;
  }
}
