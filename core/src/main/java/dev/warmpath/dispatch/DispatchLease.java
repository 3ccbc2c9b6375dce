package dev.warmpath.dispatch;

import dev.warmpath.health.RankState;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One request's place in one rank's in-flight counts: taken when made, given back exactly once
 * whoever calls {@link #release()} first. It keeps the very counters it took from, so a worker that
 * left and came back never sees an old decrement.
 */
final class DispatchLease {
  private final RankState state;
  private final int tokens;
  private final long ahead;
  private final long begun;
  private final AtomicBoolean computed = new AtomicBoolean();
  private final AtomicBoolean released = new AtomicBoolean();

  /**
   * Takes a place.
   *
   * @param tokens prompt tokens that the rank has to compute
   * @param streamed whether a first byte will tell that they are
   */
  DispatchLease(RankState state, int tokens, boolean streamed) {
    this.state = state;
    this.tokens = tokens;
    this.ahead = state.prefillTokens();
    this.begun = state.begin(tokens, streamed);
  }

  RankState state() {
    return state;
  }

  /** Prompt tokens of this client that the rank had to compute already when it was taken. */
  long ahead() {
    return ahead;
  }

  /** The first byte came: no prefill is left. Every call after the first does nothing. */
  void firstByte() {
    if (computed.compareAndSet(false, true)) {
      state.computed(tokens, begun);
    }
  }

  /** Gives the place back; every call after the first does nothing. */
  void release() {
    if (released.compareAndSet(false, true)) {
      firstByte();
      state.end(begun);
    }
  }
}
