package dev.warmpath.okhttp.internal;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.okhttp.internal.HttpReader.Answer;
import dev.warmpath.okhttp.internal.HttpReader.Budget;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads a worker's load from the best source it offers: SGLang {@code /v1/loads}, else {@code
 * /get_load}, else {@code /metrics}; vLLM, ATOM and unknown engines {@code /metrics}. Remembers
 * which source an incarnation offers, and its last counters, from whose growth rates are worked
 * out. Missing figures stay NaN.
 */
final class LoadReader {
  /**
   * Incarnations remembered; beyond it all are forgotten, which costs each worker one wasted
   * request.
   */
  private static final int MAX_REMEMBERED = 16_384;

  private static final LoadReport SWITCHED_OFF =
      new LoadReport(List.of(), "none", null, Double.NaN);

  private enum Source {
    V1_LOADS,
    GET_LOAD,
    METRICS
  }

  private final HttpReader http;
  private final ConcurrentHashMap<Long, Source> sources = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Long, Counters> counters = new ConcurrentHashMap<>();

  LoadReader(HttpReader http) {
    this.http = http;
  }

  LoadReport read(Worker worker, Budget budget) throws TransportException {
    Source from =
        sources.getOrDefault(
            worker.epoch(),
            worker.engine() == EngineKind.SGLANG ? Source.V1_LOADS : Source.METRICS);
    if (from == Source.V1_LOADS) {
      Answer answer = http.get(worker, "/v1/loads?include=core", budget);
      if (answer.status() != 404) {
        return new LoadReport(v1Loads(json(answer, "/v1/loads")), "/v1/loads", null, Double.NaN);
      }
      from = Source.GET_LOAD;
      remember(worker, from);
    }
    if (from == Source.GET_LOAD) {
      Answer answer = http.get(worker, "/get_load", budget);
      if (answer.status() != 404) {
        return new LoadReport(getLoad(json(answer, "/get_load")), "/get_load", null, Double.NaN);
      }
      from = Source.METRICS;
      remember(worker, from);
    }
    Answer answer = http.get(worker, "/metrics", budget);
    if (answer.status() == 404) {
      return SWITCHED_OFF;
    }
    if (!answer.ok()) {
      throw notUnderstood("/metrics answers " + answer.status());
    }
    return metrics(worker, new MetricsPage(answer.body()));
  }

  private void remember(Worker worker, Source source) {
    if (sources.size() >= MAX_REMEMBERED) {
      sources.clear();
    }
    sources.put(worker.epoch(), source);
  }

  private static JsonNode json(Answer answer, String path) throws TransportException {
    JsonNode json = answer.ok() ? answer.json() : null;
    if (json == null) {
      throw notUnderstood(
          path + " answers " + answer.status() + (answer.ok() ? " without JSON" : ""));
    }
    return json;
  }

  private static TransportException notUnderstood(String message) {
    return new TransportException(Kind.PROTOCOL, FailurePhase.STATUS, 0, message, null);
  }

  /**
   * Both shapes of {@code /v1/loads}: with {@code aggregate} until v0.5.12, without since.
   * Aggregates are ours to make.
   */
  private static List<RankLoad> v1Loads(JsonNode json) throws TransportException {
    List<RankLoad> ranks = new ArrayList<>();
    JsonNode loads = json.path("loads");
    if (!loads.isArray()) {
      throw notUnderstood("/v1/loads lists no loads");
    }
    for (JsonNode load : loads) {
      ranks.add(
          new RankLoad(
              rank(load, loads.size()),
              number(load, "num_running_reqs"),
              number(load, "num_waiting_reqs"),
              number(load, "num_used_tokens"),
              number(load, "token_usage"),
              number(load, "max_total_num_tokens"),
              number(load, "max_running_requests"),
              number(load, "cache_hit_rate"),
              number(load, "gen_throughput"),
              number(load, "num_waiting_uncached_tokens")));
    }
    return ranks;
  }

  /**
   * {@code num_reqs} counts running and waiting requests; {@code num_tokens} queued tokens too, so
   * it is no usage.
   */
  private static List<RankLoad> getLoad(JsonNode json) throws TransportException {
    List<RankLoad> ranks = new ArrayList<>();
    if (!json.isArray()) {
      throw notUnderstood("/get_load lists no loads");
    }
    for (JsonNode load : json) {
      double waiting = number(load, "num_waiting_reqs");
      ranks.add(
          new RankLoad(
              rank(load, json.size()),
              number(load, "num_reqs") - waiting,
              waiting,
              Double.NaN,
              Double.NaN,
              Double.NaN,
              Double.NaN,
              Double.NaN,
              Double.NaN,
              number(load, "num_pending_tokens")));
    }
    return ranks;
  }

  private static int rank(JsonNode load, int ranks) {
    JsonNode rank = load.get("dp_rank");
    return ranks > 1 && rank != null && rank.canConvertToInt() ? rank.asInt() : -1;
  }

  private static double number(JsonNode node, String field) {
    JsonNode value = node.get(field);
    return value != null && value.isNumber() ? value.asDouble() : Double.NaN;
  }

  private LoadReport metrics(Worker worker, MetricsPage page) {
    Set<Integer> labelled = page.ranks();
    List<Integer> ranks = labelled.size() > 1 ? List.copyOf(labelled) : List.of(-1);
    if (page.sum(-1, "atom:metrics_snapshot_available") == 0) {
      // ATOM exports zeros until its engine has reported for the first time
      return new LoadReport(List.of(), "/metrics", page.startTime(), Double.NaN);
    }
    long now = System.nanoTime();
    Counters before = counters.get(worker.epoch());
    Counters after = new Counters(now);
    List<RankLoad> loads = new ArrayList<>();
    for (int rank : ranks) {
      RankLoad load = rankLoad(worker, page, rank, before, after);
      if (load != null) {
        loads.add(load);
      }
    }
    if (counters.size() >= MAX_REMEMBERED) {
      counters.clear();
    }
    counters.put(worker.epoch(), after);
    return new LoadReport(loads, "/metrics", page.startTime(), after.total());
  }

  /**
   * A rank's load, or null where the page holds no gauges: statistics switched off mean unknown,
   * never idle.
   */
  private static @Nullable RankLoad rankLoad(
      Worker worker, MetricsPage page, int rank, @Nullable Counters before, Counters after) {
    double running =
        page.sum(
            rank,
            "vllm:num_requests_running",
            "sglang:num_running_reqs",
            "sglang_num_running_reqs",
            "atom:requests_running");
    double waiting =
        page.sum(
            rank,
            "vllm:num_requests_waiting",
            "vllm:num_requests_waiting_by_reason",
            "sglang:num_queue_reqs",
            "sglang_num_queue_reqs",
            "atom:requests_waiting");
    double usage =
        page.mean(
            rank,
            "vllm:kv_cache_usage_perc",
            "vllm:gpu_cache_usage_perc",
            "sglang:token_usage",
            "sglang_token_usage",
            "sglang:full_token_usage",
            "atom:kv_cache_usage_ratio");
    if (Double.isNaN(running) && Double.isNaN(waiting) && Double.isNaN(usage)) {
      return null;
    }
    double capacity = page.sum(rank, "sglang:max_total_num_tokens", "sglang_max_total_num_tokens");
    Long known = worker.kvCapacityTokens();
    if (Double.isNaN(capacity) && known != null) {
      capacity = known;
    }
    double used = page.sum(rank, "sglang:num_used_tokens", "sglang_num_used_tokens");
    if (Double.isNaN(used)) {
      used = usage * capacity;
    }
    double generated =
        page.sum(
            rank,
            "vllm:generation_tokens_total",
            "sglang:generation_tokens_total",
            "sglang_generation_tokens_total",
            "atom:generation_tokens_total",
            "atom:generation_tokens");
    double prompted =
        page.sum(
            rank,
            "vllm:prompt_tokens_total",
            "sglang:prompt_tokens_total",
            "sglang_prompt_tokens_total",
            "atom:prompt_tokens_total",
            "atom:prompt_tokens");
    double hits =
        page.sum(
            rank,
            "vllm:prefix_cache_hits_total",
            "vllm:gpu_prefix_cache_hits_total",
            "atom:prefix_cache_cached_tokens_total",
            "atom:prefix_cache_cached_tokens");
    double queries =
        page.sum(
            rank,
            "vllm:prefix_cache_queries_total",
            "vllm:gpu_prefix_cache_queries_total",
            "atom:prefix_cache_full_tokens_total",
            "atom:prefix_cache_full_tokens");
    after.put(rank, new Counters.Values(generated, prompted, hits, queries));
    double hitRate =
        page.mean(
            rank,
            "sglang:cache_hit_rate",
            "sglang_cache_hit_rate",
            "vllm:gpu_prefix_cache_hit_rate",
            "atom:prefix_cache_hit_ratio");
    double throughput = page.sum(rank, "sglang:gen_throughput", "sglang_gen_throughput");
    if (before != null) {
      hitRate = Double.isNaN(hitRate) ? after.hitRateSince(before, rank) : hitRate;
      throughput = Double.isNaN(throughput) ? after.throughputSince(before, rank) : throughput;
    }
    return new RankLoad(
        rank, running, waiting, used, usage, capacity, Double.NaN, hitRate, throughput, Double.NaN);
  }
}
