package dev.warmpath.index;

import dev.warmpath.prompt.ContentKeys;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One prompt that was counted on its way to a worker. Ends once, from any thread: {@link #served}
 * when the worker has answered, {@link #withdraw} when it never began to. Only the first call
 * counts; one that never ends fades.
 */
public final class BranchVisit {
  private final BranchTrie trie;
  private final AtomicBoolean ended = new AtomicBoolean();
  final ContentKeys keys;

  /** How many of the keys had been seen before; the writer's. */
  int known;

  BranchVisit(BranchTrie trie, ContentKeys keys) {
    this.trie = trie;
    this.keys = keys;
  }

  /**
   * The worker has answered.
   *
   * @param cachedTokens the prompt tokens that it found in its cache, by the client's own count of
   *     tokens; negative where it does not tell
   */
  public void served(int cachedTokens) {
    if (ended.compareAndSet(false, true)) {
      trie.learn(this, cachedTokens);
    }
  }

  /** The worker has not begun: the prompt counts as never sent. */
  public void withdraw() {
    if (ended.compareAndSet(false, true)) {
      trie.withdraw(this);
    }
  }
}
