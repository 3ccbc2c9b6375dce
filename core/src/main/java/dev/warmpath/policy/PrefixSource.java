package dev.warmpath.policy;

import dev.warmpath.index.Tier;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.worker.WorkerRank;

/**
 * Where a decision learns how much of its prompt each rank's KV cache holds already. Thread safe.
 */
@FunctionalInterface
public interface PrefixSource {
  /** Knows nothing: no rank holds anything. */
  PrefixSource NONE =
      () ->
          new Query() {
            @Override
            public void match(Prompt prompt) {}

            @Override
            public int tokens(long holderId) {
              return 0;
            }
          };

  /** A fresh query, which the router keeps and uses for many decisions, one at a time. */
  Query newQuery();

  /**
   * The look-up of one prompt at a time, with room of its own for the answer, so that asking
   * allocates nothing. Used by one thread at a time.
   */
  interface Query {
    /**
     * Looks a prompt up; the answers are then {@link #tokens}. Must neither block nor keep hold of
     * the prompt.
     */
    void match(Prompt prompt);

    /**
     * How many of the prompt's first tokens a rank is expected to hold.
     *
     * @param holderId names the rank and its incarnation: {@link WorkerRank#holderId}
     */
    int tokens(long holderId);

    /**
     * How many of the prompt's first tokens a rank is expected to hold in a tier or a better one.
     *
     * @param holderId names the rank and its incarnation
     * @param worst the worst tier that counts
     */
    default int tokens(long holderId, Tier worst) {
      return tokens(holderId);
    }

    /**
     * Whether what is said of a rank is what its engine tells of its cache, with what was sent to
     * it in the last 2 s: no more than that is there of the prompt. Else it is guessed from this
     * client's own requests.
     *
     * @param holderId names the rank and its incarnation
     */
    default boolean authoritative(long holderId) {
      return false;
    }

    /**
     * Whether there may be a rank that it is {@linkplain #authoritative(long) authoritative} of;
     * asked before {@link #match}.
     */
    default boolean anyAuthoritative() {
      return false;
    }
  }
}
