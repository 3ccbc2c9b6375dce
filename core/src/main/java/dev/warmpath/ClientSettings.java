package dev.warmpath;

import dev.warmpath.config.ModelSource;
import dev.warmpath.config.RouterConfig;
import dev.warmpath.dispatch.DispatchSettings;
import dev.warmpath.dispatch.Profile;
import dev.warmpath.dispatch.Rules;
import dev.warmpath.health.HealthSettings;
import dev.warmpath.index.LookupSettings;
import dev.warmpath.index.kv.KvEventSettings;
import dev.warmpath.observe.LoadHistorySettings;
import dev.warmpath.pd.PdRules;
import dev.warmpath.policy.RolloutSettings;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.PromptReader;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What holds for a client: its builder's calls, and where these say nothing the configuration.
 * Immutable; a reload makes another of the same calls and the new configuration.
 */
final class ClientSettings {
  private static final String ANY_MODEL = "*";

  final ClientOptions options;
  final RouterConfig config;
  final List<WorkerSpec> workers;
  final @Nullable Secret apiKey;
  final @Nullable Secret adminKey;
  final Rules rules;
  final PdRules pairRules;
  final HealthSettings health;
  final LookupSettings lookup;
  final @Nullable KvEventSettings kvEvents;
  final int tokenizeThreads;
  final long indexBytes;
  final @Nullable Path branchFile;
  final @Nullable Path topologyFile;
  final @Nullable Path indexFile;
  final Duration indexFileMaxAge;
  final @Nullable LoadHistorySettings loadHistory;
  final RolloutSettings rollout;
  final long deadLetterBytes;
  final boolean requestMetrics;
  final @Nullable Long seed;

  ClientSettings(ClientOptions options, RouterConfig config) {
    this.options = options;
    this.config = config;
    List<WorkerSpec> all = new ArrayList<>(config.workers());
    all.addAll(options.workers);
    this.workers = List.copyOf(all);
    this.apiKey = options.apiKey == null ? config.apiKey() : options.apiKey;
    this.adminKey = options.adminKey == null ? config.adminKey() : options.adminKey;
    DispatchSettings file = config.dispatch();
    Map<String, Profile> profiles = new LinkedHashMap<>(config.profiles());
    profiles.putAll(options.profiles);
    this.rules =
        new Rules(
            or(options.policy, config.policy()),
            new DispatchSettings(
                or(options.timeouts, file.timeouts()),
                options.deadlineGiven ? options.deadline : file.deadline(),
                or(options.retry, file.retry()),
                or(options.breaker, file.breaker()),
                or(options.admission, file.admission()),
                or(options.noWorkerWait, file.noWorkerWait())),
            profiles);
    this.pairRules =
        new PdRules(
            or(options.prefillPolicy, config.prefillPolicy()),
            or(options.decodePolicy, config.decodePolicy()),
            or(options.prefillDecode, config.prefillDecode()));
    this.health = or(options.health, config.health());
    this.lookup = or(options.lookup, config.lookup());
    this.kvEvents = options.kvEvents == null ? config.kvEvents() : options.kvEvents;
    Integer threads =
        options.tokenizeThreads == null ? config.tokenizeThreads() : options.tokenizeThreads;
    this.tokenizeThreads =
        threads == null ? 2 * Runtime.getRuntime().availableProcessors() : threads;
    this.indexBytes = or(options.indexBytes, config.indexBytes());
    this.branchFile = options.branchFile == null ? config.branchFile() : options.branchFile;
    this.topologyFile = options.topologyFile == null ? config.topologyFile() : options.topologyFile;
    this.indexFile = options.indexFile == null ? config.indexFile() : options.indexFile;
    this.indexFileMaxAge = or(options.indexFileMaxAge, config.indexFileMaxAge());
    this.rollout = or(options.rollout, config.rollout());
    LoadHistorySettings history =
        options.loadHistory == null ? config.loadHistory() : options.loadHistory;
    this.loadHistory =
        history == null ? LoadHistorySettings.from(System.getenv()).orElse(null) : history;
    this.deadLetterBytes = or(options.deadLetterBytes, config.deadLetterBytes());
    this.requestMetrics = or(options.requestMetrics, config.requestMetrics());
    this.seed = options.seed == null ? config.seed() : options.seed;
  }

  private static <T> T or(@Nullable T called, T configured) {
    return Objects.requireNonNullElse(called, configured);
  }

  /** A reader of prompts, with the files of all models, each directory read once. */
  PromptReader.Builder prompts() {
    PromptReader.Builder prompts =
        PromptReader.builder()
            .cacheBytes(or(options.promptCacheBytes, config.promptCacheBytes()))
            .tenantRequired(or(options.tenantKeyRequired, config.tenantKeyRequired()))
            .clock(or(options.templateClock, config.templateClock()));
    Map<ModelSource, ModelFiles> read = new LinkedHashMap<>();
    config
        .models()
        .forEach(
            (name, source) -> {
              ModelFiles files = read.computeIfAbsent(source, ModelSource::read);
              if (name.equals(ANY_MODEL)) {
                prompts.anyModel(files);
              } else {
                prompts.model(name, files);
              }
            });
    options.models.forEach(prompts::model);
    if (options.anyModel != null) {
      prompts.anyModel(options.anyModel);
    }
    if (options.promptSource != null) {
      prompts.source(options.promptSource);
    }
    return prompts;
  }

  /** A worker with the client's keys where it has none of its own. */
  WorkerSpec keyed(WorkerSpec spec) {
    WorkerSpec.Builder with = spec.toBuilder();
    if (spec.apiKey() == null) {
      with.apiKey(apiKey);
    }
    if (spec.adminKey() == null) {
      with.adminKey(adminKey);
    }
    return with.build();
  }
}
