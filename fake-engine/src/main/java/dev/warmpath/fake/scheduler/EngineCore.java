package dev.warmpath.fake.scheduler;

import java.util.List;

/**
 * A scheduler as a state machine: commands and passes in, effects out.
 *
 * <p>There is neither a clock nor a thread inside, and the same commands at the same times give the
 * same effects. Exactly one thread may use an instance at a time; its driver serialises access.
 * Every time is the driver's, in milliseconds, never less than one given before.
 */
public interface EngineCore {

  /**
   * Applies a command between two passes, or during one.
   *
   * <p>During a pass the state is already the one at its end, so only commands that touch nothing
   * the pass uses make sense then: {@link EngineCommand.SubmitHandoffPrefill} and {@link
   * EngineCommand.ReserveDestination}, the latter without admitting destinations.
   *
   * @param command what to do
   * @param admitDestinations whether a queued reservation may be served at once; false during a
   *     pass
   * @param nowMs the time
   * @return the answer and what happened, in order
   * @throws IllegalArgumentException if the command can't be carried out: a request or handoff id
   *     that is in use, a reservation that exceeds the pool. Nothing has changed then.
   */
  CommandResult apply(EngineCommand command, boolean admitDestinations, double nowMs);

  /**
   * Schedules and computes one forward pass. The state afterwards is the one at the pass's end.
   *
   * @param nowMs when the pass starts
   * @return its modelled time and its effects
   */
  PassResult executePass(double nowMs);

  /**
   * Executes passes as long as each of them does nothing but compute and emit one token of every
   * running request, exactly as {@link #executePass} would one after the other, but faster. A pass
   * is left to {@link #executePass} if it would admit, preempt or end a request, if a tick or a
   * reservation is due before it, or if it would begin at {@code untilMs} or later.
   *
   * @param nowMs when the first pass starts
   * @param untilMs when something else will happen
   * @return the passes, none if the next one isn't of that kind
   */
  default PassRun executeQuietPasses(double nowMs, double untilMs) {
    return PassRun.none(nowMs);
  }

  /**
   * Tells how far {@link #executeQuietPasses} would go if nothing happened meanwhile, so that a
   * driver may wait so long before it executes them. Changes nothing.
   *
   * @param nowMs when the first pass would start
   * @param latestMs leaves out passes that would end later
   * @return when the last of the passes would end; {@code nowMs} if there would be none
   */
  default double quietUntilMs(double nowMs, double latestMs) {
    return nowMs;
  }

  /**
   * Tries the oldest queued reservation, and those behind it while they succeed, unless nothing was
   * freed since the last try. A driver calls it at every pass boundary.
   *
   * @param nowMs the time
   * @return reservations that were served
   */
  List<EngineEffect> retryDestinations(double nowMs);

  /**
   * Lets the transfers between storage tiers progress up to a time.
   *
   * @param nowMs the time
   * @param admitDestinations whether queued reservations may take what was freed; false during a
   *     pass
   * @return cache changes, and reservations that were served
   */
  List<EngineEffect> tick(double nowMs, boolean admitDestinations);

  /**
   * Returns when {@link #tick} has something to do next.
   *
   * @return the time, or {@link Double#POSITIVE_INFINITY} when nothing is in flight
   */
  double nextDeadlineMs();

  /**
   * Tells whether a pass may do something.
   *
   * @return false when nothing is queued or running, or while paused
   */
  boolean hasWork();

  /**
   * Tells whether nobody owns anything: no request, no held source, no destination in any phase, no
   * transfer between tiers. Cached blocks may remain.
   *
   * @return whether the scheduler is back to where it began, but for its cache
   */
  boolean isDrained();

  /**
   * Tells when the cache events and metrics of a pass are published.
   *
   * @return a constant of the engine
   */
  EventVisibility eventVisibility();

  /**
   * Returns what the scheduler does without although its options ask for it, and why.
   *
   * @return one sentence each, for whoever reads logs; usually none
   */
  default List<String> problems() {
    return List.of();
  }

  /**
   * Returns the state at this moment.
   *
   * @return an immutable snapshot
   */
  CoreMetrics metrics();

  /**
   * Looks into the prefix cache: how many prompt tokens of a request need not be computed if it
   * were admitted at this moment. Nothing that an engine tells anybody; for tests and for a router
   * that knows everything.
   *
   * @param request any request, known to the scheduler or not
   * @return tokens, 0 without a prefix cache
   */
  int cachedTokens(EngineRequest request);
}
