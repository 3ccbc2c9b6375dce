package dev.warmpath.fake.scheduler;

import java.util.List;

/**
 * One forward pass: how long it takes and what it does.
 *
 * @param prefillMs modelled time of the prompt part, in milliseconds
 * @param decodeMs modelled time of the decode part, in milliseconds
 * @param prefillRequests sequences that computed prompt tokens
 * @param prefillTokens prompt tokens computed
 * @param prefixTokens tokens in front of those, already in the KV cache
 * @param decodeRequests sequences that computed one generated token
 * @param during the state while the pass runs, requests that end with it included
 * @param onStart what an observer sees when the pass begins: admissions, preemptions and cache
 *     changes (vLLM publishes KV events at the start of a pass)
 * @param onEnd what becomes visible when the pass ends: tokens and terminal outcomes
 */
public record PassResult(
    double prefillMs,
    double decodeMs,
    int prefillRequests,
    int prefillTokens,
    int prefixTokens,
    int decodeRequests,
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
    return prefillMs + decodeMs;
  }

  /**
   * Tells whether the pass changed anything; a driver waits for a command after one that did not.
   *
   * @return true if time passed or an effect happened
   */
  public boolean progressed() {
    return durationMs() > 0 || !onStart.isEmpty() || !onEnd.isEmpty();
  }
}
