package dev.warmpath;

import dev.warmpath.RouterClient.ClientStats;
import dev.warmpath.health.PredictionCheck;
import dev.warmpath.health.WorkerView;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Everything a client knows of itself and its workers at one moment, for people and for a debug
 * page of the application. It holds no prompt, no answer and no key.
 *
 * @param policy the policy that decides, by name
 * @param prefillPolicy the one that chooses prefill workers
 * @param decodePolicy the one that chooses decode workers
 * @param configuration where the configuration comes from
 * @param configurationHash what it says, as {@link dev.warmpath.config.RouterConfig#hash}: clients
 *     of one fleet should agree on it
 * @param readiness whether the client is of use
 * @param stats figures of the queue, the prompt pipeline, pairs, the indexes against their budgets
 * @param predictions how the cache hits of each rank compare with what was predicted
 * @param workers what is known of each worker, with its circuit breaker
 * @param decisions the last requests that ended, the newest first
 */
public record RouterStatus(
    String policy,
    String prefillPolicy,
    String decodePolicy,
    String configuration,
    String configurationHash,
    Readiness readiness,
    ClientStats stats,
    Map<String, PredictionCheck.Verdict> predictions,
    List<WorkerStatus> workers,
    List<Decision> decisions) {

  /**
   * For an application's health check.
   *
   * @param live whether the client works at all: false once it is closed, which only a new client
   *     mends
   * @param ready whether a request that came now would find a worker that is up; a fleet that is
   *     down is no reason to restart the application
   * @param up workers that are up and routed to
   * @param workers workers in all
   * @param reasons why each of the others is not up, or not routed to, by its address
   */
  public record Readiness(
      boolean live, boolean ready, int up, int workers, Map<String, String> reasons) {}

  /**
   * A worker.
   *
   * @param view what is known of it
   * @param breaker its circuit breaker: {@code closed}, {@code open} or {@code half_open}
   */
  public record WorkerStatus(WorkerView view, String breaker) {}

  /**
   * A request that ended.
   *
   * @param requestId the client's number for it
   * @param age how long ago it ended
   * @param policy the policy that decided
   * @param topologyVersion the snapshot of the workers that it decided on
   * @param worker where it went last, or null for nowhere
   * @param rank the data-parallel rank there, or null
   * @param step the part of the policy that decided, or null
   * @param promptTokens the prompt's length
   * @param matchedTokens how much of it the worker was believed to hold
   * @param cachedTokens how much of it the engine says it held, or null
   * @param attempts how often it was sent
   * @param outcome {@code completed}, {@code failed} or {@code cancelled}
   * @param elapsed from its coming to its end
   */
  public record Decision(
      long requestId,
      Duration age,
      String policy,
      long topologyVersion,
      @Nullable String worker,
      @Nullable Integer rank,
      @Nullable String step,
      int promptTokens,
      int matchedTokens,
      @Nullable Integer cachedTokens,
      int attempts,
      String outcome,
      Duration elapsed) {}

  /** Copies the collections. */
  public RouterStatus {
    predictions = Map.copyOf(predictions);
    workers = List.copyOf(workers);
    decisions = List.copyOf(decisions);
  }

  /** The same as one JSON object, on one line. Numbers that are not known are null. */
  public String toJson() {
    return StatusJson.of(this);
  }
}
