package dev.warmpath.config;

import dev.warmpath.dispatch.AdmissionSettings;
import dev.warmpath.dispatch.BreakerSettings;
import dev.warmpath.dispatch.DispatchSettings;
import dev.warmpath.dispatch.Profile;
import dev.warmpath.dispatch.RetrySettings;
import dev.warmpath.health.HealthSettings;
import dev.warmpath.index.BlockKeyEncoder;
import dev.warmpath.index.LookupSettings;
import dev.warmpath.index.NodeIdMap;
import dev.warmpath.index.TierWeights;
import dev.warmpath.index.kv.KvEventSettings;
import dev.warmpath.knowledge.InjectionSettings;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.knowledge.KnowledgeSettings;
import dev.warmpath.knowledge.RegistrySettings;
import dev.warmpath.observe.LoadHistorySettings;
import dev.warmpath.pd.PdSettings;
import dev.warmpath.pd.PdTimeouts;
import dev.warmpath.policy.HomingSettings;
import dev.warmpath.policy.LinearCostWeights;
import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RolloutSettings;
import dev.warmpath.policy.RoutingPolicy;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A client's settings from a YAML or JSON file: whatever the builder takes that can be written
 * down. The keys, with their units and defaults, are in {@code core/CONFIGURATION.md}.
 *
 * <p>In any text of the file, <code>${NAME}</code> stands for an environment variable and <code>
 * ${file:PATH}</code> for the content of a file, so that secrets stand elsewhere; two dollars stand
 * for one before a brace. YAML takes Jackson's YAML module on the class path, JSON nothing.
 *
 * <p>Immutable. What it holds has been checked as a whole: there is none with an error in it.
 */
public final class RouterConfig {
  private static final int MAX_BYTES = 16 << 20;

  /** Says nothing: every key has its default. */
  public static final RouterConfig EMPTY = parse("{}", "no file");

  private final String source;
  private final ConfigValues values;
  private final List<DiscoverySource> discoveries;
  private final RoutingPolicy policy;
  private final RoutingPolicy prefillPolicy;
  private final RoutingPolicy decodePolicy;
  private final Map<String, Profile> profiles;
  private final DispatchSettings dispatch;
  private final PdSettings prefillDecode;
  private final HealthSettings health;
  private final @Nullable LoadHistorySettings loadHistory;
  private final RolloutSettings rollout;
  private final LookupSettings lookup;
  private final @Nullable KvEventSettings kvEvents;
  private final KnowledgeSettings knowledge;
  private final InjectionSettings injection;
  private final ConfiguredParts parts;
  private final RegistrySettings knowledgeRegistry;

  private RouterConfig(String source, ConfigValues values) {
    this.source = source;
    this.values = values;
    this.discoveries = values.section("discovery", () -> discoveries(values));
    HomingSettings homing = values.section("homing", () -> homing(values));
    LinearCostWeights cost = values.section("linear_cost", () -> linearCost(values));
    this.policy = Policies.parse(values.get(Keys.DECIDER), homing, cost);
    this.prefillPolicy = Policies.parse(values.get(Keys.PREFILL_POLICY), homing, cost);
    this.decodePolicy = Policies.parse(values.get(Keys.DECODE_POLICY), homing, cost);
    Timeouts timeouts =
        new Timeouts(
            values.get(Keys.CONNECT),
            values.get(Keys.FIRST_TOKEN),
            values.get(Keys.INTER_TOKEN),
            null);
    Map<String, Profile> named = new LinkedHashMap<>();
    values
        .get(Keys.PROFILES)
        .forEach((name, written) -> named.put(name, profile(written, timeouts, homing, cost)));
    this.profiles = Map.copyOf(named);
    this.dispatch =
        new DispatchSettings(
            timeouts,
            values.find(Keys.DEADLINE),
            values.section("retry", () -> retry(values)),
            values.section("breaker", () -> breaker(values)),
            values.section("admission", () -> admission(values)),
            values.get(Keys.NO_WORKER_WAIT));
    this.prefillDecode = values.section("prefill_decode", () -> prefillDecode(values));
    this.health = values.section("health", () -> health(values));
    this.lookup = values.section("lookup", () -> lookup(values));
    this.rollout = values.section("rollout", () -> rollout(values));
    this.loadHistory = values.section("load_history", () -> loadHistory(values));
    this.kvEvents = values.section("kv_events", () -> kvEvents(values));
    this.knowledge = values.section("knowledge", () -> Keys.KNOWLEDGE.read(values));
    this.parts = new ConfiguredParts(source, values);
    this.injection =
        values.section("knowledge.injection", () -> Keys.KNOWLEDGE_SETUP.injection(values));
    this.knowledgeRegistry =
        values.section("knowledge.registry", () -> Keys.KNOWLEDGE_SETUP.registry(values));
  }

  /**
   * Reads a file.
   *
   * @throws ConfigException naming the file, the key and what to do
   */
  public static RouterConfig read(Path file) {
    return parse(text(file), file.toString());
  }

  static String text(Path file) {
    try {
      if (Files.size(file) > MAX_BYTES) {
        throw new ConfigException(
            file + ": is larger than " + MAX_BYTES + " bytes: name another file");
      }
      return Files.readString(file);
    } catch (NoSuchFileException e) {
      throw new ConfigException(file + ": is not there: name a file that is", e);
    } catch (IOException e) {
      throw new ConfigException(file + ": can't be read as UTF-8 text: " + e.getMessage(), e);
    }
  }

  /**
   * Reads a text, JSON where it begins with a brace and else YAML.
   *
   * @param source what messages call it
   * @throws ConfigException naming the source, the key and what to do
   */
  public static RouterConfig parse(String text, String source) {
    return parse(text, source, System::getenv);
  }

  /**
   * The same, with variables of the caller's.
   *
   * @param environment the value of a variable, or null
   */
  public static RouterConfig parse(
      String text, String source, UnaryOperator<@Nullable String> environment) {
    Place place = new Place(source, "");
    return new RouterConfig(
        source, Keys.TABLE.read(new ConfigText(environment).tree(text, place), place));
  }

  private Profile profile(
      ProfileKeys.Written written,
      Timeouts timeouts,
      HomingSettings homing,
      LinearCostWeights cost) {
    String chain = written.policy();
    boolean timed =
        written.connect() != null || written.firstToken() != null || written.interToken() != null;
    return new Profile(
        chain == null ? null : Policies.parse(chain, homing, cost),
        timed
            ? new Timeouts(
                Objects.requireNonNullElse(written.connect(), timeouts.connect()),
                Objects.requireNonNullElse(written.firstToken(), timeouts.firstToken()),
                Objects.requireNonNullElse(written.interToken(), timeouts.interToken()),
                null)
            : null,
        written.deadline(),
        written.priority());
  }

  private static HomingSettings homing(ConfigValues values) {
    Double perToken = values.find(Keys.HOMING_TOKEN);
    return HomingSettings.builder()
        .ranks(values.get(Keys.HOMING_RANKS))
        .prefill(values.get(Keys.HOMING_PREFILL))
        .load(values.get(Keys.HOMING_LOAD))
        .displacement(values.get(Keys.HOMING_DISPLACEMENT))
        .marginMillis(values.get(Keys.HOMING_MARGIN))
        .requestMillis(values.get(Keys.HOMING_REQUEST))
        .millisPerToken(perToken == null ? Double.NaN : perToken)
        .build();
  }

  private static LinearCostWeights linearCost(ConfigValues values) {
    return new LinearCostWeights(
        values.get(Keys.COST_RUNNING),
        values.get(Keys.COST_WAITING),
        values.get(Keys.COST_USAGE),
        values.get(Keys.COST_IN_FLIGHT),
        values.get(Keys.COST_LATENCY),
        values.get(Keys.COST_HIT_RATE),
        values.get(Keys.COST_PREFIX));
  }

  private static RetrySettings retry(ConfigValues values) {
    return new RetrySettings(
        values.get(Keys.RETRY_ATTEMPTS),
        values.get(Keys.RETRY_RATIO),
        values.get(Keys.RETRY_RESERVE),
        values.get(Keys.RETRY_BACKOFF),
        values.get(Keys.RETRY_MAX_BACKOFF),
        values.get(Keys.RETRY_MAX_AFTER));
  }

  private static BreakerSettings breaker(ConfigValues values) {
    return new BreakerSettings(
        values.get(Keys.BREAKER_WINDOW),
        values.get(Keys.BREAKER_FAILURES),
        values.get(Keys.BREAKER_RATE),
        values.get(Keys.BREAKER_OPEN),
        values.get(Keys.BREAKER_MAX_OPEN),
        values.get(Keys.BREAKER_PROBES));
  }

  private static AdmissionSettings admission(ConfigValues values) {
    return new AdmissionSettings(
        values.get(Keys.ADMISSION_IN_FLIGHT),
        values.get(Keys.ADMISSION_QUEUE),
        values.get(Keys.ADMISSION_WAIT));
  }

  private static PdSettings prefillDecode(ConfigValues values) {
    return new PdSettings(
        new PdTimeouts(
            values.get(Keys.PD_PREFILL),
            values.get(Keys.PD_RENDEZVOUS),
            values.get(Keys.PD_GRACE),
            values.get(Keys.PD_HAND_OFF),
            values.get(Keys.PD_FIRST_PAYLOAD),
            values.get(Keys.PD_IDLE),
            values.get(Keys.PD_DRAIN),
            values.get(Keys.PD_SETTLE),
            values.get(Keys.PD_RELEASE),
            values.get(Keys.PD_ABORT)),
        values.get(Keys.PD_STRICT),
        values.get(Keys.PD_DIRECT),
        values.get(Keys.PD_FIRST),
        values.get(Keys.PD_ATTEMPTS),
        values.get(Keys.PD_QUARANTINE),
        values.get(Keys.PD_ROOMS),
        values.get(Keys.PD_ABORTS),
        values.get(Keys.PD_RELEASES));
  }

  private static HealthSettings health(ConfigValues values) {
    return HealthSettings.builder()
        .probeInterval(values.get(Keys.PROBE_INTERVAL))
        .recheckInterval(values.get(Keys.RECHECK_INTERVAL))
        .probeTimeout(values.get(Keys.PROBE_TIMEOUT))
        .failuresToDown(values.get(Keys.FAILURES_TO_DOWN))
        .passesToUp(values.get(Keys.PASSES_TO_UP))
        .proofOfLifeWindow(values.get(Keys.PROOF_OF_LIFE))
        .loadInterval(values.get(Keys.LOAD_MIN), values.get(Keys.LOAD_MAX))
        .loadTimeout(values.get(Keys.LOAD_TIMEOUT))
        .capabilityInterval(values.get(Keys.CAPABILITY_INTERVAL))
        .capabilityTimeout(values.get(Keys.CAPABILITY_TIMEOUT))
        .telemetryStaleAfter(values.get(Keys.TELEMETRY_STALE))
        .degradation(values.section("health.degradation", () -> DegradationKeys.read(values)))
        .build();
  }

  private static LookupSettings lookup(ConfigValues values) {
    NodeIdMap.Builder nodes = NodeIdMap.builder();
    values
        .get(Keys.LOOKUP_NODES)
        .forEach((node, worker) -> LookupNode.parse(worker).tell(nodes, node));
    return LookupSettings.builder()
        .nodes(nodes.build())
        .encoder(
            EngineKind.VLLM,
            BlockKeyEncoder.digestAndGroup(
                values.get(Keys.LOOKUP_VLLM_PREFIX), values.get(Keys.LOOKUP_VLLM_GROUP)))
        .deadline(values.get(Keys.LOOKUP_DEADLINE))
        .maxBlocks(values.get(Keys.LOOKUP_BLOCKS))
        .weights(
            new TierWeights(
                values.get(Keys.LOOKUP_HBM),
                values.get(Keys.LOOKUP_DRAM),
                values.get(Keys.LOOKUP_SSD)))
        .build();
  }

  private static @Nullable KvEventSettings kvEvents(ConfigValues values) {
    KvEventSettings settings =
        new KvEventSettings(
            values.get(Keys.KV_BUDGET),
            values.get(Keys.KV_WAITING),
            values.get(Keys.KV_REPLAY),
            values.get(Keys.KV_SILENCE));
    return values.get(Keys.KV_EVENTS) ? settings : null;
  }

  /** The same without workers and without discovery of any. */
  public RouterConfig withoutWorkers() {
    return new RouterConfig(
        source,
        values.without(
            List.of(
                Keys.WORKERS,
                Keys.DISCOVERY_FILES,
                Keys.DISCOVERY_DNS,
                Keys.DISCOVERY_KUBERNETES)));
  }

  /** What messages call it: the file's path. */
  public String source() {
    return source;
  }

  /** The workers. */
  public List<WorkerSpec> workers() {
    return values.get(Keys.WORKERS);
  }

  /** The sources of workers. */
  public List<DiscoverySource> discoveries() {
    return discoveries;
  }

  private static List<DiscoverySource> discoveries(ConfigValues values) {
    List<DiscoverySource> sources = new ArrayList<>(values.get(Keys.DISCOVERY_FILES));
    sources.addAll(values.get(Keys.DISCOVERY_DNS));
    sources.addAll(values.get(Keys.DISCOVERY_KUBERNETES));
    Set<String> names = new HashSet<>();
    for (DiscoverySource each : sources) {
      if (!names.add(each.name())) {
        throw new IllegalArgumentException(each.name() + " stands there twice: leave one out");
      }
    }
    return List.copyOf(sources);
  }

  /** The key for workers that have none of their own. */
  public @Nullable Secret apiKey() {
    return values.find(Keys.API_KEY);
  }

  /** The admin key for workers that have none of their own. */
  public @Nullable Secret adminKey() {
    return values.find(Keys.ADMIN_KEY);
  }

  /** How often the file is looked at for changes; zero for never. */
  public Duration reloadInterval() {
    return values.get(Keys.RELOAD_INTERVAL);
  }

  /** Chooses workers for whole requests. */
  public RoutingPolicy policy() {
    return policy;
  }

  /** Chooses prefill workers. */
  public RoutingPolicy prefillPolicy() {
    return prefillPolicy;
  }

  /** Chooses decode workers. */
  public RoutingPolicy decodePolicy() {
    return decodePolicy;
  }

  /** Option sets by name. */
  public Map<String, Profile> profiles() {
    return profiles;
  }

  /** How requests are carried out. */
  public DispatchSettings dispatch() {
    return dispatch;
  }

  /** How requests are carried out that take a prefill and a decode worker. */
  public PdSettings prefillDecode() {
    return prefillDecode;
  }

  /** How workers are looked at. */
  public HealthSettings health() {
    return health;
  }

  /** Where models' files are, by the models' names; {@code *} for every other model. */
  public Map<String, ModelSource> models() {
    return values.get(Keys.MODELS);
  }

  /** What the caches of tokens and block chains may take. */
  public long promptCacheBytes() {
    return values.get(Keys.PROMPT_CACHE);
  }

  /** Threads that tokenize for asynchronous calls, or null for the client's own choice. */
  public @Nullable Integer tokenizeThreads() {
    return values.find(Keys.TOKENIZE_THREADS);
  }

  /** The clock that templates go by. */
  public Clock templateClock() {
    return Clock.system(values.get(Keys.TEMPLATE_ZONE));
  }

  /** What the prefix indexes may take. */
  public long indexBytes() {
    return values.get(Keys.INDEX_BYTES);
  }

  /** Where statistics of branches are kept, or null for nowhere. */
  public @Nullable Path branchFile() {
    return values.find(Keys.BRANCH_FILE);
  }

  /** Where discovered workers are kept, or null for nowhere. */
  public @Nullable Path topologyFile() {
    return values.find(Keys.TOPOLOGY_FILE);
  }

  /** Where it is kept which blocks workers hold, or null for nowhere. */
  public @Nullable Path indexFile() {
    return values.find(Keys.INDEX_FILE);
  }

  /** How old that file may be. */
  public Duration indexFileMaxAge() {
    return values.get(Keys.INDEX_FILE_MAX_AGE);
  }

  /** Whether every request must have a tenant's key. */
  public boolean tenantKeyRequired() {
    return values.get(Keys.TENANT_KEY_REQUIRED);
  }

  /** How much of the traffic the policy decides. */
  public RolloutSettings rollout() {
    return rollout;
  }

  private static RolloutSettings rollout(ConfigValues values) {
    return new RolloutSettings(
        Policies.parse(values.get(Keys.ROLLOUT_BASELINE)),
        values.get(Keys.ROLLOUT_SHARE),
        values.get(Keys.ROLLOUT_SHADOW),
        values.get(Keys.ROLLOUT_CONTROL));
  }

  /** Where and how the history of loads is kept, or null where the file doesn't say. */
  public @Nullable LoadHistorySettings loadHistory() {
    return loadHistory;
  }

  private static @Nullable LoadHistorySettings loadHistory(ConfigValues values) {
    Path file = values.find(Keys.HISTORY_FILE);
    return file == null
        ? null
        : new LoadHistorySettings(
            file,
            values.get(Keys.HISTORY_KEEP),
            values.get(Keys.HISTORY_INTERVAL),
            values.get(Keys.HISTORY_BATCH));
  }

  /** How an index outside of the client is asked. */
  public LookupSettings lookup() {
    return lookup;
  }

  /** How engines' KV events are listened to, or null where they are not. */
  public @Nullable KvEventSettings kvEvents() {
    return kvEvents;
  }

  /** The parts that other modules make of it. */
  public ConfiguredParts parts() {
    return parts;
  }

  /** How knowledge routing decides, where the client has any. */
  public KnowledgeSettings knowledge() {
    return knowledge;
  }

  /** How knowledge comes into prompts. */
  InjectionSettings injection() {
    return injection;
  }

  /** For how long what knowledge nodes say is believed. */
  RegistrySettings knowledgeRegistry() {
    return knowledgeRegistry;
  }

  /** Whether knowledge routing logs its decisions at INFO rather than DEBUG. */
  boolean knowledgeDecisionsAtInfo() {
    return values.get(Keys.KNOWLEDGE.atInfo());
  }

  /** A new builder of knowledge routing that was told all that stands here of it. */
  public KnowledgeRouting.Builder knowledgeRouting() {
    KnowledgeRouting.Builder builder =
        KnowledgeRouting.builder()
            .settings(knowledge)
            .decisionsAtInfo(knowledgeDecisionsAtInfo())
            .injection(injection)
            .registry(knowledgeRegistry);
    Keys.KNOWLEDGE_SETUP.tell(values, builder);
    return builder;
  }

  /** Whether requests and attempts are counted. */
  public boolean requestMetrics() {
    return values.get(Keys.REQUEST_METRICS);
  }

  /** How many of the last requests a status shows. */
  public int statusDecisions() {
    return values.get(Keys.STATUS_DECISIONS);
  }

  /** How many bytes of failed requests are kept. */
  public long deadLetterBytes() {
    return values.get(Keys.DEAD_LETTERS);
  }

  /** What fixes all chance, or null. */
  public @Nullable Long seed() {
    return values.find(Keys.SEED);
  }

  /**
   * Names the keys whose values differ, in the order of the reference.
   *
   * @param fixed whether to name those that a running client can't be given anew, or those it can
   */
  public List<String> changes(RouterConfig next, boolean fixed) {
    List<String> changed = new ArrayList<>();
    for (ConfigKey<?> key : Keys.TABLE.keys()) {
      if (key.reloadable() != fixed && !Objects.equals(values.find(key), next.values.find(key))) {
        changed.add(key.name());
      }
    }
    return changed;
  }

  /**
   * Refuses to follow on {@code running} where a running client could not take the difference.
   *
   * @throws ConfigException naming the keys and what to do
   */
  public void requireReloadableFrom(RouterConfig running) {
    Map<WhyFixed, List<String>> changed = new EnumMap<>(WhyFixed.class);
    for (ConfigKey<?> key : Keys.TABLE.keys()) {
      WhyFixed why = key.fixed();
      if (why != null && !Objects.equals(values.find(key), running.values.find(key))) {
        changed.computeIfAbsent(why, reason -> new ArrayList<>()).add(key.name());
      }
    }
    if (!changed.isEmpty()) {
      StringJoiner reasons = new StringJoiner("; ");
      changed.forEach((why, keys) -> reasons.add(String.join(", ", keys) + ": " + why.text()));
      throw new ConfigException(
          source
              + ": some keys can't change while the client runs, so nothing of the file was taken:"
              + " restart the client, or put the old values back ("
              + reasons
              + ")");
    }
  }

  /** Whether both say the same, secrets included. */
  public boolean saysTheSame(RouterConfig other) {
    return changes(other, true).isEmpty() && changes(other, false).isEmpty();
  }

  /**
   * A short name of what it says: 16 hex digits of SHA-256, the same for the same values wherever
   * they come from. Of secrets only the presence enters.
   */
  public String hash() {
    StringBuilder text = new StringBuilder();
    for (ConfigKey<?> key : Keys.TABLE.keys()) {
      text.append(key.name()).append('=').append(values.printed(key)).append('\n');
    }
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256")
              .digest(text.toString().getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }

  /** Where it comes from and its hash; no values. */
  @Override
  public String toString() {
    return source + " (" + hash() + ")";
  }
}
