package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.fault.Faults;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.internal.http.HttpExchange;
import dev.warmpath.fake.internal.http.HttpRequest;
import dev.warmpath.fake.kv.KvEventEndpoint;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.PauseMode;
import dev.warmpath.fake.wire.MetricNames;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's OpenAI server ({@code vllm/entrypoints/openai}, {@code vllm/entrypoints/serve}), and what
 * its gRPC servers have in common with it.
 */
public final class VllmSurface extends EngineSurface {
  private static final List<String> GUARDED = List.of("/v1", "/v2", "/inference", "/cohere");

  VllmSurface(Life life, Faults faults, EngineControl control) {
    super(life, faults, control);
    post("/v1/chat/completions", Scope.GENERATE, this::chat);
    post("/v1/completions", Scope.GENERATE, this::completions);
    post("/v1/embeddings", Scope.GENERATE, this::embeddings);
    post("/v1/responses", Scope.GENERATE, this::responses);
    for (String path : List.of("/health", "/ping")) {
      get(path, Scope.HEALTH, (exchange, fault) -> empty(exchange, 200));
      post(path, Scope.HEALTH, (exchange, fault) -> empty(exchange, 200));
    }
    get("/v1/models", Scope.INFO, (exchange, fault) -> json(exchange, modelList()));
    get(
        "/version",
        Scope.INFO,
        (exchange, fault) -> json(exchange, Json.object().put("version", settings.version())));
    post("/tokenize", Scope.INFO, (exchange, fault) -> tokenize(exchange));
    post("/detokenize", Scope.INFO, (exchange, fault) -> detokenize(exchange, "prompt"));
    get(
        "/load",
        Scope.LOAD,
        (exchange, fault) -> json(exchange, Json.object().put("server_load", 0)));
    get("/metrics", Scope.LOAD, (exchange, fault) -> metrics(exchange, prometheus()));
    for (String profile : List.of("/start_profile", "/stop_profile")) {
      post(profile, Scope.ADMIN, (exchange, fault) -> empty(exchange, 200));
    }
    if (settings.devMode()) {
      devRoutes();
    }
  }

  private void devRoutes() {
    get("/server_info", Scope.INFO, (exchange, fault) -> json(exchange, serverInfo()));
    post("/reset_prefix_cache", Scope.ADMIN, (exchange, fault) -> resetPrefixCache(exchange));
    for (String path : List.of("/reset_mm_cache", "/reset_encoder_cache")) {
      post(path, Scope.ADMIN, (exchange, fault) -> empty(exchange, 200));
    }
    post("/sleep", Scope.ADMIN, (exchange, fault) -> sleep(exchange));
    post("/wake_up", Scope.ADMIN, (exchange, fault) -> wakeUp(exchange));
    get(
        "/is_sleeping",
        Scope.ADMIN,
        (exchange, fault) -> json(exchange, Json.object().put("is_sleeping", life.sleeping())));
    post("/pause", Scope.ADMIN, (exchange, fault) -> pause(exchange));
    post("/resume", Scope.ADMIN, (exchange, fault) -> resume(exchange));
    get(
        "/is_paused",
        Scope.ADMIN,
        (exchange, fault) -> json(exchange, Json.object().put("is_paused", life.paused())));
    post("/abort_requests", Scope.ADMIN, (exchange, fault) -> abortRequests(exchange));
  }

  @Override
  @Nullable ApiError authorize(HttpRequest request, @Nullable Route route) {
    String key = settings.apiKey();
    boolean guarded = GUARDED.stream().anyMatch(request.path()::startsWith);
    if (key == null || !guarded || bearer(request, key)) {
      return null;
    }
    return new ApiError(401, Json.object().put("error", "Unauthorized"));
  }

  @Override
  ApiError error(int status, String message) {
    return new ApiError(status, errorBody(status, message, null));
  }

  private static ObjectNode errorBody(int status, String message, @Nullable String param) {
    ObjectNode body = Json.object();
    String type =
        switch (status) {
          case 400 -> "BadRequestError";
          case 404 -> "NotFoundError";
          case 429 -> "RateLimitError";
          case 503 -> "ServiceUnavailableError";
          default -> status < 500 ? "BadRequestError" : "InternalServerError";
        };
    body.putObject("error")
        .put("message", message)
        .put("type", type)
        .put("param", param)
        .put("code", status);
    return body;
  }

  @Override
  String streamError(int status, String message) {
    return Json.string(errorBody(status, message, null));
  }

  @Override
  boolean sendsHeadersEarly() {
    return true;
  }

  /** A header that is no integer is ignored. */
  @Override
  @Nullable Integer requestedRank(HttpRequest request, JsonNode body) {
    return integer(request.header("x-data-parallel-rank"));
  }

  @Override
  String resolveModel(JsonNode body) {
    JsonNode model = body.path("model");
    if (!model.isTextual()) {
      return settings.servedModel();
    }
    String name = model.asText();
    if (settings.servedModels().contains(name) || settings.loraAdapters().contains(name)) {
      return name;
    }
    throw new ApiError(404, errorBody(404, "The model `" + name + "` does not exist.", "model"));
  }

  @Override
  String resolveLora(JsonNode body) {
    String model = body.path("model").asText("");
    return settings.loraAdapters().contains(model) ? model : "";
  }

  @Override
  Ids ids(HttpRequest request, JsonNode body, Endpoint endpoint, int items) {
    String base = request.header("x-request-id");
    if (base == null) {
      base = body.path("request_id").asText("");
    }
    if (base.isEmpty()) {
      base = life.randomHex();
    }
    return switch (endpoint) {
      case CHAT -> ids("chatcmpl-" + base, items);
      case RESPONSES -> ids("resp_" + base, items);
      case EMBEDDINGS -> ids("embd-" + base, items);
      case GENERATE -> ids(base, items);
      case COMPLETIONS -> {
        String id = "cmpl-" + base;
        List<String> numbered = items == 1 ? List.of(id + "-0") : numbered(id, "-", items);
        yield new Ids(id, numbered);
      }
    };
  }

  private static Ids ids(String id, int items) {
    return new Ids(id, numbered(id, "_", items));
  }

  private ObjectNode serverInfo() {
    ObjectNode info = Json.object();
    ObjectNode config = info.putObject("vllm_config");
    config
        .putObject("model_config")
        .put("model", settings.model())
        .put("max_model_len", settings.core().maxModelLen());
    config
        .putObject("cache_config")
        .put("block_size", settings.core().blockSize())
        .put("num_gpu_blocks", settings.core().numBlocks())
        .put("enable_prefix_caching", settings.core().prefixCaching())
        .put("prefix_caching_hash_algo", hashAlgorithm());
    kvEvents(config);
    config.putObject("parallel_config").put("data_parallel_size", settings.dpSize());
    config
        .putObject("scheduler_config")
        .put("max_num_seqs", settings.core().maxNumSeqs())
        .put("max_num_batched_tokens", settings.core().maxNumBatchedTokens());
    info.putObject("vllm_env");
    info.putObject("system_env");
    return info;
  }

  /** The algorithm of the published hashes, by vLLM's name; its default where none are. */
  private String hashAlgorithm() {
    KvEventSettings events = settings.kvEvents();
    String scheme = events == null ? null : events.scheme();
    return scheme == null || !scheme.startsWith("vllm-")
        ? "sha256"
        : scheme.substring("vllm-".length()).replace('-', '_');
  }

  private void kvEvents(ObjectNode config) {
    KvEventEndpoint endpoint = life.kvEndpoint();
    if (endpoint == null) {
      config.putNull("kv_events_config");
      return;
    }
    ObjectNode events =
        config
            .putObject("kv_events_config")
            .put("enable_kv_cache_events", true)
            .put("publisher", "zmq")
            .put("endpoint", "tcp://*:" + endpoint.port())
            .put("topic", endpoint.topic());
    if (endpoint.replayPort().isPresent()) {
      events.put("replay_endpoint", "tcp://*:" + endpoint.replayPort().getAsInt());
    } else {
      events.putNull("replay_endpoint");
    }
  }

  /** Answers 200 whether or not the cache was in use. */
  private void resetPrefixCache(HttpExchange exchange) {
    boolean running = "true".equals(exchange.request().query().get("reset_running_requests"));
    CompletableFuture<?> reset =
        running
            ? life.applyToAll(new EngineCommand.Pause(PauseMode.RETRACT))
                .thenCompose(ignored -> life.flush())
                .thenCompose(ignored -> life.applyToAll(new EngineCommand.Resume()))
            : life.flush();
    whenDone(exchange, reset, done -> empty(exchange, 200));
  }

  private void sleep(HttpExchange exchange) {
    life.sleeping(true);
    CompletableFuture<Boolean> asleep =
        life.applyToAll(new EngineCommand.Pause(pauseMode(exchange, "abort")))
            .thenCompose(ignored -> life.flush());
    whenDone(exchange, asleep, done -> empty(exchange, 200));
  }

  private void wakeUp(HttpExchange exchange) {
    life.sleeping(false);
    whenDone(exchange, life.applyToAll(new EngineCommand.Resume()), done -> empty(exchange, 200));
  }

  private PauseMode pauseMode(HttpExchange exchange, String otherwise) {
    return switch (exchange.request().query().getOrDefault("mode", otherwise)) {
      case "abort" -> PauseMode.ABORT;
      case "wait" -> PauseMode.DRAIN;
      case "keep" -> PauseMode.IN_PLACE;
      default ->
          throw new ApiError(400, Json.object().put("error", "mode must be abort, wait or keep"));
    };
  }

  private void pause(HttpExchange exchange) {
    PauseMode mode = pauseMode(exchange, "abort");
    boolean clear = !"false".equals(exchange.request().query().get("clear_cache"));
    CompletableFuture<?> paused = life.applyToAll(new EngineCommand.Pause(mode));
    if (clear && mode == PauseMode.ABORT) {
      paused = paused.thenCompose(ignored -> life.flush());
    }
    whenDone(exchange, paused, done -> json(exchange, Json.object().put("status", "paused")));
  }

  private void resume(HttpExchange exchange) {
    whenDone(
        exchange,
        life.applyToAll(new EngineCommand.Resume()),
        done -> json(exchange, Json.object().put("status", "resumed")));
  }

  private void abortRequests(HttpExchange exchange) {
    Set<String> ids = new HashSet<>();
    body(exchange).path("request_ids").forEach(id -> ids.add(id.asText()));
    int count = abort(id -> ids.isEmpty() || ids.contains(id));
    json(exchange, Json.object().put("status", "aborted").put("aborted", count));
  }

  private String prometheus() {
    Prometheus text = new Prometheus();
    text.gauge("process_start_time_seconds", "", life.startedAt().toEpochMilli() / 1e3);
    if (settings.metricNames() == MetricNames.ABSENT) {
      return text.toString();
    }
    boolean v0 = settings.metricNames() == MetricNames.ALTERNATE;
    List<RankSnapshot> snapshots = life.snapshots();
    for (int rank = 0; rank < snapshots.size(); rank++) {
      CoreMetrics metrics = snapshots.get(rank).metrics();
      String labels = Prometheus.labels("model_name", settings.servedModel(), "engine", rank);
      text.gauge("vllm:num_requests_running", labels, metrics.running());
      text.gauge("vllm:num_requests_waiting", labels, metrics.waiting());
      if (v0) {
        text.gauge("vllm:gpu_cache_usage_perc", labels, metrics.usage());
        text.gauge(
            "vllm:gpu_prefix_cache_hit_rate",
            labels,
            metrics.promptTokens() == 0
                ? 0
                : (double) metrics.cachedTokens() / metrics.promptTokens());
        text.gauge(
            "vllm:avg_generation_throughput_toks_per_s",
            labels,
            snapshots.get(rank).tokensPerSecond());
      } else {
        text.gauge("vllm:kv_cache_usage_perc", labels, metrics.usage());
        text.counter("vllm:prefix_cache_queries_total", labels, metrics.promptTokens());
        text.counter("vllm:prefix_cache_hits_total", labels, metrics.cachedTokens());
        text.counter("vllm:prompt_tokens_cached_total", labels, metrics.cachedTokens());
      }
      text.counter("vllm:prompt_tokens_total", labels, metrics.promptTokens());
      text.counter("vllm:generation_tokens_total", labels, metrics.generatedTokens());
      text.counter("vllm:num_preemptions_total", labels, metrics.preemptions());
      text.gauge("vllm:cache_config_info", cacheConfig(rank), 1);
      life.latencies(rank).write(text, "vllm:", labels, v0);
    }
    return text.toString();
  }

  private String cacheConfig(int rank) {
    return Prometheus.labels(
        "block_size",
        settings.core().blockSize(),
        "cache_dtype",
        "auto",
        "enable_prefix_caching",
        "True",
        "engine",
        rank,
        "kv_cache_size_tokens",
        settings.totalTokens(),
        "num_gpu_blocks",
        settings.core().numBlocks(),
        "sliding_window",
        "None");
  }
}
