package dev.warmpath.fake.live;

import dev.warmpath.fake.scheduler.FinishReason;
import org.jspecify.annotations.Nullable;

/**
 * Hears what becomes of one submitted request. Called on the rank's thread, in order; must not
 * block.
 */
public interface RankListener {

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
}
