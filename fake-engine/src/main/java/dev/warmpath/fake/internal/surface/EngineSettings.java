package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.SchedulePolicy;
import dev.warmpath.fake.scheduler.SglangOptions;
import dev.warmpath.fake.text.PromptEncoder;
import dev.warmpath.fake.umbp.UmbpReporting;
import dev.warmpath.fake.wire.CacheReport;
import dev.warmpath.fake.wire.LoadsShape;
import dev.warmpath.fake.wire.MetricNames;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a surface needs to know of its engine's configuration.
 *
 * @param kind the imitated engine
 * @param role what it computes
 * @param model path of the model
 * @param servedModels names it is served under, the first one is its own
 * @param loraAdapters adapters of that model
 * @param encoder the model's template and tokenizer
 * @param core the knobs of each rank's scheduler
 * @param schedulePolicy order of SGLang's waiting queue
 * @param dpSize data-parallel ranks
 * @param version what the engine says its version is
 * @param apiKey key of normal endpoints, or null for none
 * @param adminKey key of admin endpoints, or null for none
 * @param cacheReport when cached tokens are reported
 * @param loadsShape version of SGLang's loads
 * @param metricNames generation of metric names
 * @param metricsRefresh how often ATOM refreshes its metrics
 * @param devMode whether vLLM's development routes exist
 * @param healthLatency how long SGLang's health probe takes
 * @param streamDisconnectDelay how long a dropped stream goes on to run
 * @param plainDisconnectDelay how long a dropped plain request goes on to run
 * @param defaultOutputTokens length of an answer without a limit
 * @param embeddingDimensions length of embedding vectors
 * @param handoff how it hands KV over as a prefill or decode worker
 * @param seed decides ids
 * @param host the address it listens on
 * @param kvEvents how cache changes are published, or null if they are not
 * @param umbp which UMBP master is told of them, with a node id, or null for none
 */
public record EngineSettings(
    EngineKind kind,
    WorkerRole role,
    String model,
    List<String> servedModels,
    List<String> loraAdapters,
    PromptEncoder encoder,
    CoreOptions core,
    SchedulePolicy schedulePolicy,
    int dpSize,
    String version,
    @Nullable String apiKey,
    @Nullable String adminKey,
    CacheReport cacheReport,
    LoadsShape loadsShape,
    MetricNames metricNames,
    Duration metricsRefresh,
    boolean devMode,
    Duration healthLatency,
    Duration streamDisconnectDelay,
    Duration plainDisconnectDelay,
    int defaultOutputTokens,
    int embeddingDimensions,
    HandoffOptions handoff,
    long seed,
    String host,
    @Nullable KvEventSettings kvEvents,
    @Nullable UmbpReporting umbp) {

  /** Copies the lists. */
  public EngineSettings {
    servedModels = List.copyOf(servedModels);
    loraAdapters = List.copyOf(loraAdapters);
  }

  /**
   * Returns the name the model is served under.
   *
   * @return the first served name
   */
  public String servedModel() {
    return servedModels.get(0);
  }

  /**
   * Returns the KV capacity of one rank.
   *
   * @return tokens
   */
  public int totalTokens() {
    return (int) Math.min(Integer.MAX_VALUE, (long) core.numBlocks() * core.blockSize());
  }

  /**
   * Returns the knobs of each rank's scheduler on SGLang.
   *
   * @return SGLang's defaults where {@link #core} says nothing
   */
  public SglangOptions sglang() {
    return SglangOptions.builder(core).schedulePolicy(schedulePolicy).build();
  }

  @Override
  public String toString() {
    return kind.label() + " " + servedModel() + " " + role;
  }
}
