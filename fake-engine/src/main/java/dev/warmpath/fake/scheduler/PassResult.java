package dev.warmpath.fake.scheduler;

import java.util.List;

/**
 * One forward pass: how long it takes and what it does.
 *
 * @param startMs when it begins
 * @param endMs when it ends: its start plus both parts, or, for a pass that computes nothing while
 *     a transfer between tiers is in flight, the time of that transfer's end
 * @param prefillMs modelled time of the prompt part, in milliseconds
 * @param decodeMs modelled time of the decode part, in milliseconds
 * @param forward what it computes
 * @param during the state while the pass runs, requests that end with it included
 * @param onStart what an observer sees when the pass begins: admissions and preemptions, and cache
 *     changes if {@link EngineCore#eventVisibility} says so
 * @param onEnd what becomes visible when the pass ends: tokens, terminal outcomes, handoffs
 */
public record PassResult(
    double startMs,
    double endMs,
    double prefillMs,
    double decodeMs,
    ForwardPassMetrics forward,
    CoreMetrics during,
    List<EngineEffect> onStart,
    List<EngineEffect> onEnd) {

  /** Copies the effect lists. */
  public PassResult {
    onStart = List.copyOf(onStart);
    onEnd = List.copyOf(onEnd);
  }

  /**
   * Returns the whole modelled duration.
   *
   * @return milliseconds
   */
  public double durationMs() {
    return endMs - startMs;
  }

  /**
   * Tells whether the pass changed anything; a driver waits for a command after one that did not.
   *
   * @return true if time passed or an effect happened
   */
  public boolean progressed() {
    return endMs > startMs || !onStart.isEmpty() || !onEnd.isEmpty();
  }
}
