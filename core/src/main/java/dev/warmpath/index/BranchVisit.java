package dev.warmpath.index;

import dev.warmpath.prompt.ContentKeys;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One prompt that was counted on its way to a worker. Ends once, from any thread: {@link #served}
 * when the worker has answered, {@link #withdraw} when it never began to. Only the first call
 * counts; one that never ends fades.
 */
public final class BranchVisit {
  /** {@link #known} of one that was shed: there is nothing to take back. */
  private static final int NOT_COUNTED = -1;

  private final BranchTrie trie;
  private final ContentKeys keys;
  private final AtomicBoolean ended = new AtomicBoolean();

  /** How many of the keys had been seen before; the writer's. */
  private int known = NOT_COUNTED;

  /** When it was counted; the writer's. */
  private int tick;

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

  void counted(BranchWriter writer, int now) {
    tick = now;
    known = writer.visit(keys, now);
  }

  void takeBack(BranchWriter writer, int now) {
    if (known != NOT_COUNTED) {
      writer.withdraw(keys, tick, now);
    }
  }

  void learn(BranchWriter writer, int cachedTokens) {
    if (known != NOT_COUNTED) {
      writer.learn(keys, known, cachedTokens);
    }
  }
}
