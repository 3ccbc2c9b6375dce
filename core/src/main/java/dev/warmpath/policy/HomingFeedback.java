package dev.warmpath.policy;

import dev.warmpath.health.PrefillStatistics;
import dev.warmpath.index.BranchPath;
import dev.warmpath.index.BranchTrie;
import dev.warmpath.index.BranchVisit;
import dev.warmpath.prompt.ContentKeys;
import dev.warmpath.prompt.Prompt;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Tells the statistics that {@code homing} goes by of what was sent and what came of it. What
 * engines report of cached tokens shows what other clients did, and is all that clients ever hear
 * of each other. Thread safe.
 */
public final class HomingFeedback {
  private final BranchTrie branches;
  private final PrefillStatistics prefills;

  /** Feeds an environment's statistics. */
  public HomingFeedback(RoutingEnvironment environment) {
    this.branches = environment.branches();
    this.prefills = environment.prefills();
  }

  /** A prompt is about to be sent. */
  public Visit dispatched(Prompt prompt) {
    return new Visit(prompt, branches.visit(prompt.contentKeys()));
  }

  /** One prompt on its way. Ends once, from any thread; only the first call counts. */
  public final class Visit {
    private final Prompt prompt;
    private final BranchVisit visit;
    private final AtomicBoolean ended = new AtomicBoolean();

    private Visit(Prompt prompt, BranchVisit visit) {
      this.prompt = prompt;
      this.visit = visit;
    }

    /**
     * Its worker has answered.
     *
     * @param cachedTokens the prompt tokens that it found in its cache, by the client's own count;
     *     negative where it does not tell
     * @param workers the workers there are
     */
    public void served(int cachedTokens, int workers) {
      if (!ended.compareAndSet(false, true)) {
        return;
      }
      if (cachedTokens >= 0) {
        learn(cachedTokens, workers);
      }
      visit.served(cachedTokens);
    }

    /** Its worker has not begun to answer. */
    public void withdraw() {
      if (ended.compareAndSet(false, true)) {
        visit.withdraw();
      }
    }

    private void learn(int cachedTokens, int workers) {
      int tokens = prompt.tokens();
      prefills.computed(Math.max(0, tokens - cachedTokens));
      ContentKeys keys = prompt.contentKeys();
      BranchPath path = new BranchPath();
      branches.walk(keys, path);
      int fork = Hub.find(path, workers);
      int hubTokens = fork == Hub.NONE ? 0 : keys.tokens(path.end(fork));
      int beyond = cachedTokens - hubTokens;
      boolean found = beyond > ContentKeys.BLOCK_TOKENS && tokens > hubTokens;
      prefills.reused(found ? Math.min(1, (double) beyond / (tokens - hubTokens)) : 0);
    }
  }
}
