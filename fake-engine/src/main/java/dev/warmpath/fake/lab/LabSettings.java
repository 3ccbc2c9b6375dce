package dev.warmpath.fake.lab;

import dev.warmpath.dispatch.AdmissionSettings;
import dev.warmpath.fake.FleetSpec;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.health.HealthSettings;
import dev.warmpath.worker.EngineKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A fleet, its clients, and how users send their requests. Nothing in it depends on the machine.
 *
 * @param fleet how many workers of which role
 * @param engine whose scheduler they run
 * @param model how closely they follow it
 * @param ranks data-parallel ranks of each worker
 * @param core the scheduler's knobs
 * @param decodeBlocks KV blocks of a decode worker's rank
 * @param timing how long passes take
 * @param clients independent router clients, as in so many replicas of a service; each request
 *     comes to one of them at random
 * @param seed decides every draw
 * @param sticky whether a conversation's requests all come to one client, drawn by its id
 * @param settleMs how long clients look at workers before users come
 * @param untilMs nobody sends anything later than this after users came
 * @param coldUntilMs before this the last client gets no requests: it starts cold among warm peers
 * @param branchFile where the last client keeps what it learns of where prompts part, as {@link
 *     dev.warmpath.RouterClient.Builder#branchFile}; null for nowhere
 * @param incidents what happens to workers
 * @param concurrency conversations under way at once in a closed loop; 0 is an open loop, where
 *     they begin when they are due
 * @param speedup divides arrival times and delays
 * @param maxRequests requests at most
 * @param warmupRequests so many requests are sent before the figures begin
 * @param maxOutputTokens answers are cut to this length
 * @param sessionKeys whether requests carry their session's id as session key
 * @param roundTripMs network time from a client to a worker and back
 * @param deadline the longest a request may take
 * @param eventDelayMs how long after a change of a worker's cache clients hear of it; NaN where
 *     workers tell nothing, as all do that are not the fleet study's
 * @param health how clients look after workers
 * @param admission how many requests a client has out at once
 * @param indexBytes memory of each client's prefix indexes
 * @param knowledge nodes that have the KV of what sessions begin with; null without any
 */
public record LabSettings(
    FleetSpec fleet,
    EngineKind engine,
    WorkerModel model,
    int ranks,
    CoreOptions core,
    int decodeBlocks,
    LatencyModel timing,
    int clients,
    long seed,
    boolean sticky,
    double settleMs,
    double untilMs,
    double coldUntilMs,
    @Nullable Path branchFile,
    List<LabIncident> incidents,
    int concurrency,
    double speedup,
    int maxRequests,
    int warmupRequests,
    int maxOutputTokens,
    boolean sessionKeys,
    double roundTripMs,
    Duration deadline,
    double eventDelayMs,
    HealthSettings health,
    AdmissionSettings admission,
    long indexBytes,
    @Nullable LabKnowledge knowledge) {

  /** Checks the ranges. */
  public LabSettings {
    Objects.requireNonNull(fleet, "fleet");
    Objects.requireNonNull(engine, "engine");
    Objects.requireNonNull(model, "model");
    Objects.requireNonNull(core, "core");
    Objects.requireNonNull(timing, "timing");
    if (ranks < 1 || clients < 1 || maxRequests < 1 || maxOutputTokens < 1) {
      throw new IllegalArgumentException(
          "ranks, clients, maxRequests and maxOutputTokens must be at least 1, were "
              + List.of(ranks, clients, maxRequests, maxOutputTokens));
    }
    if (!(settleMs >= 0) || !(untilMs > 0)) {
      throw new IllegalArgumentException(
          "settleMs must be at least 0 and untilMs more, were " + settleMs + " and " + untilMs);
    }
    incidents = List.copyOf(incidents);
    for (LabIncident incident : incidents) {
      if (model != WorkerModel.FLEET_STUDY || incident.worker() >= fleet.regular()) {
        throw new IllegalArgumentException(
            "incidents happen to workers of the fleet study that are there, not to worker "
                + incident.worker());
      }
    }
    if (!Double.isNaN(eventDelayMs) && (model != WorkerModel.FLEET_STUDY || !(eventDelayMs >= 0))) {
      throw new IllegalArgumentException(
          "only workers of the fleet study tell of their caches, after 0 ms or more, not "
              + eventDelayMs);
    }
    boolean disaggregated = fleet.prefill() + fleet.decode() > 0;
    if (model == WorkerModel.FLEET_STUDY && (disaggregated || ranks > 1)) {
      throw new IllegalArgumentException("workers of the fleet study are regular, of one rank");
    }
    if (disaggregated && (fleet.prefill() < 1 || fleet.decode() < 1 || fleet.regular() > 0)) {
      throw new IllegalArgumentException(
          "fleet "
              + fleet
              + " can't be simulated: give regular workers only, such as 4, or prefill and decode"
              + " workers, such as 2p2d");
    }
    if (knowledge != null && (disaggregated || model != WorkerModel.ENGINE)) {
      throw new IllegalArgumentException("knowledge is delivered to regular engines only");
    }
    if (warmupRequests < 0) {
      throw new IllegalArgumentException(
          "warmupRequests must be at least 0, was " + warmupRequests);
    }
    if (concurrency < 0 || !(speedup > 0) || !(roundTripMs >= 0)) {
      throw new IllegalArgumentException(
          "concurrency and roundTripMs must be at least 0 and speedup more than 0, were "
              + concurrency
              + ", "
              + roundTripMs
              + " and "
              + speedup);
    }
  }

  /**
   * Starts from 4 regular vLLM workers of one rank with the mocker's defaults and timing, one
   * client with the product's defaults, an open loop, half a millisecond of network, and an hour
   * for each request.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Collects {@link LabSettings}; not thread-safe. */
  public static final class Builder {
    private FleetSpec fleet = new FleetSpec(4, 0, 0);
    private EngineKind engine = EngineKind.VLLM;
    private WorkerModel model = WorkerModel.ENGINE;
    private int ranks = 1;
    private CoreOptions core = CoreOptions.builder().build();
    private @Nullable Integer decodeBlocks;
    private LatencyModel timing = LatencyModel.polynomial();
    private int clients = 1;
    private long seed = 1;
    private boolean sticky;
    private double settleMs = 3_000;
    private double untilMs = Double.POSITIVE_INFINITY;
    private double coldUntilMs;
    private @Nullable Path branchFile;
    private List<LabIncident> incidents = List.of();
    private int concurrency;
    private double speedup = 1;
    private int maxRequests = Integer.MAX_VALUE;
    private int warmupRequests;
    private int maxOutputTokens = Integer.MAX_VALUE;
    private boolean sessionKeys;
    private double roundTripMs = 0.5;
    private Duration deadline = Duration.ofHours(1);
    private double eventDelayMs = Double.NaN;
    private HealthSettings health = HealthSettings.DEFAULT;
    private AdmissionSettings admission = AdmissionSettings.DEFAULT;
    private long indexBytes = 64L << 20;
    private @Nullable LabKnowledge knowledge;

    private Builder() {}

    /** Sets {@link LabSettings#fleet()}. */
    public Builder fleet(FleetSpec value) {
      fleet = value;
      return this;
    }

    /** Sets {@link LabSettings#engine()}. */
    public Builder engine(EngineKind value) {
      engine = value;
      return this;
    }

    /** Sets {@link LabSettings#model()}. */
    public Builder model(WorkerModel value) {
      model = value;
      return this;
    }

    /** Sets {@link LabSettings#ranks()}. */
    public Builder ranks(int value) {
      ranks = value;
      return this;
    }

    /** Sets {@link LabSettings#core()}. */
    public Builder core(CoreOptions value) {
      core = value;
      return this;
    }

    /** Sets {@link LabSettings#decodeBlocks()}; by default as many as others have. */
    public Builder decodeBlocks(int value) {
      decodeBlocks = value;
      return this;
    }

    /** Sets {@link LabSettings#timing()}. */
    public Builder timing(LatencyModel value) {
      timing = value;
      return this;
    }

    /** Sets {@link LabSettings#clients()}. */
    public Builder clients(int value) {
      clients = value;
      return this;
    }

    /** Sets {@link LabSettings#seed()}. */
    public Builder seed(long value) {
      seed = value;
      return this;
    }

    /** Sets {@link LabSettings#sticky()}. */
    public Builder sticky(boolean value) {
      sticky = value;
      return this;
    }

    /** Sets {@link LabSettings#settleMs()}. */
    public Builder settleMs(double value) {
      settleMs = value;
      return this;
    }

    /** Sets {@link LabSettings#untilMs()}. */
    public Builder untilMs(double value) {
      untilMs = value;
      return this;
    }

    /** Sets {@link LabSettings#coldUntilMs()}. */
    public Builder coldUntilMs(double value) {
      coldUntilMs = value;
      return this;
    }

    /** Sets {@link LabSettings#branchFile()}. */
    public Builder branchFile(Path value) {
      branchFile = value;
      return this;
    }

    /** Sets {@link LabSettings#incidents()}. */
    public Builder incidents(List<LabIncident> value) {
      incidents = value;
      return this;
    }

    /** Sets {@link LabSettings#concurrency()}. */
    public Builder concurrency(int value) {
      concurrency = value;
      return this;
    }

    /** Sets {@link LabSettings#speedup()}. */
    public Builder speedup(double value) {
      speedup = value;
      return this;
    }

    /** Sets {@link LabSettings#maxRequests()}. */
    public Builder maxRequests(int value) {
      maxRequests = value;
      return this;
    }

    /** Sets {@link LabSettings#warmupRequests()}. */
    public Builder warmupRequests(int value) {
      warmupRequests = value;
      return this;
    }

    /** Sets {@link LabSettings#maxOutputTokens()}. */
    public Builder maxOutputTokens(int value) {
      maxOutputTokens = value;
      return this;
    }

    /** Sets {@link LabSettings#sessionKeys()}. */
    public Builder sessionKeys(boolean value) {
      sessionKeys = value;
      return this;
    }

    /** Sets {@link LabSettings#roundTripMs()}. */
    public Builder roundTripMs(double value) {
      roundTripMs = value;
      return this;
    }

    /** Sets {@link LabSettings#deadline()}. */
    public Builder deadline(Duration value) {
      deadline = value;
      return this;
    }

    /** Sets {@link LabSettings#eventDelayMs()}. */
    public Builder eventDelayMs(double value) {
      eventDelayMs = value;
      return this;
    }

    /** Sets {@link LabSettings#health()}. */
    public Builder health(HealthSettings value) {
      health = value;
      return this;
    }

    /** Sets {@link LabSettings#admission()}. */
    public Builder admission(AdmissionSettings value) {
      admission = value;
      return this;
    }

    /** Sets {@link LabSettings#indexBytes()}. */
    public Builder indexBytes(long value) {
      indexBytes = value;
      return this;
    }

    /** Sets {@link LabSettings#knowledge()}; none by default. */
    public Builder knowledge(LabKnowledge value) {
      knowledge = value;
      return this;
    }

    /**
     * Builds the settings.
     *
     * @return the settings
     * @throws IllegalArgumentException if a number is out of range
     */
    public LabSettings build() {
      return new LabSettings(
          fleet,
          engine,
          model,
          ranks,
          core,
          decodeBlocks == null ? core.numBlocks() : decodeBlocks,
          timing,
          clients,
          seed,
          sticky,
          settleMs,
          untilMs,
          coldUntilMs,
          branchFile,
          incidents,
          concurrency,
          speedup,
          maxRequests,
          warmupRequests,
          maxOutputTokens,
          sessionKeys,
          roundTripMs,
          deadline,
          eventDelayMs,
          health,
          admission,
          indexBytes,
          knowledge);
    }
  }
}
