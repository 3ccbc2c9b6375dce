package dev.warmpath.health;

import dev.warmpath.transport.RankLoad;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRank;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What this client knows of a worker, at one moment, for people and tools to look at.
 *
 * @param worker who it is: address, epoch, state, configuration and what it said of itself
 * @param availability what is believed of it: its best rank's
 * @param since for how long that has been believed
 * @param detail what the last look at it said, in a few words
 * @param ranks its ranks
 */
public record WorkerView(
    Worker worker, Availability availability, Duration since, String detail, List<RankView> ranks) {
  /** Copies {@code ranks}. */
  public WorkerView {
    ranks = List.copyOf(ranks);
  }

  /**
   * What this client knows of a rank.
   *
   * @param rank who it is
   * @param availability what is believed of it
   * @param degradation what is wrong with it although it answers, and its share of traffic
   * @param inFlight requests of this client running there
   * @param prefillTokens prompt tokens sent there and probably still to be computed
   * @param latencyMillis moving average of this client's time to first byte there, NaN before the
   *     first
   * @param load the last telemetry, or null before the first
   * @param loadSource the endpoint that gave it, or null
   * @param loadAge how old it is, or null
   * @param stale whether decisions no longer believe it: it is too old, or there is none
   */
  public record RankView(
      WorkerRank rank,
      Availability availability,
      Degradation degradation,
      int inFlight,
      long prefillTokens,
      double latencyMillis,
      @Nullable RankLoad load,
      @Nullable String loadSource,
      @Nullable Duration loadAge,
      boolean stale) {

    /** Its availability in a word, or, where it is up but degraded, by what. */
    public String label() {
      return availability == Availability.UP ? degradation.label() : availability.label();
    }

    static RankView of(WorkerRank rank, RankState state, long nowNanos, Duration staleAfter) {
      LoadSnapshot load = state.load();
      return new RankView(
          rank,
          state.availability(),
          state.degradation(),
          state.inFlight(),
          state.prefillTokens(),
          state.latencyMillis(),
          load == null ? null : load.load(),
          load == null ? null : load.source(),
          load == null ? null : Duration.ofNanos(load.ageNanos(nowNanos)),
          state.freshLoad(nowNanos, staleAfter.toNanos()) == null);
    }
  }
}
