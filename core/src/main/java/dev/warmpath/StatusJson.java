package dev.warmpath;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.RouterClient.ClientStats;
import dev.warmpath.RouterStatus.Decision;
import dev.warmpath.RouterStatus.Readiness;
import dev.warmpath.RouterStatus.WorkerStatus;
import dev.warmpath.health.PredictionCheck;
import dev.warmpath.health.WorkerView;
import dev.warmpath.health.WorkerView.RankView;
import dev.warmpath.index.KvStream;
import dev.warmpath.index.kv.KvEventStats;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.worker.Worker;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Writes a {@link RouterStatus} as JSON. */
final class StatusJson {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private StatusJson() {}

  static String of(RouterStatus status) {
    ObjectNode out = MAPPER.createObjectNode();
    out.put("policy", status.policy());
    out.putObject("pair_policies")
        .put("prefill", status.prefillPolicy())
        .put("decode", status.decodePolicy());
    out.putObject("configuration")
        .put("source", status.configuration())
        .put("hash", status.configurationHash());
    readiness(status.readiness(), out);
    stats(status.stats(), out);
    predictions(status.predictions(), out);
    ObjectNode breaker = out.putObject("breaker");
    ArrayNode workers = out.putArray("workers");
    for (WorkerStatus worker : status.workers()) {
      breaker.put(worker.view().worker().id().value(), worker.breaker());
      workers.add(worker(worker));
    }
    ArrayNode decisions = out.putArray("decisions");
    status.decisions().forEach(decision -> decisions.add(decision(decision)));
    return out.toString();
  }

  private static void readiness(Readiness readiness, ObjectNode out) {
    ObjectNode of = out.putObject("readiness");
    of.put("live", readiness.live());
    of.put("ready", readiness.ready());
    of.put("up", readiness.up());
    of.put("workers", readiness.workers());
    ObjectNode reasons = of.putObject("reasons");
    readiness.reasons().forEach(reasons::put);
  }

  private static void stats(ClientStats stats, ObjectNode out) {
    out.putObject("queue")
        .put("waiting", stats.waiting())
        .put("in_flight", stats.inFlight())
        .put("retries_left", stats.retriesLeft());
    ObjectNode pipeline = out.putObject("pipeline");
    pipeline.put("segment_bytes", stats.prompts().segmentBytes());
    number(pipeline, "segment_hit_rate", stats.prompts().segmentHitRate());
    pipeline.put("chain_bytes", stats.prompts().chainBytes());
    number(pipeline, "chain_hit_rate", stats.prompts().chainHitRate());
    out.put("pd_sessions", stats.pd().liveSessions());
    ObjectNode pairs = out.putObject("pairs");
    pairs.put("attempts", stats.pd().attempts());
    pairs.put("recomputes", stats.pd().recomputes());
    pairs.put("direct", stats.pd().direct());
    pairs.put("live_rooms", stats.pd().liveRooms());
    pairs.put("resting_rooms", stats.pd().restingRooms());
    ObjectNode ended = pairs.putObject("sessions");
    new TreeMap<>(stats.pd().sessions()).forEach(ended::put);
    ObjectNode failed = pairs.putObject("failures");
    new TreeMap<>(stats.pd().failures()).forEach(failed::put);
    out.putObject("index")
        .put("bytes", stats.index().bytes())
        .put("budget_bytes", stats.index().budgetBytes())
        .put("nodes", stats.index().nodes())
        .put("entries", stats.index().entries());
    out.putObject("block_index")
        .put("bytes", stats.blocks().bytes())
        .put("budget_bytes", stats.blocks().budgetBytes())
        .put("blocks", stats.blocks().blocks())
        .put("holdings", stats.blocks().holdings());
    out.putObject("branches")
        .put("bytes", stats.branches().bytes())
        .put("budget_bytes", stats.branches().budgetBytes())
        .put("nodes", stats.branches().nodes());
    out.putObject("lookups")
        .put("found", stats.lookups().found())
        .put("empty", stats.lookups().empty())
        .put("failed", stats.lookups().failed())
        .put("skipped", stats.lookups().skipped())
        .put("ignored_nodes", stats.lookups().ignoredNodes());
    events(stats.kvEvents(), out);
    out.putObject("answers")
        .put("waiting", stats.answers().waiting())
        .put("bytes", stats.answers().bytes())
        .put("budget_bytes", stats.answers().budgetBytes())
        .put("dropped", stats.answers().dropped());
  }

  private static void predictions(Map<String, PredictionCheck.Verdict> verdicts, ObjectNode out) {
    ObjectNode predictions = out.putObject("predictions");
    new TreeMap<>(verdicts)
        .forEach(
            (rank, verdict) ->
                predictions
                    .putObject(rank)
                    .put("suspect", verdict.suspect())
                    .put("cause", verdict.cause() == null ? null : verdict.cause().label())
                    .put("reason", verdict.reason())
                    .put("credit", verdict.credit())
                    .put("compared", verdict.compared())
                    .put("failed", verdict.failed())
                    .put("unpredicted", verdict.unpredicted())
                    .put("miscounted", verdict.miscounted())
                    .put("unreported", verdict.unreported()));
  }

  private static ObjectNode decision(Decision decision) {
    ObjectNode out = MAPPER.createObjectNode();
    out.put("request", decision.requestId());
    number(out, "age_ms", decision.age().toNanos() / 1e6);
    out.put("policy", decision.policy());
    out.put("topology", decision.topologyVersion());
    out.put("worker", decision.worker());
    out.put("rank", decision.rank());
    out.put("step", decision.step());
    out.put("prompt_tokens", decision.promptTokens());
    out.put("matched_tokens", decision.matchedTokens());
    out.put("cached_tokens", decision.cachedTokens());
    out.put("attempts", decision.attempts());
    out.put("outcome", decision.outcome());
    number(out, "elapsed_ms", decision.elapsed().toNanos() / 1e6);
    return out;
  }

  private static void events(KvEventStats stats, ObjectNode out) {
    ObjectNode events = out.putObject("kv_events");
    events.put("bytes", stats.bytes());
    events.put("budget_bytes", stats.budgetBytes());
    ObjectNode ranks = events.putObject("ranks");
    for (KvEventStats.Rank rank : stats.ranks()) {
      KvStream.Stats stream = rank.stream();
      ranks
          .putObject(rank.rank())
          .put("endpoint", rank.endpoint())
          .put("connected", rank.connected())
          .put("complete", stream.complete())
          .put("blocks", stream.rank().blocks())
          .put("batches", stream.batches())
          .put("events", stream.events())
          .put("gaps", stream.gaps())
          .put("replays", stream.replays())
          .put("losses", stream.losses())
          .put("restarts", stream.restarts())
          .put("duplicates", stream.duplicates())
          .put("unplaced", stream.rank().unplaced())
          .put("malformed", rank.malformed())
          .put("last_epoch_seconds", stream.lastEpochSeconds())
          .put("lag_seconds", known(stream.lagSeconds()))
          .put("events_per_second", stream.eventsPerSecond());
    }
  }

  private static ObjectNode worker(WorkerStatus status) {
    WorkerView view = status.view();
    Worker worker = view.worker();
    ObjectNode out = MAPPER.createObjectNode();
    out.put("worker", worker.id().value());
    out.put("epoch", worker.epoch());
    out.put("engine", worker.engine().label());
    out.put("version", worker.capabilities().version());
    out.put("role", worker.role().label());
    ArrayNode models = out.putArray("models");
    worker.models().forEach(model -> models.add(model.id()));
    out.put("dp_size", worker.ranks().size());
    out.put("block_size", worker.blockSize());
    out.put("kv_capacity_tokens", worker.kvCapacityTokens());
    out.put("max_running_requests", worker.capabilities().maxRunningRequests());
    out.put("cache_report", worker.capabilities().cacheReport());
    out.put("state", worker.state().label());
    out.put("health", view.availability().label());
    out.put("detail", view.detail());
    out.put("breaker", status.breaker());
    ArrayNode ranks = out.putArray("ranks");
    for (RankView rank : view.ranks()) {
      ranks.add(rank(rank));
    }
    return out;
  }

  private static ObjectNode rank(RankView view) {
    ObjectNode out = MAPPER.createObjectNode();
    if (view.rank().rank().isPresent()) {
      out.put("rank", view.rank().rank().getAsInt());
    } else {
      out.putNull("rank");
    }
    out.put("health", view.availability().label());
    ArrayNode degraded = out.putArray("degraded");
    view.degradation().modes().forEach(mode -> degraded.add(mode.label()));
    number(out, "share", view.degradation().share());
    number(out, "affinity_share", view.degradation().affinityShare());
    out.put("in_flight", view.inFlight());
    out.put("prefill_tokens", view.prefillTokens());
    number(out, "latency_ms", view.latencyMillis());
    RankLoad load = view.load();
    ObjectNode of = out.putObject("load");
    number(of, "running", load == null ? Double.NaN : load.runningRequests());
    number(of, "waiting", load == null ? Double.NaN : load.waitingRequests());
    number(of, "used_tokens", load == null ? Double.NaN : load.usedTokens());
    number(of, "token_usage", load == null ? Double.NaN : load.tokenUsage());
    number(of, "cache_hit_rate", load == null ? Double.NaN : load.cacheHitRate());
    number(of, "gen_tokens_per_s", load == null ? Double.NaN : load.generationTokensPerSecond());
    out.put("load_source", view.loadSource());
    Duration age = view.loadAge();
    number(out, "load_age_ms", age == null ? Double.NaN : age.toNanos() / 1e6);
    out.put("stale", view.stale());
    return out;
  }

  private static @Nullable Double known(double value) {
    return Double.isNaN(value) ? null : value;
  }

  /** Puts a number, or null where it is not known. */
  private static void number(ObjectNode node, String name, double value) {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      node.putNull(name);
    } else if (value == Math.rint(value) && Math.abs(value) < 1e15) {
      node.put(name, (long) value);
    } else {
      node.put(name, value);
    }
  }
}
