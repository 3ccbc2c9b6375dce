package dev.warmpath.fake.load;

/** Gives out block ids, densely from 0, as Mooncake's traces have them. */
final class BlockIds {
  /** Tokens of a block of the workloads that are drawn: an engine's usual block. */
  static final int TOKENS = 64;

  private long next;

  /**
   * Consecutive ids for a text.
   *
   * @param first the first id
   * @param tokens how long the text is
   */
  record Run(long first, int tokens) {}

  /** Ids for a text that is new. */
  Run take(int tokens) {
    Run run = new Run(next, tokens);
    next += (tokens + TOKENS - 1) / TOKENS;
    return run;
  }
}
