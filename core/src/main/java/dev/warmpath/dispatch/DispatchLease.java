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
  private final long begun;
  private final AtomicBoolean released = new AtomicBoolean();

  DispatchLease(RankState state, int tokens) {
    this.state = state;
    this.tokens = tokens;
    this.begun = state.begin(tokens);
  }

  RankState state() {
    return state;
  }

  /** Gives the place back; every call after the first does nothing. */
  void release() {
    if (released.compareAndSet(false, true)) {
      state.end(tokens, begun);
    }
  }
}
