package dev.warmpath.fake.live;

import dev.warmpath.fake.scheduler.FinishReason;
import org.jspecify.annotations.Nullable;

/**
 * Hears what becomes of one submitted request. Called on the thread that runs the rank, in order;
 * must not block.
 */
public interface RankListener {

  /** Hears nothing. */
  RankListener NONE =
      new RankListener() {
        @Override
        public void admitted(int reusedTokens) {}

        @Override
        public void output(int tokens, @Nullable FinishReason finish) {}
      };

  /**
   * The request entered the running set; called again after a preemption.
   *
   * @param reusedTokens prompt tokens found in the prefix cache
   */
  void admitted(int reusedTokens);

  /**
   * Tokens were generated, or the request ended, or both. Nothing follows a call with a reason.
   *
   * @param tokens how many, 0 or more
   * @param finish why it ended, or null while it goes on
   */
  void output(int tokens, @Nullable FinishReason finish);

  /**
   * Consecutive passes generated one token each. Only a rank in virtual time that runs ahead calls
   * this, at the end of the last of them or later, instead of calling {@link #output} at the end of
   * each.
   *
   * @param tokens how many, 1 or more
   * @param firstMs when the first pass ended, in milliseconds of the rank's time
   * @param lastMs when the last pass ended
   */
  default void outputs(int tokens, double firstMs, double lastMs) {
    output(tokens, null);
  }

  /**
   * Tells whether somebody still receives the output. The rank asks after each delivery, and drops
   * a request without receiver at the same pass boundary.
   *
   * @return false once the receiver is gone
   */
  default boolean connected() {
    return true;
  }
}
