package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.handoff.ActionOutcome;
import dev.warmpath.fake.handoff.HandoffAction;
import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.scheduler.FinishReason;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** One side of a handoff, as its conductor sees it. Thread-safe and non-blocking. */
interface HandoffSide {

  /** The worker of this process that it is on, or by way of which it is reached. */
  Life life();

  /** How long it waits for the other side. */
  HandoffTimeouts timeouts();

  /** Runs something later. */
  void schedule(Duration delay, Runnable action);

  /**
   * Has an action done.
   *
   * @param listener hears what becomes of the request that the action brings
   * @return the outcome; failed if it was refused or there is nobody left to do it; empty if there
   *     is no room for it yet
   */
  Optional<CompletableFuture<ActionOutcome>> offer(
      HandoffAction action, long handoffId, RankListener listener);

  /** Passes on that the request was admitted. */
  void admitted(int reusedTokens);

  /** Passes on progress, or what it was blamed for in place of an abort. */
  void output(int tokens, @Nullable FinishReason reason);

  /** Says what the client hears in place of an abort, unless something was said before. */
  void blame(String message);

  /**
   * Lets the faults armed for a moment at it.
   *
   * @param next goes on, now or later; never, where a fault holds the handoff up
   * @param drop gives the handoff up, after the client was told
   */
  void reach(Scope moment, Runnable next, Runnable drop);

  /** Takes note that the handoff needs nothing more of it. */
  void over();

  /** Drops the request where no handoff has a say in it any more. */
  void cancelRequest();

  /** Blocks that the prompt takes. */
  int promptBlocks();
}
