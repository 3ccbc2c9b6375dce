package dev.warmpath.fake.scheduler;

import java.util.List;

/**
 * Makes room for the next token of every running request ({@code retract_decode} in {@code
 * srt/managers/schedule_batch.py}).
 */
final class DecodeRoom {
  private final RadixKv kv;

  DecodeRoom(RadixKv kv) {
    this.kv = kv;
  }

  /**
   * Whether every sequence from an index on can grow by a token; one that ends with it need not.
   */
  boolean suffices(List<RadixSequence> running, int first) {
    int missing = 0;
    for (int i = first; i < running.size(); i++) {
      RadixSequence sequence = running.get(i);
      if (sequence.remainingOutput() > 1 && sequence.computed == sequence.pages() * kv.pageSize()) {
        missing++;
      }
    }
    return missing == 0 || (long) missing * kv.pageSize() <= kv.availableTokens();
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
