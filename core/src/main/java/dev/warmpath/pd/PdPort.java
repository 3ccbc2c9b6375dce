package dev.warmpath.pd;

import org.jspecify.annotations.Nullable;

/** Carries the legs of one session and hears what is to be told to its caller. Never blocks. */
interface PdPort {
  /** Sends a leg, and tells it how it fares. */
  void send(LegCall leg);

  /**
   * Something to tell the caller.
   *
   * @param failure why, where it failed
   */
  void tell(PdAction.Word word, @Nullable PdFailure failure);
}
