package dev.warmpath.index;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What one dispatch told an index before its worker has answered: the worker is about to hold the
 * prompt.
 *
 * <p>Settle it exactly one way, from any thread: {@link #confirm} when the response begins, {@link
 * #withdraw} when the dispatch failed before the first byte. Only the first call counts. One that
 * is never settled does no harm that lasts: what it claimed ages like everything else. Until it is
 * settled it keeps the prompt, or its hashes, reachable.
 */
public abstract class Speculation {
  private final AtomicBoolean settled = new AtomicBoolean();

  Speculation() {}

  /**
   * The worker has taken the prompt in: it holds the prompt as of now.
   *
   * <p>Without effect if the holder was dropped or cleared since the dispatch.
   */
  public final void confirm() {
    if (settled.compareAndSet(false, true)) {
      confirmed();
    }
  }

  /**
   * The worker never took the prompt in: what this dispatch added goes again. What the holder held
   * before, what another dispatch has claimed too and what another has confirmed since stays.
   */
  public final void withdraw() {
    if (settled.compareAndSet(false, true)) {
      withdrawn();
    }
  }

  abstract void confirmed();

  abstract void withdrawn();
}
