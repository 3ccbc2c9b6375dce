package dev.warmpath.fake.scheduler;

import java.util.List;

/**
 * Room for the next token of every running request, or for the next few with drafts, and who gives
 * way if there is too little ({@code retract_decode} in {@code srt/managers/schedule_batch.py}).
 */
final class DecodeRoom {
  private final RadixKv kv;
  private final int burst;

  DecodeRoom(RadixKv kv, int burst) {
    this.kv = kv;
    this.burst = burst;
  }

  /**
   * Whether every sequence from an index on can grow by the most tokens it may get. A sequence's
   * last token needs no room.
   */
  boolean suffices(List<RadixSequence> running, int first) {
    int missing = missing(running, first);
    RadixPool pool = kv.pool();
    return missing == 0 || missing <= pool.free() + pool.evictable() + pool.quarantined();
  }

  /**
   * Frees the pages that {@link #suffices} found; false if some have to be copied to the lower tier
   * before.
   */
  boolean free(List<RadixSequence> running, int first) {
    int missing = missing(running, first);
    return missing == 0 || kv.makeFree(missing);
  }

  /** Whether that needs no eviction. */
  boolean isFree(List<RadixSequence> running, int first) {
    return missing(running, first) <= kv.pool().free();
  }

  private int missing(List<RadixSequence> running, int first) {
    int pageSize = kv.pageSize();
    int missing = 0;
    for (int i = first; i < running.size(); i++) {
      RadixSequence sequence = running.get(i);
      int grown = sequence.computed + Math.min(burst, sequence.remainingOutput() - 1);
      if (grown > sequence.pages() * pageSize) {
        missing += kv.pagesFor(grown) - sequence.pages();
      }
    }
    return missing;
  }

  /**
   * The one to retract of the sequences from an index on: the one with the fewest generated tokens,
   * of these the one with the longest prompt, of these the last.
   *
   * @return its index
   */
  int victim(List<RadixSequence> running, int first) {
    int victim = first;
    for (int i = first + 1; i < running.size(); i++) {
      RadixSequence one = running.get(i);
      RadixSequence best = running.get(victim);
      int fewer = Integer.compare(one.generated, best.generated);
      if (fewer < 0 || (fewer == 0 && one.request.promptTokens() >= best.request.promptTokens())) {
        victim = i;
      }
    }
    return victim;
  }
}
