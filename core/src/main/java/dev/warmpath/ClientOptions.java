package dev.warmpath;

import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterTracer;
import dev.warmpath.config.RouterConfig;
import dev.warmpath.dispatch.AdmissionSettings;
import dev.warmpath.dispatch.BreakerSettings;
import dev.warmpath.dispatch.Profile;
import dev.warmpath.dispatch.RetrySettings;
import dev.warmpath.health.HealthListener;
import dev.warmpath.health.HealthSettings;
import dev.warmpath.index.BlockLocator;
import dev.warmpath.index.LookupSettings;
import dev.warmpath.index.kv.KvEventSettings;
import dev.warmpath.index.kv.KvSubscriber;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.observe.LoadHistorySettings;
import dev.warmpath.pd.PdSettings;
import dev.warmpath.policy.RolloutSettings;
import dev.warmpath.policy.RoutingPolicy;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.PromptSource;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.transport.Transport;
import dev.warmpath.worker.Scheduler;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerDiscovery;
import dev.warmpath.worker.WorkerSpec;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * What a builder was told by calls. Null is "nothing was said": then the configuration holds, which
 * knows the defaults. Not thread safe; not changed once a client was made of it.
 */
final class ClientOptions {
  RouterConfig config = RouterConfig.EMPTY;
  @Nullable Path configFile;
  final List<WorkerSpec> workers = new ArrayList<>();
  final List<WorkerDiscovery> discoveries = new ArrayList<>();
  final List<Transport> transports = new ArrayList<>();
  final List<RouterListener> listeners = new ArrayList<>();
  @Nullable RouterTracer tracer;
  final List<HealthListener> healthListeners = new ArrayList<>();
  final Map<String, Profile> profiles = new LinkedHashMap<>();
  final Map<String, ModelFiles> models = new LinkedHashMap<>();
  final List<KvSubscriber> kvSubscribers = new ArrayList<>();
  @Nullable Boolean requestMetrics;
  @Nullable RoutingPolicy policy;
  @Nullable RoutingPolicy prefillPolicy;
  @Nullable RoutingPolicy decodePolicy;
  @Nullable PdSettings prefillDecode;
  @Nullable Timeouts timeouts;
  boolean deadlineGiven;
  @Nullable Duration deadline;
  @Nullable RetrySettings retry;
  @Nullable BreakerSettings breaker;
  @Nullable AdmissionSettings admission;
  @Nullable Duration noWorkerWait;
  @Nullable HealthSettings health;
  @Nullable ModelFiles anyModel;
  @Nullable Long promptCacheBytes;
  @Nullable Boolean tenantKeyRequired;
  @Nullable Integer tokenizeThreads;
  @Nullable Clock templateClock;
  @Nullable PromptSource promptSource;
  @Nullable Long indexBytes;
  @Nullable KvEventSettings kvEvents;
  @Nullable Path branchFile;
  @Nullable Path topologyFile;
  @Nullable Path indexFile;
  @Nullable Duration indexFileMaxAge;
  @Nullable LoadHistorySettings loadHistory;
  @Nullable RolloutSettings rollout;
  @Nullable Long deadLetterBytes;
  @Nullable BlockLocator blockLocator;
  @Nullable KnowledgeRouting knowledge;
  KnowledgeRouting.@Nullable Builder knowledgeBuilder;
  @Nullable LookupSettings lookup;
  @Nullable Secret apiKey;
  @Nullable Secret adminKey;
  @Nullable Executor executor;
  @Nullable Executor healthExecutor;
  @Nullable Scheduler scheduler;
  @Nullable Long seed;

  /**
   * Knowledge routing as it was given, or made of its builder and, where that is silent, a file.
   */
  @Nullable KnowledgeRouting knowledge(RouterConfig file) {
    KnowledgeRouting.Builder builder = knowledgeBuilder;
    return builder == null ? knowledge : builder.otherwise(file.knowledgeRouting()).build();
  }
}
