package dev.warmpath.health;

/**
 * Two counts, a mark and a generation in one word, so that they change together. A request counts
 * as long as no telemetry reading can show it: as one of the present generation while it began
 * after telemetry was last asked for, as a sealed one while it began before and the reading is
 * still out.
 *
 * <p>From the top: 19 bits of generation, 1 bit set while a reading is out, 22 bits of sealed
 * requests, 22 bits of present ones. Generations wrap: a request would have to live through exactly
 * 2^19 readings to be taken for another.
 *
 * <p>The tokens of a generation's requests stand in a word of their own: 16 bits of generation
 * above 48 bits of tokens. It can't change with the first word in one step, but its generation
 * tells whose it is: late changes of a generation that is over do nothing.
 */
final class Unseen {
  private static final int COUNT_BITS = 22;
  private static final long COUNT_MASK = (1L << COUNT_BITS) - 1;
  private static final long ASKED = 1L << (2 * COUNT_BITS);
  private static final int GENERATION_SHIFT = 2 * COUNT_BITS + 1;
  private static final long GENERATION_MASK = (1L << (64 - GENERATION_SHIFT)) - 1;

  private static final int TOKEN_BITS = 48;
  private static final long TOKENS_MASK = (1L << TOKEN_BITS) - 1;
  private static final long TAG_MASK = (1L << (64 - TOKEN_BITS)) - 1;

  private Unseen() {}

  /** Both counts together. */
  static int count(long word) {
    return (int) (present(word) + sealed(word));
  }

  /** The generation that a request begun now belongs to. */
  static long generation(long word) {
    return word >>> GENERATION_SHIFT;
  }

  private static long present(long word) {
    return word & COUNT_MASK;
  }

  private static long sealed(long word) {
    return word >>> COUNT_BITS & COUNT_MASK;
  }

  private static long word(long generation, long asked, long sealed, long present) {
    return (generation & GENERATION_MASK) << GENERATION_SHIFT
        | asked
        | sealed << COUNT_BITS
        | present;
  }

  /** The word once a request of that generation has ended; itself if it no longer counts. */
  static long ended(long word, long begun) {
    long generation = generation(word);
    if (begun == generation) {
      return present(word) > 0 ? word - 1 : word;
    }
    return begun == previous(word) && sealed(word) > 0 ? word - (1L << COUNT_BITS) : word;
  }

  /**
   * The word once telemetry is asked for. While requests sealed by an earlier asking still wait,
   * because its reading failed, the generation stays: the next reading shows those, the one after
   * it the rest. Counted too long is safe, too short is not.
   */
  static long sampled(long word) {
    return sealed(word) > 0 ? word : word(generation(word) + 1, ASKED, present(word), 0);
  }

  /** The word once a reading came; one that was not asked for shows everything. */
  static long observed(long word) {
    return (word & ASKED) != 0
        ? word(generation(word), 0, 0, present(word))
        : word(generation(word) + 1, 0, 0, 0);
  }

  /** The generation before the one that a request begun now belongs to. */
  static long previous(long word) {
    return (generation(word) - 1) & GENERATION_MASK;
  }

  /** Whether a reading is out. */
  static boolean asked(long word) {
    return (word & ASKED) != 0;
  }

  /** Whether a token word holds none of any generation. */
  static boolean noTokens(long tokenWord) {
    return (tokenWord & TOKENS_MASK) == 0;
  }

  /** A token word's tokens, if they are that generation's. */
  static long tokens(long tokenWord, long generation) {
    return tag(tokenWord) == tagOf(generation) ? tokenWord & TOKENS_MASK : 0;
  }

  /** The token word once a request of that generation has begun. */
  static long tokensAdded(long tokenWord, long generation, int tokens) {
    long age = (short) (tagOf(generation) - tag(tokenWord));
    if (age < 0) {
      return tokenWord; // the word has passed on to a later generation: the request is seen already
    }
    return age == 0 ? tokenWord + tokens : tagOf(generation) << TOKEN_BITS | tokens;
  }

  /** The token word once a request of that generation has ended. */
  static long tokensEnded(long tokenWord, long generation, int tokens) {
    return tag(tokenWord) == tagOf(generation) ? tokenWord - tokens : tokenWord;
  }

  private static long tag(long tokenWord) {
    return tokenWord >>> TOKEN_BITS;
  }

  private static long tagOf(long generation) {
    return generation & TAG_MASK;
  }
}
