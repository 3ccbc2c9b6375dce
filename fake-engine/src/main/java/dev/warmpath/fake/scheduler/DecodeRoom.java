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

  /** Whether every sequence can grow by a token. */
  boolean suffices(List<RadixSequence> sequences) {
    int missing = 0;
    for (int i = 0; i < sequences.size(); i++) {
      RadixSequence sequence = sequences.get(i);
      if (sequence.computed == sequence.pages() * kv.pageSize()) {
        missing++;
      }
    }
    return missing == 0 || (long) missing * kv.pageSize() <= kv.availableTokens();
  }

  /**
   * The request to retract: the one with the fewest generated tokens, of these the one with the
   * longest prompt, of these the last.
   */
  static RadixSequence victim(List<RadixSequence> sequences) {
    RadixSequence victim = sequences.get(0);
    for (RadixSequence sequence : sequences) {
      int less = Integer.compare(sequence.generated, victim.generated);
      int longer =
          Integer.compare(sequence.request.promptTokens(), victim.request.promptTokens());
      if (less < 0 || (less == 0 && longer >= 0)) {
        victim = sequence;
      }
    }
    return victim;
  }
}
