package dev.warmpath.fake.scheduler;

import java.util.List;

/**
 * A scheduler as a state machine: commands and passes in, effects out.
 *
 * <p>There is neither a clock nor a thread inside, and the same commands at the same times give the
 * same effects. Exactly one thread may use an instance at a time; its driver serialises access.
 */
public interface EngineCore {

  /**
   * Applies a command between two passes.
   *
   * @param command what to do
   * @param nowMs the driver's time in milliseconds, never less than before
   * @return what happened, in order; empty for a command without visible consequence
   * @throws IllegalArgumentException if a submitted id is already in use
   */
  List<EngineEffect> apply(EngineCommand command, double nowMs);

  /**
   * Schedules and computes one forward pass.
   *
   * @param nowMs when the pass starts, in milliseconds
   * @return its modelled duration and its effects
   */
  PassResult executePass(double nowMs);

  /**
   * Tells whether a pass may do something.
   *
   * @return false when nothing is queued or running, or while paused
   */
  boolean hasWork();

  /**
   * Returns the state at this moment.
   *
   * @return an immutable snapshot
   */
  CoreMetrics metrics();
}
