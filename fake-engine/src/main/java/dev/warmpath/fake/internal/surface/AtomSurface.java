package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.fault.Faults;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.internal.http.HttpRequest;
import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.wire.MetricNames;
import dev.warmpath.worker.WorkerRole;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** ROCm ATOM's own OpenAI server ({@code atom/entrypoints/openai/api_server.py}). */
final class AtomSurface extends EngineSurface {
  private volatile String metricsText;

  AtomSurface(Life life, Faults faults, EngineControl control) {
    super(life, faults, control);
    post("/v1/chat/completions", Scope.GENERATE, this::chat);
    post("/v1/completions", Scope.GENERATE, this::completions);
    get("/v1/models", Scope.INFO, (exchange, fault) -> json(exchange, modelList()));
    get(
        "/health",
        Scope.HEALTH,
        (exchange, fault) -> json(exchange, Json.object().put("status", "ok")));
    get("/server_info", Scope.INFO, (exchange, fault) -> json(exchange, serverInfo()));
    get("/kv_transfer_info", Scope.INFO, (exchange, fault) -> json(exchange, kvTransferInfo()));
    get("/metrics", Scope.LOAD, (exchange, fault) -> metrics(exchange, metricsText));
    for (String profile : List.of("/start_profile", "/stop_profile")) {
      post(
          profile,
          Scope.ADMIN,
          (exchange, fault) -> json(exchange, Json.object().put("status", "success")));
    }
    metricsText = renderMetrics();
    scheduleRefresh();
  }

  private void scheduleRefresh() {
    control.schedule(
        settings.metricsRefresh(),
        () -> {
          if (!life.closed()) {
            metricsText = renderMetrics();
            scheduleRefresh();
          }
        });
  }

  @Override
  @Nullable ApiError authorize(HttpRequest request, @Nullable Route route) {
    return null;
  }

  @Override
  ApiError error(int status, String message) {
    if (status < 500) {
      return new ApiError(status, Json.object().put("detail", message));
    }
    ObjectNode body = Json.object();
    body.putObject("error")
        .put("message", message)
        .put("type", "internal_server_error")
        .put("code", status);
    return new ApiError(status, body);
  }

  @Override
  ApiError malformedJson() {
    ObjectNode body = Json.object();
    ObjectNode detail = body.putArray("detail").addObject();
    detail.put("type", "json_invalid").put("msg", "JSON decode error");
    detail.putArray("loc").add("body").add(0);
    return new ApiError(422, body);
  }

  @Override
  @Nullable String streamError(int status, String message) {
    return null;
  }

  @Override
  boolean sendsHeadersEarly() {
    return true;
  }

  @Override
  @Nullable Integer requestedRank(HttpRequest request, JsonNode body) {
    return integer(body.path("data_parallel_rank"));
  }

  @Override
  String resolveModel(JsonNode body) {
    JsonNode model = body.path("model");
    if (model.isTextual() && !settings.servedModels().contains(model.asText())) {
      throw error(
          400,
          "Requested model '"
              + model.asText()
              + "' does not match the server model '"
              + settings.servedModel()
              + "'");
    }
    return settings.servedModel();
  }

  @Override
  String resolveLora(JsonNode body) {
    return "";
  }

  @Override
  Ids ids(HttpRequest request, JsonNode body, Endpoint endpoint, int items) {
    String id = (endpoint == Endpoint.CHAT ? "chatcmpl-" : "cmpl-") + life.randomHex();
    return new Ids(id, numbered(id, "-", items));
  }

  /** Several answers by greedy sampling would be the same, so one is given. */
  @Override
  int n(JsonNode body) {
    int n = Math.max(1, super.n(body));
    return body.path("temperature").asDouble(1) <= 0 ? 1 : n;
  }

  @Override
  int defaultCompletionTokens() {
    return -1;
  }

  @Override
  List<int[]> prompts(JsonNode of, String field) {
    if (!of.path(field).isTextual()) {
      ObjectNode body = Json.object();
      ObjectNode detail = body.putArray("detail").addObject();
      detail.put("type", "string_type").put("msg", "Input should be a valid string");
      detail.putArray("loc").add("body").add(field);
      throw new ApiError(422, body);
    }
    return super.prompts(of, field);
  }

  @Override
  ObjectNode modelCard(String name, @Nullable String parent) {
    return Json.object()
        .put("id", name)
        .put("object", "model")
        .put("created", life.startedAt().getEpochSecond())
        .put("owned_by", settings.kind().label());
  }

  private ObjectNode serverInfo() {
    return Json.object()
        .put("model_id", settings.model())
        .put("served_model_name", settings.servedModel())
        .put("tp_size", 1)
        .put("dp_size", settings.dpSize());
  }

  private ObjectNode kvTransferInfo() {
    ObjectNode info = Json.object().put("tp_size", 1).put("dp_size", settings.dpSize());
    if (settings.role() == WorkerRole.REGULAR) {
      info.putNull("kv_role");
    } else {
      info.put("kv_role", settings.role() == WorkerRole.PREFILL ? "kv_producer" : "kv_consumer");
    }
    return info.put("handshake_port", life.sidePort() == 0 ? 6301 : life.sidePort());
  }

  /** Summed over the ranks, without labels, as old as the last refresh. */
  private String renderMetrics() {
    Prometheus text = new Prometheus();
    boolean present = settings.metricNames() != MetricNames.ABSENT;
    text.gauge("atom:metrics_snapshot_available", "", present ? 1 : 0);
    text.counter("atom:metrics_refresh_errors_total", "", 0);
    text.gauge(
        "atom:metrics_last_refresh_timestamp_seconds",
        "",
        present ? life.epochSecondsExactly() : 0);
    if (!present) {
      return text.toString();
    }
    long running = 0;
    long waiting = 0;
    long used = 0;
    long cached = 0;
    long total = 0;
    long preemptions = 0;
    long prompt = 0;
    long hits = 0;
    long generated = 0;
    for (RankSnapshot snapshot : life.snapshots()) {
      CoreMetrics metrics = snapshot.metrics();
      running += metrics.running();
      waiting += metrics.waiting();
      used += metrics.activeBlocks();
      cached += metrics.cachedBlocks();
      total += metrics.totalBlocks();
      preemptions += metrics.preemptions();
      prompt += metrics.promptTokens();
      hits += metrics.cachedTokens();
      generated += metrics.generatedTokens();
    }
    text.gauge("atom:requests_running", "", running);
    text.gauge("atom:requests_waiting", "", waiting);
    text.gauge("atom:requests_parked_kv_load", "", 0);
    text.gauge("atom:requests_partial_prefill", "", 0);
    text.gauge("atom:kv_cache_blocks_used", "", used);
    text.gauge("atom:kv_cache_blocks_free", "", total - used);
    text.gauge("atom:kv_cache_blocks_total", "", total);
    text.gauge("atom:kv_cache_blocks_indexed", "", used + cached);
    text.gauge("atom:kv_cache_usage_ratio", "", total == 0 ? 0 : (double) used / total);
    text.counter("atom:requests_finished_total", "", life.counts().served());
    text.counter("atom:prompt_tokens_total", "", prompt);
    text.counter("atom:generation_tokens_total", "", generated);
    text.counter("atom:preemptions_total", "", preemptions);
    text.counter("atom:prefix_cache_requests_total", "", life.counts().received());
    text.counter("atom:prefix_cache_cached_tokens_total", "", hits);
    text.counter("atom:prefix_cache_full_tokens_total", "", prompt);
    text.gauge("atom:prefix_cache_hit_ratio", "", prompt == 0 ? 0 : (double) hits / prompt);
    text.gauge("process_start_time_seconds", "", life.startedAt().toEpochMilli() / 1e3);
    return text.toString();
  }
}
