package dev.warmpath.index;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What one dispatch told the index before its worker has answered: the worker is about to hold the
 * prompt.
 *
 * <p>Settle it exactly one way, from any thread: {@link #confirm} when the response begins, {@link
 * #withdraw} when the dispatch failed before the first byte. Only the first call counts. One that
 * is never settled does no harm that lasts: what it claimed ages like everything else. Until it is
 * settled it keeps the prompt reachable.
 */
public final class Speculation {
  private static final byte[] FORGOTTEN = {};

  final PrefixNamespace namespace;
  final int offset;
  final int length;
  final long holderId;
  final long tokens;

  // The fields below belong to the tree's writer.
  byte[] prompt;
  long sequence;
  int generation;
  int missing;

  private final ByteRadixTree tree;
  private final AtomicBoolean settled = new AtomicBoolean();

  Speculation(
      ByteRadixTree tree,
      PrefixNamespace namespace,
      byte[] prompt,
      int offset,
      int length,
      long holderId,
      long tokens) {
    this.tree = tree;
    this.namespace = namespace;
    this.prompt = prompt;
    this.offset = offset;
    this.length = length;
    this.holderId = holderId;
    this.tokens = tokens;
  }

  /**
   * The worker has taken the prompt in: it holds the prompt as of now.
   *
   * <p>Without effect if the holder was dropped or cleared since the dispatch.
   */
  public void confirm() {
    if (settled.compareAndSet(false, true)) {
      tree.confirm(this);
    }
  }

  /**
   * The worker never took the prompt in: what this dispatch added goes again. What the holder held
   * before, what another dispatch has claimed too and what another has confirmed since stays, with
   * the age it had without this dispatch.
   */
  public void withdraw() {
    if (settled.compareAndSet(false, true)) {
      tree.withdraw(this);
    }
  }

  /** The share of the prompt's tokens that the holder did not hold at the dispatch. */
  long missingTokens() {
    return length == 0 ? 0 : tokens * missing / length;
  }

  /** The writer's: lets go of the prompt. */
  void forget() {
    prompt = FORGOTTEN;
  }
}
