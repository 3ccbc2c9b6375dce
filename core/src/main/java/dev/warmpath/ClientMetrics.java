package dev.warmpath;

import dev.warmpath.RouterClient.ClientStats;
import dev.warmpath.dispatch.AnswerStats;
import dev.warmpath.health.PredictionCheck;
import dev.warmpath.health.WorkerView;
import dev.warmpath.health.WorkerView.RankView;
import dev.warmpath.index.BlockIndex;
import dev.warmpath.index.BlockLookup;
import dev.warmpath.index.ByteRadixTree;
import dev.warmpath.index.kv.KvEventStats;
import dev.warmpath.knowledge.KnowledgeCounters;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.observe.MetricFamily;
import dev.warmpath.observe.MetricSample;
import dev.warmpath.observe.MetricType;
import dev.warmpath.pd.PdStats;
import dev.warmpath.prompt.StageTimers.Stage;
import dev.warmpath.prompt.StageTimers.Times;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.transport.Transport;
import dev.warmpath.transport.TransportStats;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRank;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** A client's state at one moment as metrics. Lives for one look. */
final class ClientMetrics {

  private static final List<String> BREAKER_STATES = List.of("closed", "half_open", "open");

  private final List<MetricFamily> families = new ArrayList<>();

  /** The client itself: what waits, what it keeps, against which budget. */
  ClientMetrics client(ClientStats stats) {
    gauge("requests_in_flight", "Requests being carried out.", stats.inFlight());
    gauge("admission_waiting", "Requests waiting for admission.", stats.waiting());
    gauge("retry_budget", "Retries that the budget allows.", stats.retriesLeft());
    ByteRadixTree.Stats index = stats.index();
    gauge("index_bytes", "Heap taken by the prefix index.", index.bytes());
    gauge("index_budget_bytes", "Budget of the prefix index.", index.budgetBytes());
    counter("index_evicted_total", "Entries of the prefix index that made room.", index.evicted());
    counter("index_shed_total", "Updates that the prefix index lost.", index.shed());
    BlockIndex.Stats blocks = stats.blocks();
    gauge("block_index_bytes", "Heap taken by the index of blocks.", blocks.bytes());
    gauge("block_index_budget_bytes", "Budget of the index of blocks.", blocks.budgetBytes());
    gauge("block_index_blocks", "Blocks in the index of blocks.", blocks.blocks());
    gauge(
        "block_index_authoritative_ranks",
        "Ranks whose blocks are all known.",
        blocks.authoritative());
    counter("block_index_evicted_total", "Holdings of blocks that made room.", blocks.evicted());
    counter("block_index_shed_total", "Updates that the index of blocks lost.", blocks.shed());
    gauge(
        "prompt_cache_bytes",
        "Heap taken by cached tokens and chains.",
        stats.prompts().segmentBytes() + stats.prompts().chainBytes());
    gauge(
        "prompt_cache_hit_ratio",
        "Share of prompt segments that were tokenized before.",
        stats.prompts().segmentHitRate());
    gauge(
        "prompt_chain_hit_ratio",
        "Share of block chains that went on from an earlier prompt's.",
        stats.prompts().chainHitRate());
    answers(stats.answers());
    events(stats.kvEvents());
    lookups(stats.lookups());
    pairs(stats.pd());
    return this;
  }

  private void answers(AnswerStats answers) {
    gauge("answers_waiting", "Answers not learned yet.", answers.waiting());
    gauge("answers_waiting_bytes", "Heap of answers not learned yet.", answers.bytes());
    gauge(
        "answers_waiting_budget_bytes",
        "Budget of answers not learned yet.",
        answers.budgetBytes());
    counter("answers_dropped_total", "Answers that were not learned.", answers.dropped());
  }

  private void events(KvEventStats events) {
    gauge("kv_event_bytes", "Heap taken by the hashes of engines' blocks.", events.bytes());
    gauge(
        "kv_event_budget_bytes", "Budget of the hashes of engines' blocks.", events.budgetBytes());
    perRank(
        events,
        "kv_events_total",
        "KV events that were applied.",
        MetricType.COUNTER,
        rank -> rank.stream().events());
    perRank(
        events,
        "kv_event_gaps_total",
        "How often batches of KV events were missing.",
        MetricType.COUNTER,
        rank -> rank.stream().gaps());
    perRank(
        events,
        "kv_event_losses_total",
        "How often missing batches of KV events could not be had.",
        MetricType.COUNTER,
        rank -> rank.stream().losses());
    perRank(
        events,
        "kv_event_connected",
        "Whether the rank's KV events are heard.",
        MetricType.GAUGE,
        rank -> rank.connected() ? 1 : 0);
    perRank(
        events,
        "kv_event_last_timestamp_seconds",
        "When the last KV event was told, by the engine's clock.",
        MetricType.GAUGE,
        rank -> rank.stream().lastEpochSeconds());
    perRank(
        events,
        "kv_event_lag_seconds",
        "From telling the last KV event to applying it, by the clocks of both.",
        MetricType.GAUGE,
        rank -> rank.stream().lagSeconds());
    perRank(
        events,
        "kv_events_per_second",
        "KV events that come at this moment.",
        MetricType.GAUGE,
        rank -> rank.stream().eventsPerSecond());
    perRank(
        events,
        "kv_event_complete",
        "Whether all is known of what the rank holds.",
        MetricType.GAUGE,
        rank -> rank.stream().complete() ? 1 : 0);
  }

  private void perRank(
      KvEventStats events,
      String name,
      String what,
      MetricType type,
      ToDoubleFunction<KvEventStats.Rank> figure) {
    List<MetricSample> samples = new ArrayList<>();
    for (KvEventStats.Rank rank : events.ranks()) {
      double its = figure.applyAsDouble(rank);
      if (!Double.isNaN(its)) {
        samples.add(MetricSample.of(its, labels(rank.rank())));
      }
    }
    add(name, what, type, samples);
  }

  private void lookups(BlockLookup.Stats lookups) {
    List<MetricSample> outcomes = new ArrayList<>();
    outcomes.add(MetricSample.of(lookups.found(), Map.of("outcome", "found")));
    outcomes.add(MetricSample.of(lookups.empty(), Map.of("outcome", "empty")));
    outcomes.add(MetricSample.of(lookups.failed(), Map.of("outcome", "failed")));
    outcomes.add(MetricSample.of(lookups.skipped(), Map.of("outcome", "skipped")));
    add(
        "lookups_total",
        "Look-ups of blocks in an index outside of the client.",
        MetricType.COUNTER,
        outcomes);
    counter(
        "lookup_ignored_nodes_total",
        "Nodes in the answers of look-ups that are no workers.",
        lookups.ignoredNodes());
  }

  /** What became of the knowledge of requests. */
  ClientMetrics knowledge(KnowledgeRouting knowledge) {
    KnowledgeRouting.Stats stats = knowledge.stats();
    List<MetricSample> injected = new ArrayList<>();
    injected.add(MetricSample.of(stats.text(), Map.of("injected", "text")));
    injected.add(MetricSample.of(stats.kv(), Map.of("injected", "kv")));
    injected.add(MetricSample.of(stats.nothing(), Map.of("injected", "nothing")));
    add(
        "knowledge_requests_total",
        "Requests that need knowledge, by how they got it.",
        MetricType.COUNTER,
        injected);
    counter(
        "knowledge_no_node_total",
        "Requests that need knowledge of which no node that is alive has any.",
        stats.noNode());
    List<MetricSample> calls = new ArrayList<>();
    calls.add(MetricSample.of(stats.kvInjected(), Map.of("outcome", "injected")));
    calls.add(MetricSample.of(stats.kvFailed(), Map.of("outcome", "failed")));
    add("knowledge_kv_total", "Calls to put KV in place.", MetricType.COUNTER, calls);
    counter(
        "knowledge_kv_shared_total",
        "Requests whose KV came by a call that another request had begun.",
        stats.kvShared());
    counter(
        "knowledge_kv_bytes_total",
        "KV bytes that knowledge delivery nodes transferred.",
        stats.kvBytes());
    KnowledgeCounters counters = knowledge.strategy().counters();
    counter(
        "knowledge_nodes_overloaded_total",
        "Nodes that were overloaded when a request was decided.",
        counters.overloadedNodes());
    counter(
        "knowledge_topology_hits_total",
        "Decisions in which links had a say.",
        counters.topologyHits());
    counter(
        "knowledge_load_filtered_total",
        "Decisions in which a target was too busy.",
        counters.loadFiltered());
    counter(
        "knowledge_affinity_hits_total",
        "Decisions in which a target had been given the knowledge before.",
        counters.affinityHits());
    gauge(
        "knowledge_nodes",
        "Knowledge delivery nodes that are alive.",
        knowledge.registry().catalogue().nodes().size());
    return this;
  }

  private void pairs(PdStats pd) {
    counted("pd_sessions_total", "Prefill/decode sessions.", pd.sessions(), "mode", "outcome");
    counted(
        "pd_failures_total", "Failed prefill/decode sessions, by phase.", pd.failures(), "phase");
    counter("pd_attempts_total", "Pairs of workers that were tried.", pd.attempts());
    counted(
        "pd_leg_outcome_total",
        "Legs of prefill/decode sessions, by outcome.",
        pd.legs(),
        "role",
        "outcome");
    counted(
        "pd_aborts_sent_total",
        "Abort calls of prefill/decode sessions.",
        pd.aborts(),
        "role",
        "result");
    counter("pd_release_total", "Requests that let prefill workers free KV.", pd.releases());
    counter(
        "pd_release_dropped_total",
        "Requests to free KV that were left out.",
        pd.releasesDropped());
    counter("pd_recompute_total", "Decodes that computed the prompt.", pd.recomputes());
    counter("pd_bypass_total", "Requests that decode took alone.", pd.direct());
    add(
        "pd_prefill_seconds",
        "Time from choosing a pair to prefill's end, by prefill worker.",
        MetricType.HISTOGRAM,
        pd.prefillSeconds());
    add(
        "pd_handoff_seconds",
        "Time from prefill's end to decode's first payload, by decode worker.",
        MetricType.HISTOGRAM,
        pd.handOffSeconds());
    add(
        "pd_ttft_seconds",
        "Time from choosing a pair to decode's first payload, by decode worker.",
        MetricType.HISTOGRAM,
        pd.firstPayloadSeconds());
    gauge("pd_sessions_live", "Prefill/decode sessions that last.", pd.liveSessions());
    gauge("pd_rooms_live", "Rooms of prefill/decode attempts that last.", pd.liveRooms());
    gauge("pd_rooms_resting", "Rooms in quarantine.", pd.restingRooms());
  }

  /** How predicted cache hits compare with what came, for each rank. */
  ClientMetrics predictions(Map<String, PredictionCheck.Verdict> verdicts) {
    List<MetricSample> suspects = new ArrayList<>();
    List<MetricSample> credits = new ArrayList<>();
    verdicts.forEach(
        (rank, verdict) -> {
          Map<String, String> labels = labels(rank);
          credits.add(MetricSample.of(verdict.credit(), labels));
          labels.put("cause", verdict.cause() == null ? "" : verdict.cause().label());
          suspects.add(MetricSample.of(verdict.suspect() ? 1 : 0, labels));
        });
    add(
        "prediction_suspect",
        "Whether predicted cache hits keep failing to appear.",
        MetricType.GAUGE,
        suspects);
    add(
        "prediction_credit",
        "What predicted cache hits are weighed by.",
        MetricType.GAUGE,
        credits);
    return this;
  }

  /** What is known of each rank. */
  ClientMetrics workers(List<WorkerView> workers) {
    List<RankView> ranks = workers.stream().flatMap(worker -> worker.ranks().stream()).toList();
    perRank(
        "worker_up",
        "Whether the worker is believed to answer.",
        ranks,
        rank -> rank.availability().label().equals("up") ? 1 : 0);
    perRank(
        "worker_traffic_share",
        "The part of its traffic that the worker keeps while it is degraded, but for what follows its"
            + " KV; 1 when it is not.",
        ranks,
        rank -> rank.degradation().share());
    perRank("worker_in_flight", "Requests of this client there.", ranks, RankView::inFlight);
    perRank(
        "worker_prefill_tokens",
        "Prompt tokens of this client still to be computed there.",
        ranks,
        RankView::prefillTokens);
    perRank(
        "worker_first_byte_seconds",
        "Moving average of this client's time to first byte there.",
        ranks,
        rank -> rank.latencyMillis() / 1000);
    perRank(
        "worker_telemetry_age_seconds",
        "Age of the worker's telemetry.",
        ranks,
        rank -> rank.loadAge() == null ? Double.NaN : rank.loadAge().toNanos() / 1e9);
    perRank(
        "worker_telemetry_stale",
        "Whether decisions no longer believe it.",
        ranks,
        rank -> rank.stale() ? 1 : 0);
    load("running_requests", ranks, RankLoad::runningRequests);
    load("waiting_requests", ranks, RankLoad::waitingRequests);
    load("used_tokens", ranks, RankLoad::usedTokens);
    load("token_usage_ratio", ranks, RankLoad::tokenUsage);
    load("kv_capacity_tokens", ranks, RankLoad::kvCapacityTokens);
    load("cache_hit_ratio", ranks, RankLoad::cacheHitRate);
    load("generation_tokens_per_second", ranks, RankLoad::generationTokensPerSecond);
    return this;
  }

  /** The state of each worker's circuit breaker, one of which is 1. */
  ClientMetrics breakers(List<Worker> workers, Function<Worker, String> state) {
    List<MetricSample> samples = new ArrayList<>();
    for (Worker worker : workers) {
      String now = state.apply(worker);
      for (String possible : BREAKER_STATES) {
        Map<String, String> labels = new LinkedHashMap<>();
        labels.put("worker", worker.id().value());
        labels.put("state", possible);
        samples.add(MetricSample.of(possible.equals(now) ? 1 : 0, labels));
      }
    }
    add("breaker", "The state of each worker's circuit breaker.", MetricType.GAUGE, samples);
    return this;
  }

  /** The connections of each transport that tells. */
  ClientMetrics connections(List<Transport> transports) {
    List<MetricSample> open = new ArrayList<>();
    List<MetricSample> made = new ArrayList<>();
    List<MetricSample> seconds = new ArrayList<>();
    for (Transport transport : transports) {
      TransportStats stats = transport.stats();
      if (stats == null) {
        continue;
      }
      String schemes = String.join("+", new TreeSet<>(transport.schemes()));
      Map<String, String> labels = Map.of("schemes", schemes);
      open.add(
          MetricSample.of(
              stats.open() - stats.idle(), Map.of("schemes", schemes, "state", "used")));
      open.add(MetricSample.of(stats.idle(), Map.of("schemes", schemes, "state", "idle")));
      made.add(MetricSample.of(stats.made(), labels));
      seconds.add(MetricSample.of(stats.connectSeconds(), labels));
    }
    add("connections", "Connections to workers.", MetricType.GAUGE, open);
    add("connections_made_total", "Connections made for requests.", MetricType.COUNTER, made);
    add(
        "connect_seconds_total",
        "What making connections for requests took, summed.",
        MetricType.COUNTER,
        seconds);
    return this;
  }

  /** What the stages of the work on requests came to, where they are timed. */
  ClientMetrics stages(Map<Stage, Times> times) {
    List<MetricSample> counts = new ArrayList<>();
    List<MetricSample> seconds = new ArrayList<>();
    times.forEach(
        (stage, its) -> {
          Map<String, String> labels = Map.of("stage", stage.label());
          counts.add(MetricSample.of(its.count(), labels));
          seconds.add(MetricSample.of(its.total().toNanos() / 1e9, labels));
        });
    add(
        "stage_runs_total",
        "Stages of the client's own work, since their timers were started.",
        MetricType.COUNTER,
        counts);
    add("stage_seconds_total", "What the stages took, summed.", MetricType.COUNTER, seconds);
    return this;
  }

  /** Metrics that were counted elsewhere. */
  ClientMetrics also(List<MetricFamily> more) {
    families.addAll(more);
    return this;
  }

  List<MetricFamily> families() {
    return List.copyOf(families);
  }

  private void load(String name, List<RankView> ranks, ToDoubleFunction<RankLoad> value) {
    perRank(
        "worker_" + name,
        "By the worker's telemetry: " + name.replace('_', ' ') + ".",
        ranks,
        rank -> rank.load() == null ? Double.NaN : value.applyAsDouble(rank.load()));
  }

  /** A gauge of each rank; a rank of which the value is not known has no series. */
  private void perRank(
      String name, String help, List<RankView> ranks, ToDoubleFunction<RankView> value) {
    List<MetricSample> samples = new ArrayList<>();
    for (RankView rank : ranks) {
      double its = value.applyAsDouble(rank);
      if (!Double.isNaN(its)) {
        samples.add(MetricSample.of(its, labels(rank.rank())));
      }
    }
    add(name, help, MetricType.GAUGE, samples);
  }

  /** Counts whose keys are label values with slashes between. */
  private void counted(String name, String help, Map<String, Long> counts, String... labels) {
    List<MetricSample> samples = new ArrayList<>();
    new TreeMap<>(counts)
        .forEach(
            (key, count) -> {
              String[] values = key.split("/", labels.length);
              Map<String, String> named = new LinkedHashMap<>();
              for (int i = 0; i < labels.length; i++) {
                named.put(labels[i], i < values.length ? values[i] : "");
              }
              samples.add(MetricSample.of(count, named));
            });
    add(name, help, MetricType.COUNTER, samples);
  }

  private void gauge(String name, String help, long value) {
    gauge(name, help, (double) value);
  }

  private void counter(String name, String help, long value) {
    counter(name, help, (double) value);
  }

  private void gauge(String name, String help, double value) {
    families.add(MetricFamily.gauge("warmpath_" + name, help, value));
  }

  private void counter(String name, String help, double value) {
    families.add(MetricFamily.counter("warmpath_" + name, help, value));
  }

  private void add(String name, String help, MetricType type, List<MetricSample> samples) {
    families.add(new MetricFamily("warmpath_" + name, help, type, samples));
  }

  private static Map<String, String> labels(WorkerRank rank) {
    Map<String, String> labels = new LinkedHashMap<>();
    labels.put("worker", rank.worker().id().value());
    rank.rank().ifPresent(number -> labels.put("rank", Integer.toString(number)));
    return labels;
  }

  /** Labels of a rank by its name, {@code worker#rank}. */
  private static Map<String, String> labels(String name) {
    Map<String, String> labels = new LinkedHashMap<>();
    int hash = name.lastIndexOf('#');
    labels.put("worker", hash < 0 ? name : name.substring(0, hash));
    if (hash >= 0) {
      labels.put("rank", name.substring(hash + 1));
    }
    return labels;
  }
}
