package dev.warmpath.config;

import static dev.warmpath.config.ConfigTypes.BYTES;
import static dev.warmpath.config.ConfigTypes.DECIMAL;
import static dev.warmpath.config.ConfigTypes.DURATION;
import static dev.warmpath.config.ConfigTypes.PATH;
import static dev.warmpath.config.ConfigTypes.SECRET;
import static dev.warmpath.config.ConfigTypes.SWITCH;
import static dev.warmpath.config.ConfigTypes.TEXT;
import static dev.warmpath.config.ConfigTypes.WHOLE;
import static dev.warmpath.config.ConfigTypes.count;
import static dev.warmpath.config.ConfigTypes.list;
import static dev.warmpath.config.ConfigTypes.named;
import static dev.warmpath.config.ConfigTypes.texts;

import dev.warmpath.dispatch.AdmissionSettings;
import dev.warmpath.dispatch.BreakerSettings;
import dev.warmpath.dispatch.DispatchSettings;
import dev.warmpath.dispatch.RetrySettings;
import dev.warmpath.health.DegradationMode;
import dev.warmpath.health.DegradationSettings;
import dev.warmpath.health.HealthSettings;
import dev.warmpath.index.LookupSettings;
import dev.warmpath.index.TierWeights;
import dev.warmpath.index.kv.KvEventSettings;
import dev.warmpath.pd.PdSettings;
import dev.warmpath.pd.PdTimeouts;
import dev.warmpath.policy.HomingSettings;
import dev.warmpath.policy.LinearCostWeights;
import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RolloutSettings;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;

/** The keys of the configuration file, each of which stands here once. */
final class Keys {
  private static final int MANY = Integer.MAX_VALUE;

  /** A policy's name, or a chain; text, so that two configurations can be compared. */
  static final ConfigType<String> POLICY = texts("policy", "names joined by >", Policies::parse);

  static final ConfigTable TABLE = new ConfigTable();

  // who the workers are
  static final ConfigKey<List<WorkerSpec>> WORKERS =
      TABLE.live(
          "workers",
          list(WorkerKeys.WORKER),
          List.of(),
          "The workers, each as a line (`http://host:30000;role=prefill`) or as an object. Those"
              + " that a reload leaves out finish what they run and get nothing new.");
  static final ConfigKey<List<DiscoveryKeys.ListFile>> DISCOVERY_FILES =
      TABLE.live(
          "discovery.files",
          list(DiscoveryKeys.ListFile.TYPE),
          List.of(),
          "Files that list workers, followed as they change; each as its path or as an object.");
  static final ConfigKey<List<DiscoveryKeys.DnsName>> DISCOVERY_DNS =
      TABLE.live(
          "discovery.dns",
          list(DiscoveryKeys.DnsName.TYPE),
          List.of(),
          "Names whose addresses are workers, followed by their time to live.");
  static final ConfigKey<List<DiscoveryKeys.Service>> DISCOVERY_KUBERNETES =
      TABLE.live(
          "discovery.kubernetes",
          list(DiscoveryKeys.Service.TYPE),
          List.of(),
          "Services whose ready pods are workers, with the credentials of the pod or the user that"
              + " the process runs as. Takes `"
              + Parts.HTTP
              + "` and `io.fabric8:kubernetes-client` on the class path.");
  static final PartKeys PARTS = new PartKeys(TABLE);
  static final ConfigKey<Secret> API_KEY =
      TABLE.live(
          "api_key",
          SECRET,
          null,
          "Sent to workers that have no key of their own, as `Authorization: Bearer`.");
  static final ConfigKey<Secret> ADMIN_KEY =
      TABLE.live(
          "admin_key",
          SECRET,
          null,
          "Sent with admin calls to workers that have no admin key of their own.");
  static final ConfigKey<Duration> RELOAD_INTERVAL =
      TABLE.fixed(
          WhyFixed.THREADS,
          "reload_interval",
          DURATION,
          Duration.ofSeconds(2),
          "How often this file, and the files that `${file:...}` names, are looked at for changes;"
              + " 0 never.");

  // who decides
  static final ConfigKey<String> DECIDER =
      TABLE.live(
          "policy",
          POLICY,
          Policies.standard().name(),
          "Chooses workers for whole requests: one of "
              + String.join(", ", Policies.names().stream().sorted().toList())
              + ", or several joined by `>`.");
  static final ConfigKey<String> PREFILL_POLICY =
      TABLE.live(
          "prefill_policy",
          POLICY,
          Policies.prefill().name(),
          "Chooses prefill workers, where prefill and decode are apart.");
  static final ConfigKey<String> DECODE_POLICY =
      TABLE.live(
          "decode_policy",
          POLICY,
          Policies.decode().name(),
          "Chooses decode workers, where prefill and decode are apart.");
  static final ConfigKey<Map<String, ProfileKeys.Written>> PROFILES =
      TABLE.live(
          "profiles",
          named(ProfileKeys.PROFILE),
          Map.of(),
          "Option sets that requests ask for by name; what a profile leaves out is the client's.");

  private static final HomingSettings HOMING = HomingSettings.DEFAULT;
  static final ConfigKey<Integer> HOMING_RANKS =
      TABLE.live(
          "homing.ranks",
          count(1, 8),
          HOMING.ranks(),
          "How many of a prompt's own order of workers `homing` considers beside its replicas.");
  static final ConfigKey<Double> HOMING_PREFILL =
      TABLE.live(
          "homing.prefill",
          DECIMAL,
          HOMING.prefill(),
          "What a millisecond of computing a prompt weighs against one of waiting.");
  static final ConfigKey<Double> HOMING_LOAD =
      TABLE.live(
          "homing.load",
          DECIMAL,
          HOMING.load(),
          "How much more it weighs for each request that ranks have waiting on average.");
  static final ConfigKey<Double> HOMING_DISPLACEMENT =
      TABLE.live(
          "homing.displacement",
          DECIMAL,
          HOMING.displacement(),
          "What the follow-ups of a prompt cost that is sent away from home.");
  static final ConfigKey<Double> HOMING_MARGIN =
      TABLE.live(
          "homing.margin_millis",
          DECIMAL,
          HOMING.marginMillis(),
          "Milliseconds that must be saved to leave home at all.");
  static final ConfigKey<Double> HOMING_REQUEST =
      TABLE.live(
          "homing.request_millis",
          DECIMAL,
          HOMING.requestMillis(),
          "Milliseconds that each request at a worker adds to the wait there.");
  static final ConfigKey<Double> HOMING_TOKEN =
      TABLE.live(
          "homing.millis_per_token",
          DECIMAL,
          null,
          "Milliseconds that an uncached token takes; learned of each rank where it is not set.");

  private static final LinearCostWeights COST = LinearCostWeights.DEFAULT;
  static final ConfigKey<Double> COST_RUNNING =
      TABLE.live(
          "linear_cost.running", DECIMAL, COST.running(), "The weight of a running request.");
  static final ConfigKey<Double> COST_WAITING =
      TABLE.live(
          "linear_cost.waiting",
          DECIMAL,
          COST.waiting(),
          "The weight of a request queued in the engine.");
  static final ConfigKey<Double> COST_USAGE =
      TABLE.live("linear_cost.usage", DECIMAL, COST.usage(), "The weight of a full KV cache.");
  static final ConfigKey<Double> COST_IN_FLIGHT =
      TABLE.live(
          "linear_cost.in_flight",
          DECIMAL,
          COST.inFlight(),
          "The weight of this client's own requests that telemetry does not show yet.");
  static final ConfigKey<Double> COST_LATENCY =
      TABLE.live(
          "linear_cost.latency",
          DECIMAL,
          COST.latency(),
          "The weight of a time to first byte of the fleet's mean.");
  static final ConfigKey<Double> COST_HIT_RATE =
      TABLE.live(
          "linear_cost.hit_rate",
          DECIMAL,
          COST.hitRate(),
          "The weight of the engine's recent cache hit rate.");
  static final ConfigKey<Double> COST_PREFIX =
      TABLE.live(
          "linear_cost.prefix",
          DECIMAL,
          COST.prefix(),
          "The weight of prompt tokens that a rank need not compute.");

  // how requests are carried out
  private static final Timeouts TIMEOUTS = DispatchSettings.DEFAULT.timeouts();
  static final ConfigKey<Duration> CONNECT =
      TABLE.live("timeouts.connect", DURATION, TIMEOUTS.connect(), "To make a connection.");
  static final ConfigKey<Duration> FIRST_TOKEN =
      TABLE.live(
          "timeouts.first_token",
          DURATION,
          TIMEOUTS.firstToken(),
          "From sending to the first byte of the answer.");
  static final ConfigKey<Duration> INTER_TOKEN =
      TABLE.live(
          "timeouts.inter_token",
          DURATION,
          TIMEOUTS.interToken(),
          "Between two reads of a stream that flows.");
  static final ConfigKey<Duration> DEADLINE =
      TABLE.live(
          "deadline",
          DURATION,
          DispatchSettings.DEFAULT.deadline(),
          "How long a request may take in all, unless it says so itself; no limit by default.");
  static final ConfigKey<Duration> NO_WORKER_WAIT =
      TABLE.live(
          "no_worker_wait",
          DURATION,
          DispatchSettings.DEFAULT.noWorkerWait(),
          "How long a request waits for the first worker to be discovered.");

  private static final RetrySettings RETRY = RetrySettings.DEFAULT;
  static final ConfigKey<Integer> RETRY_ATTEMPTS =
      TABLE.live(
          "retry.max_attempts",
          count(1, MANY),
          RETRY.maxAttempts(),
          "Attempts of one request in all, the first included.");
  static final ConfigKey<Double> RETRY_RATIO =
      TABLE.live(
          "retry.budget_ratio", DECIMAL, RETRY.budgetRatio(), "Retries per request over time.");
  static final ConfigKey<Integer> RETRY_RESERVE =
      TABLE.live(
          "retry.budget_reserve",
          count(0, MANY),
          RETRY.budgetReserve(),
          "Retries saved up for a burst.");
  static final ConfigKey<Duration> RETRY_BACKOFF =
      TABLE.live(
          "retry.base_backoff",
          DURATION,
          RETRY.baseBackoff(),
          "The wait before the second attempt; doubles with each further one.");
  static final ConfigKey<Duration> RETRY_MAX_BACKOFF =
      TABLE.live("retry.max_backoff", DURATION, RETRY.maxBackoff(), "The longest such wait.");
  static final ConfigKey<Duration> RETRY_MAX_AFTER =
      TABLE.live(
          "retry.max_retry_after",
          DURATION,
          RETRY.maxRetryAfter(),
          "The longest `Retry-After` that is waited for.");

  private static final BreakerSettings BREAKER = BreakerSettings.DEFAULT;
  static final ConfigKey<Duration> BREAKER_WINDOW =
      TABLE.live("breaker.window", DURATION, BREAKER.window(), "How far back outcomes count.");
  static final ConfigKey<Integer> BREAKER_FAILURES =
      TABLE.live(
          "breaker.minimum_failures",
          count(1, MANY),
          BREAKER.minimumFailures(),
          "Failures within the window before the rate is looked at.");
  static final ConfigKey<Double> BREAKER_RATE =
      TABLE.live(
          "breaker.failure_rate",
          DECIMAL,
          BREAKER.failureRate(),
          "The share of failed requests that sets a worker aside, above 0 and up to 1.");
  static final ConfigKey<Duration> BREAKER_OPEN =
      TABLE.live(
          "breaker.open_for",
          DURATION,
          BREAKER.openFor(),
          "How long it is set aside the first time; doubles each time its test fails.");
  static final ConfigKey<Duration> BREAKER_MAX_OPEN =
      TABLE.live(
          "breaker.max_open_for", DURATION, BREAKER.maxOpenFor(), "The longest it is set aside.");
  static final ConfigKey<Integer> BREAKER_PROBES =
      TABLE.live(
          "breaker.half_open_probes",
          count(1, MANY),
          BREAKER.halfOpenProbes(),
          "Requests that test a worker at once after that.");

  private static final AdmissionSettings ADMISSION = AdmissionSettings.DEFAULT;
  static final ConfigKey<Integer> ADMISSION_IN_FLIGHT =
      TABLE.live(
          "admission.max_in_flight_per_rank",
          count(1, MANY),
          ADMISSION.maxInFlightPerRank(),
          "Requests this client has out at once, times the number of ranks.");
  static final ConfigKey<Integer> ADMISSION_QUEUE =
      TABLE.live(
          "admission.queue_size",
          count(0, 1 << 24),
          ADMISSION.queueSize(),
          "Requests that wait at most; one more is refused at once.");
  static final ConfigKey<Duration> ADMISSION_WAIT =
      TABLE.live("admission.max_wait", DURATION, ADMISSION.maxWait(), "The longest wait.");

  // prefill and decode
  private static final PdSettings PD = PdSettings.DEFAULT;
  static final ConfigKey<Boolean> PD_STRICT =
      TABLE.live(
          "prefill_decode.strict",
          SWITCH,
          PD.strict(),
          "Whether decode's first payload waits, briefly, for prefill's end.");
  static final ConfigKey<Integer> PD_DIRECT =
      TABLE.live(
          "prefill_decode.direct_below_tokens",
          count(0, MANY),
          PD.directBelowTokens(),
          "Prompts with fewer uncached tokens go to a decode worker alone; 0 for never.");
  static final ConfigKey<Boolean> PD_FIRST =
      TABLE.live(
          "prefill_decode.pairs_first",
          SWITCH,
          PD.pairsFirst(),
          "Whether pairs serve a model that regular workers serve, too.");
  static final ConfigKey<Integer> PD_ATTEMPTS =
      TABLE.live(
          "prefill_decode.max_attempts",
          count(1, MANY),
          PD.maxAttempts(),
          "Pairs that are tried for one request, the first included.");
  static final ConfigKey<Duration> PD_QUARANTINE =
      TABLE.live(
          "prefill_decode.room_quarantine",
          DURATION,
          PD.roomQuarantine(),
          "How long a bootstrap room is not minted again after its session.");
  static final ConfigKey<Integer> PD_ROOMS =
      TABLE.live(
          "prefill_decode.max_rooms",
          count(1, MANY),
          PD.maxRooms(),
          "Rooms remembered at most, live and in quarantine.");
  static final ConfigKey<Integer> PD_ABORTS =
      TABLE.live(
          "prefill_decode.aborts_per_second",
          count(1, MANY),
          PD.abortsPerSecond(),
          "Abort calls that one worker is sent at most.");
  static final ConfigKey<Integer> PD_RELEASES =
      TABLE.live(
          "prefill_decode.max_releases",
          count(1, MANY),
          PD.maxReleases(),
          "Calls that let workers free KV, out at once at most; others wait.");

  private static final PdTimeouts PD_TIMES = PdTimeouts.DEFAULT;
  static final ConfigKey<Duration> PD_PREFILL =
      pdTime("prefill", PD_TIMES.prefill(), "From sending prefill to the end of its answer.");
  static final ConfigKey<Duration> PD_RENDEZVOUS =
      pdTime(
          "rendezvous",
          PD_TIMES.rendezvous(),
          "While prefill is not done and decode has sent nothing.");
  static final ConfigKey<Duration> PD_GRACE =
      pdTime(
          "grace", PD_TIMES.grace(), "How long a first payload of decode waits for prefill's end.");
  static final ConfigKey<Duration> PD_HAND_OFF =
      pdTime("hand_off", PD_TIMES.handOff(), "From prefill's end to the sending of decode.");
  static final ConfigKey<Duration> PD_FIRST_PAYLOAD =
      pdTime(
          "first_payload",
          PD_TIMES.firstPayload(),
          "From prefill's end to decode's first payload of a stream.");
  static final ConfigKey<Duration> PD_IDLE =
      pdTime("idle", PD_TIMES.idle(), "How long a stream's reader waits for its next payload.");
  static final ConfigKey<Duration> PD_DRAIN =
      pdTime("drain", PD_TIMES.drain(), "From decode's end to prefill's.");
  static final ConfigKey<Duration> PD_SETTLE =
      pdTime("settle", PD_TIMES.settle(), "From giving an attempt up to the end of both legs.");
  static final ConfigKey<Duration> PD_RELEASE =
      pdTime("release", PD_TIMES.release(), "For the call that lets a worker free KV.");
  static final ConfigKey<Duration> PD_ABORT =
      pdTime("abort", PD_TIMES.abort(), "For an engine's abort call.");

  // what is known of workers
  private static final HealthSettings HEALTH = HealthSettings.DEFAULT;
  static final ConfigKey<Duration> PROBE_INTERVAL =
      TABLE.live(
          "health.probe_interval",
          DURATION,
          HEALTH.probeInterval(),
          "Between two health probes of a worker that is well; SGLang is never asked more often"
              + " than every 10 s.");
  static final ConfigKey<Duration> RECHECK_INTERVAL =
      TABLE.live(
          "health.recheck_interval",
          DURATION,
          HEALTH.recheckInterval(),
          "To the next probe of a worker whose connection was refused; doubles up to"
              + " `probe_interval`.");
  static final ConfigKey<Duration> PROBE_TIMEOUT =
      TABLE.live("health.probe_timeout", DURATION, HEALTH.probeTimeout(), "For one health probe.");
  static final ConfigKey<Integer> FAILURES_TO_DOWN =
      TABLE.live(
          "health.failures_to_down",
          count(1, MANY),
          HEALTH.failuresToDown(),
          "Consecutive failures that make a worker down.");
  static final ConfigKey<Integer> PASSES_TO_UP =
      TABLE.live(
          "health.passes_to_up",
          count(1, MANY),
          HEALTH.passesToUp(),
          "Consecutive passes that bring a worker up again that was down.");
  static final ConfigKey<Duration> PROOF_OF_LIFE =
      TABLE.live(
          "health.proof_of_life_window",
          DURATION,
          HEALTH.proofOfLifeWindow(),
          "For how long a success of this client's requests outweighs probes that time out.");
  static final ConfigKey<Duration> LOAD_MIN =
      TABLE.live(
          "health.load_min",
          DURATION,
          HEALTH.loadMin(),
          "The shortest time between two load polls, at least 100 ms.");
  static final ConfigKey<Duration> LOAD_MAX =
      TABLE.live("health.load_max", DURATION, HEALTH.loadMax(), "The longest.");
  static final ConfigKey<Duration> LOAD_TIMEOUT =
      TABLE.live("health.load_timeout", DURATION, HEALTH.loadTimeout(), "For one load poll.");
  static final ConfigKey<Duration> CAPABILITY_INTERVAL =
      TABLE.live(
          "health.capability_interval",
          DURATION,
          HEALTH.capabilityInterval(),
          "Between two looks at what a worker is.");
  static final ConfigKey<Duration> CAPABILITY_TIMEOUT =
      TABLE.live(
          "health.capability_timeout", DURATION, HEALTH.capabilityTimeout(), "For such a look.");
  static final ConfigKey<Duration> TELEMETRY_STALE =
      TABLE.live(
          "health.telemetry_stale_after",
          DURATION,
          HEALTH.telemetryStaleAfter(),
          "The age at which a load reading is no longer believed.");

  private static final DegradationSettings DEGRADATION = DegradationSettings.DEFAULT;
  static final ConfigKey<Duration> DEGRADATION_HOLD =
      TABLE.live(
          "health.degradation.hold",
          DURATION,
          DEGRADATION.hold(),
          "The least time between two changes of one way in which a rank is degraded.");
  static final ConfigKey<Duration> SLOW_START =
      TABLE.live(
          "health.degradation.slow_start",
          DURATION,
          DEGRADATION.slowStart(),
          "For how long the traffic of a worker that was down, suspect or restarted grows.");
  static final ConfigKey<Double> SLOW_START_SHARE =
      TABLE.live(
          "health.degradation.slow_start_share",
          DECIMAL,
          DEGRADATION.slowStartShare(),
          "The share of its traffic, 0 to 1, that it begins with.");
  static final Map<DegradationMode, DegradationKeys> DEGRADATION_RULES =
      DegradationKeys.all(TABLE, DEGRADATION);

  // knowledge routing
  static final KnowledgeKeys KNOWLEDGE = KnowledgeKeys.in(TABLE);
  static final KnowledgeSetupKeys KNOWLEDGE_SETUP = new KnowledgeSetupKeys(TABLE);

  // prompts and indexes
  static final ConfigKey<Map<String, ModelSource>> MODELS =
      TABLE.fixed(
          WhyFixed.PROMPTS,
          "models",
          named(ModelKeys.MODEL),
          Map.of(),
          "Where each model's files are, by the name that requests use, as a directory or as an"
              + " object; the name `\"*\"` stands for every model without one of its own.");
  static final ConfigKey<Long> PROMPT_CACHE =
      TABLE.fixed(
          WhyFixed.BUDGETS,
          "prompt_cache_bytes",
          BYTES,
          64L << 20,
          "What the caches of tokens and block chains may take together.");
  static final ConfigKey<Integer> TOKENIZE_THREADS =
      TABLE.fixed(
          WhyFixed.THREADS,
          "tokenize_threads",
          count(1, 1 << 15),
          null,
          "Threads that render and tokenize for asynchronous calls; twice the processors by"
              + " default.");
  static final ConfigKey<Boolean> TENANT_KEY_REQUIRED =
      TABLE.fixed(
          WhyFixed.PROMPTS,
          "tenant_key_required",
          SWITCH,
          false,
          "Refuses requests whose body has neither `cache_salt` nor `extra_key`, by which engines"
              + " and indexes keep tenants apart.");
  static final ConfigKey<ZoneId> TEMPLATE_ZONE =
      TABLE.fixed(
          WhyFixed.PROMPTS,
          "template_zone",
          ConfigTypes.ZONE,
          ZoneOffset.UTC,
          "The time zone of the engines, for chat templates that print the date.");
  static final ConfigKey<Long> INDEX_BYTES =
      TABLE.fixed(
          WhyFixed.BUDGETS,
          "index_bytes",
          BYTES,
          64L << 20,
          "What the prefix indexes, of blocks and of bytes, may take together on the heap.");
  static final ConfigKey<Path> BRANCH_FILE =
      TABLE.fixed(
          WhyFixed.FILES,
          "branch_file",
          PATH,
          null,
          "Keeps `homing`'s statistics of where prompts part from one run to the next.");
  static final ConfigKey<Path> TOPOLOGY_FILE =
      TABLE.fixed(
          WhyFixed.FILES,
          "topology_file",
          PATH,
          null,
          "Keeps what discovery last told of workers from one run to the next, without keys.");
  static final ConfigKey<Path> INDEX_FILE =
      TABLE.fixed(
          WhyFixed.FILES,
          "index_file",
          PATH,
          null,
          "Keeps which blocks of tokens workers were believed to hold from one run to the next,"
              + " hashes only.");
  static final ConfigKey<Duration> INDEX_FILE_MAX_AGE =
      TABLE.fixed(
          WhyFixed.FILES,
          "index_file_max_age",
          DURATION,
          Duration.ofMinutes(10),
          "How old that file may be: caches move on while this client is away.");
  static final ConfigKey<String> ROLLOUT_BASELINE =
      TABLE.live(
          "rollout.baseline",
          POLICY,
          RolloutSettings.DEFAULT.baseline().name(),
          "Decides what the policy does not: a policy or a chain.");
  static final ConfigKey<Double> ROLLOUT_SHARE =
      TABLE.live(
          "rollout.share",
          DECIMAL,
          1.0,
          "The share of conversations, 0 to 1, that the policy decides, by a stable hash.");
  static final ConfigKey<Boolean> ROLLOUT_SHADOW =
      TABLE.live(
          "rollout.shadow",
          SWITCH,
          false,
          "Whether the policy only says what it would do, and the baseline decides.");
  static final ConfigKey<Double> ROLLOUT_CONTROL =
      TABLE.live(
          "rollout.control",
          DECIMAL,
          0.0,
          "The share of conversations, 0 to 0.5, that the baseline decides as a control group;"
              + " where the policy's times to first token are worse, it decides fewer.");
  static final ConfigKey<Path> HISTORY_FILE =
      TABLE.fixed(
          WhyFixed.THREADS,
          "load_history.file",
          PATH,
          null,
          "Keeps what is known of workers' loads in an SQLite file; without it the environment"
              + " variable `WARMPATH_LOADS_DB` names one. Needs `org.xerial:sqlite-jdbc`.");
  static final ConfigKey<Duration> HISTORY_KEEP =
      TABLE.fixed(
          WhyFixed.THREADS,
          "load_history.keep",
          DURATION,
          Duration.ofDays(7),
          "How long rows are kept.");
  static final ConfigKey<Duration> HISTORY_INTERVAL =
      TABLE.fixed(
          WhyFixed.THREADS,
          "load_history.interval",
          DURATION,
          Duration.ofSeconds(10),
          "Between two samples of every rank.");
  static final ConfigKey<Duration> HISTORY_BATCH =
      TABLE.fixed(
          WhyFixed.THREADS,
          "load_history.batch",
          DURATION,
          Duration.ofSeconds(30),
          "Between two writes: what a process that is killed loses at most.");
  static final ConfigKey<Duration> LOOKUP_DEADLINE =
      TABLE.fixed(
          WhyFixed.LISTENING,
          "lookup.deadline",
          DURATION,
          LookupSettings.DEFAULT_DEADLINE,
          "How long a request waits for an index outside of the client.");
  static final ConfigKey<Integer> LOOKUP_BLOCKS =
      TABLE.fixed(
          WhyFixed.LISTENING,
          "lookup.max_blocks",
          count(1, MANY),
          LookupSettings.DEFAULT_MAX_BLOCKS,
          "The most blocks of a prompt that it is asked for.");
  static final ConfigKey<Map<String, String>> LOOKUP_NODES =
      TABLE.fixed(
          WhyFixed.LISTENING,
          "lookup.nodes",
          named(LookupNode.TYPE),
          Map.of(),
          "Which worker is which of its nodes, by the node's name, where that can't be told from"
              + " name and host: the worker's address, with `#rank` where the node is one rank.");
  static final ConfigKey<String> LOOKUP_VLLM_PREFIX =
      TABLE.fixed(
          WhyFixed.LISTENING,
          "lookup.vllm_prefix",
          TEXT,
          "",
          "What it puts in front of the keys of vLLM's blocks.");
  static final ConfigKey<Integer> LOOKUP_VLLM_GROUP =
      TABLE.fixed(
          WhyFixed.LISTENING,
          "lookup.vllm_group",
          count(0, MANY),
          0,
          "The KV cache group of vLLM's blocks there; 0 is full attention.");
  static final ConfigKey<Double> LOOKUP_HBM =
      TABLE.fixed(
          WhyFixed.LISTENING,
          "lookup.weights.hbm",
          DECIMAL,
          TierWeights.DEFAULT.hbm(),
          "What a block is worth in the accelerator's memory, 0 to 1.");
  static final ConfigKey<Double> LOOKUP_DRAM =
      TABLE.fixed(
          WhyFixed.LISTENING,
          "lookup.weights.dram",
          DECIMAL,
          TierWeights.DEFAULT.dram(),
          "In the host's memory.");
  static final ConfigKey<Double> LOOKUP_SSD =
      TABLE.fixed(
          WhyFixed.LISTENING,
          "lookup.weights.ssd",
          DECIMAL,
          TierWeights.DEFAULT.ssd(),
          "On a disk.");
  static final ConfigKey<Boolean> KV_EVENTS =
      TABLE.fixed(
          WhyFixed.LISTENING,
          "kv_events.enabled",
          SWITCH,
          false,
          "Listens to what engines tell of their KV caches; without it only workers are listened"
              + " to whose label says where.");
  static final ConfigKey<Long> KV_BUDGET =
      TABLE.fixed(
          WhyFixed.BUDGETS,
          "kv_events.budget_bytes",
          BYTES,
          KvEventSettings.DEFAULT.budgetBytes(),
          "What the engines' hashes may take up in all.");
  static final ConfigKey<Integer> KV_WAITING =
      TABLE.fixed(
          WhyFixed.LISTENING,
          "kv_events.waiting_messages",
          count(1, MANY),
          KvEventSettings.DEFAULT.waitingMessages(),
          "How many messages of a rank may wait to be taken in.");
  static final ConfigKey<Duration> KV_REPLAY =
      TABLE.fixed(
          WhyFixed.LISTENING,
          "kv_events.replay_timeout",
          DURATION,
          KvEventSettings.DEFAULT.replayTimeout(),
          "How long a replay may be silent before it is given up.");
  static final ConfigKey<Duration> KV_SILENCE =
      TABLE.fixed(
          WhyFixed.LISTENING,
          "kv_events.silence",
          DURATION,
          KvEventSettings.DEFAULT.silence(),
          "How long a rank may be out of reach before what it told is dropped.");

  // what is kept and counted
  static final ConfigKey<Boolean> REQUEST_METRICS =
      TABLE.fixed(
          WhyFixed.COUNTS,
          "request_metrics",
          SWITCH,
          false,
          "Whether requests and attempts are counted, with the time they take.");
  static final ConfigKey<Integer> STATUS_DECISIONS =
      TABLE.fixed(
          WhyFixed.COUNTS,
          "status_decisions",
          count(0, 10_000),
          64,
          "How many of the last requests `status()` shows, without what they said; 0 for none.");
  static final ConfigKey<Long> DEAD_LETTERS =
      TABLE.fixed(
          WhyFixed.BUDGETS,
          "dead_letter_bytes",
          BYTES,
          0L,
          "Keeps requests that finally failed, up to this size: bodies are private, so none by"
              + " default.");
  static final ConfigKey<Long> SEED =
      TABLE.fixed(
          WhyFixed.COUNTS, "seed", WHOLE, null, "Fixes all chance, for tests and simulations.");

  private Keys() {}

  private static ConfigKey<Duration> pdTime(String name, Duration standard, String text) {
    return TABLE.live("prefill_decode.timeouts." + name, DURATION, standard, text);
  }
}
