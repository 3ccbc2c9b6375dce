package dev.warmpath.dispatch;

/** What a {@link Dispatch} wants next: an attempt made, or some time to pass. */
public sealed interface Step permits Attempt, Step.Pause {
  /**
   * Wait, then ask again.
   *
   * @param nanos how long
   */
  record Pause(long nanos) implements Step {}
}
