package dev.warmpath.observe;

import dev.warmpath.health.WorkerView;
import dev.warmpath.health.WorkerView.RankView;
import dev.warmpath.transport.RankLoad;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a client knew of a rank at one moment: one row of the {@link LoadHistory}. Immutable. NaN is
 * "not reported".
 *
 * @param at when
 * @param worker the worker's address
 * @param rank the data-parallel rank, or null where the worker is chosen as a whole
 * @param state what was believed of it, as {@link
 *     dev.warmpath.api.RouteDecision.CandidateView#state()}
 * @param share the part of its traffic that it kept, 0..1
 * @param running requests it computed, by its telemetry
 * @param waiting requests queued there
 * @param usedTokens KV tokens in use
 * @param usage the same over capacity, 0..1
 * @param hitRate its recent cache hit rate, 0..1
 * @param tokensPerSecond its decode throughput
 * @param inFlight this client's requests there
 * @param firstByteMillis this client's average time to first byte there
 * @param ageMillis how old the telemetry was
 */
public record LoadSample(
    Instant at,
    String worker,
    @Nullable Integer rank,
    String state,
    double share,
    double running,
    double waiting,
    double usedTokens,
    double usage,
    double hitRate,
    double tokensPerSecond,
    int inFlight,
    double firstByteMillis,
    double ageMillis) {

  /** One sample for each rank. */
  static List<LoadSample> of(List<WorkerView> workers, Instant at) {
    List<LoadSample> samples = new ArrayList<>();
    for (WorkerView worker : workers) {
      for (RankView rank : worker.ranks()) {
        samples.add(of(worker.worker().id().value(), rank, at));
      }
    }
    return samples;
  }

  private static LoadSample of(String worker, RankView view, Instant at) {
    RankLoad load = view.load();
    Duration age = view.loadAge();
    return new LoadSample(
        at,
        worker,
        view.rank().rank().isPresent() ? view.rank().rank().getAsInt() : null,
        view.label(),
        view.degradation().share(),
        load == null ? Double.NaN : load.runningRequests(),
        load == null ? Double.NaN : load.waitingRequests(),
        load == null ? Double.NaN : load.usedTokens(),
        load == null ? Double.NaN : load.tokenUsage(),
        load == null ? Double.NaN : load.cacheHitRate(),
        load == null ? Double.NaN : load.generationTokensPerSecond(),
        view.inFlight(),
        view.latencyMillis(),
        age == null ? Double.NaN : age.toNanos() / 1e6);
  }
}
