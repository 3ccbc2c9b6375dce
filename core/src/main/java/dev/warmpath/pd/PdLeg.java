package dev.warmpath.pd;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One leg of one attempt: {@code IDLE -> SENT -> HEADERS -> BODY}, then exactly one {@link
 * LegOutcome}. The first end wins, by compare-and-set; what follows an end (permit, load, metrics,
 * connection) is the winner's to do.
 */
final class PdLeg {
  /** How far a leg has come while it lasts. */
  enum Progress {
    IDLE,
    SENT,
    HEADERS,
    BODY
  }

  private final AtomicReference<@Nullable LegOutcome> outcome = new AtomicReference<>();
  private volatile Progress progress = Progress.IDLE;

  /** How far it has come, or had when it ended. */
  Progress progress() {
    return progress;
  }

  /** Moves it on; never back, and not once it has ended. */
  void reached(Progress to) {
    if (outcome.get() == null && to.compareTo(progress) > 0) {
      progress = to;
    }
  }

  /**
   * Ends it.
   *
   * @return whether this is the end that counts
   */
  boolean end(LegOutcome end) {
    return outcome.compareAndSet(null, end);
  }

  /** How it ended, or null while it lasts. */
  @Nullable LegOutcome outcome() {
    return outcome.get();
  }

  boolean ended() {
    return outcome.get() != null;
  }

  boolean ok() {
    return outcome.get() == LegOutcome.OK;
  }

  /** Whether something may be running at the worker. */
  boolean running() {
    return outcome.get() == null && progress != Progress.IDLE;
  }
}
