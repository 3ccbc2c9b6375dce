package dev.warmpath.fake.internal.surface;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Faults;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.internal.http.HttpExchange;
import dev.warmpath.fake.internal.http.HttpRequest;
import dev.warmpath.fake.kv.KvEventEndpoint;
import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.PauseMode;
import dev.warmpath.fake.scheduler.SglangOptions;
import dev.warmpath.fake.wire.CacheReport;
import dev.warmpath.fake.wire.LoadsShape;
import dev.warmpath.fake.wire.MetricNames;
import dev.warmpath.worker.WorkerRole;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's HTTP server ({@code srt/entrypoints/http_server.py}, {@code v1_loads.py}), and what its
 * gRPC servers have in common with it.
 */
public final class SglangSurface extends EngineSurface {
  private static final Set<String> LOAD_SECTIONS =
      Set.of("core", "memory", "spec", "lora", "disagg", "queues", "all");

  /** How many health latencies pass before a probe without output fails (20 s to 1 s). */
  private static final int HEALTH_TIMEOUT_FACTOR = 20;

  SglangSurface(Life life, Faults faults, EngineControl control) {
    super(life, faults, control);
    inferenceRoutes();
    get("/health", Scope.HEALTH, (exchange, fault) -> health(exchange));
    get("/health_generate", Scope.HEALTH, (exchange, fault) -> health(exchange));
    get("/", Scope.INFO, (exchange, fault) -> plain(exchange, 200, "SGLang is running\n"));
    get("/ping", Scope.HEALTH, (exchange, fault) -> empty(exchange, 200));
    get("/v1/models", Scope.INFO, (exchange, fault) -> json(exchange, modelList()));
    for (String path : List.of("/server_info", "/get_server_info")) {
      get(path, Scope.INFO, (exchange, fault) -> json(exchange, serverInfo()));
    }
    for (String path : List.of("/model_info", "/get_model_info")) {
      get(path, Scope.INFO, (exchange, fault) -> json(exchange, modelInfo()));
    }
    for (String path : List.of("/tokenize", "/v1/tokenize")) {
      post(path, Scope.INFO, (exchange, fault) -> tokenize(exchange));
    }
    for (String path : List.of("/detokenize", "/v1/detokenize")) {
      post(path, Scope.INFO, (exchange, fault) -> detokenize(exchange, "text"));
    }
    loadRoutes();
    adminRoutes();
  }

  private void inferenceRoutes() {
    post("/v1/chat/completions", Scope.GENERATE, this::chat);
    post("/v1/completions", Scope.GENERATE, this::completions);
    post("/v1/embeddings", Scope.GENERATE, this::embeddings);
    post("/v1/responses", Scope.GENERATE, this::responses);
    post("/generate", Scope.GENERATE, this::generate);
  }

  private void loadRoutes() {
    if (settings.loadsShape() != LoadsShape.ABSENT) {
      get("/v1/loads", Scope.LOAD, (exchange, fault) -> loads(exchange));
    }
    get("/get_load", Scope.LOAD, (exchange, fault) -> json(exchange, legacyLoad(null)));
    if (settings.metricNames() != MetricNames.ABSENT) {
      get("/metrics", Scope.LOAD, (exchange, fault) -> metrics(exchange, prometheus()));
    }
  }

  private void adminRoutes() {
    get("/flush_cache", Scope.ADMIN, (exchange, fault) -> flush(exchange));
    post("/flush_cache", Scope.ADMIN, (exchange, fault) -> flush(exchange));
    post("/abort_request", Scope.ADMIN, (exchange, fault) -> abortRequest(exchange));
    post("/pause_generation", Scope.ADMIN, (exchange, fault) -> pause(exchange));
    post("/continue_generation", Scope.ADMIN, (exchange, fault) -> resume(exchange));
    for (String path : List.of("/release_memory_occupation", "/resume_memory_occupation")) {
      get(path, Scope.ADMIN, (exchange, fault) -> empty(exchange, 200));
      post(path, Scope.ADMIN, (exchange, fault) -> empty(exchange, 200));
    }
    post("/hicache/storage-backend/clear", Scope.ADMIN, (exchange, fault) -> clearL3(exchange));
    get("/clear_hicache_storage_backend", Scope.ADMIN, (exchange, fault) -> clearL3(exchange));
    post("/clear_hicache_storage_backend", Scope.ADMIN, (exchange, fault) -> clearL3(exchange));
    profileRoute("/start_profile", "Start profiling.\n");
    profileRoute("/stop_profile", "Stop profiling. This will take some time.\n");
  }

  private void profileRoute(String path, String text) {
    get(path, Scope.ADMIN, (exchange, fault) -> plain(exchange, 200, text));
    post(path, Scope.ADMIN, (exchange, fault) -> plain(exchange, 200, text));
  }

  private static void clearL3(HttpExchange exchange) {
    plain(exchange, 200, "Hierarchical cache storage backend cleared.\n");
  }

  @Override
  @Nullable ApiError authorize(HttpRequest request, @Nullable Route route) {
    String path = request.path();
    if (path.startsWith("/health") || path.startsWith("/ready") || path.startsWith("/metrics")) {
      return null;
    }
    String key = settings.apiKey();
    if (route != null && route.scope() == Scope.ADMIN && settings.adminKey() != null) {
      key = settings.adminKey();
    }
    if (key == null || bearer(request, key) || key.equals(request.header("x-api-key"))) {
      return null;
    }
    return new ApiError(401, Json.object().put("error", "Unauthorized"));
  }

  @Override
  ApiError error(int status, String message) {
    return new ApiError(status, errorObject(status, message));
  }

  private static ObjectNode errorObject(int status, String message) {
    ObjectNode body = Json.object().put("object", "error").put("message", message);
    body.put("type", status < 500 ? "BadRequestError" : "InternalServerError");
    body.putNull("param");
    return body.put("code", status);
  }

  @Override
  String streamError(int status, String message) {
    ObjectNode body = Json.object();
    body.set("error", errorObject(status, message));
    return Json.string(body);
  }

  @Override
  boolean sendsHeadersEarly() {
    return false;
  }

  @Override
  @Nullable Integer requestedRank(HttpRequest request, JsonNode body) {
    String header = request.header("x-data-parallel-rank");
    if (header != null) {
      Integer rank = integer(header);
      if (rank == null) {
        throw error(400, "Invalid X-Data-Parallel-Rank header: must be an integer");
      }
      return rank;
    }
    Integer rank = integer(body.path("routed_dp_rank"));
    if (rank == null) {
      rank = integer(body.path("data_parallel_rank"));
    }
    if (rank == null && settings.role() == WorkerRole.PREFILL) {
      long room = SglangRooms.scalar(this, body, "bootstrap_room").asLong();
      return Math.floorMod(room, settings.dpSize());
    }
    return rank;
  }

  /** Any name is accepted and echoed. */
  @Override
  String resolveModel(JsonNode body) {
    return body.path("model").asText(settings.servedModel());
  }

  @Override
  String resolveLora(JsonNode body) {
    JsonNode path = body.path("lora_path");
    if (path.isTextual()) {
      return path.asText();
    }
    String model = body.path("model").asText("");
    if (settings.loraAdapters().contains(model)) {
      return model;
    }
    int colon = model.indexOf(':');
    return colon < 0 ? "" : model.substring(colon + 1);
  }

  @Override
  Ids ids(HttpRequest request, JsonNode body, Endpoint endpoint, int items) {
    JsonNode rid = body.path("rid");
    if (rid.isArray()) {
      if (rid.size() != items) {
        throw error(400, "The length of rid does not match the batch size");
      }
      List<String> ids = new ArrayList<>();
      rid.forEach(one -> ids.add(one.asText()));
      return new Ids(ids.get(0), ids);
    }
    String id = rid.isTextual() ? rid.asText() : life.randomHex();
    String shown = endpoint == Endpoint.RESPONSES ? "resp_" + id : id;
    return new Ids(shown, numbered(id, "_", items));
  }

  private void generate(HttpExchange exchange, @Nullable Fault fault) {
    JsonNode body = body(exchange);
    boolean text = body.has("text");
    JsonNode input = body.path(text ? "text" : "input_ids");
    List<int[]> prompts = prompts(body, text ? "text" : "input_ids");
    JsonNode sampling = body.path("sampling_params");
    boolean list = (input.isArray() && !input.path(0).isIntegralNumber()) || n(sampling) > 1;
    int maxTokens = sampling.path("max_new_tokens").asInt(128);
    ObjectNode flat = body.deepCopy();
    flat.put("n", n(sampling));
    flat.set("seed", sampling.path("sampling_seed"));
    if (sampling.has("stop")) {
      flat.set("stop", sampling.get("stop"));
    }
    flat.set("stop_token_ids", sampling.path("stop_token_ids"));
    Call call = call(exchange.request(), flat, Endpoint.GENERATE, prompts, Math.max(0, maxTokens));
    Admission admission = admission(exchange.request(), body, call);
    run(
        exchange,
        fault,
        call,
        admission,
        new NativeAnswer(list, NativeLogprobs.asked(body, settings)));
  }

  /** A prefill worker keeps itself to one token. */
  @Override
  int outputLimit(int asked) {
    return settings.role() == WorkerRole.PREFILL ? 1 : asked;
  }

  private void health(HttpExchange exchange) {
    whenDone(exchange, probe(), healthy -> empty(exchange, healthy ? 200 : 503));
  }

  /**
   * Generates one token to see whether the scheduler lives: that takes its time, and gets nowhere
   * while the scheduler stands still.
   *
   * @return whether it does
   */
  public CompletableFuture<Boolean> probe() {
    Duration latency = settings.healthLatency();
    CompletableFuture<Boolean> healthy = new CompletableFuture<>();
    if (life.paused() || faults.isOn(Fault.Kind.FREEZE)) {
      control.schedule(latency.multipliedBy(HEALTH_TIMEOUT_FACTOR), () -> healthy.complete(false));
    } else if (latency.isZero()) {
      healthy.complete(true);
    } else {
      control.schedule(latency, () -> healthy.complete(true));
    }
    return healthy;
  }

  /**
   * Describes the server.
   *
   * @return as {@code GET /server_info}
   */
  public ObjectNode serverInfo() {
    ObjectNode info = Json.object();
    info.put("model_path", settings.model());
    info.put("tokenizer_path", settings.model());
    info.put("served_model_name", settings.servedModel());
    info.put("page_size", settings.core().blockSize());
    info.put("tp_size", 1).put("pp_size", 1).put("dp_size", settings.dpSize());
    info.put("random_seed", life.randomSeed());
    info.put("max_running_requests", settings.core().maxNumSeqs());
    info.putNull("max_total_tokens");
    info.put("max_total_num_tokens", settings.totalTokens());
    SglangOptions scheduler = settings.sglang();
    info.put("max_prefill_tokens", scheduler.maxPrefillTokens());
    info.put("chunked_prefill_size", scheduler.chunkedPrefillSize());
    info.put("schedule_policy", scheduler.schedulePolicy().name().toLowerCase(Locale.ROOT));
    info.put("schedule_conservativeness", scheduler.scheduleConservativeness());
    info.put("disable_radix_cache", !settings.core().prefixCaching());
    info.putNull("context_length");
    info.put(
        "max_req_input_len",
        Math.min(
            settings.core().maxModelLen() - 1,
            settings.totalTokens() - settings.core().blockSize() - 1));
    info.put("disaggregation_mode", disaggregationMode());
    info.put("disaggregation_bootstrap_port", life.bootstrapPort());
    info.put("disaggregation_transfer_backend", "mooncake");
    info.put("kv_cache_dtype", "auto");
    info.put("enable_hierarchical_cache", false);
    info.putNull("hicache_storage_backend");
    kvEvents(info);
    info.put("enable_cache_report", settings.cacheReport() != CacheReport.OFF);
    info.put("enable_metrics", settings.metricNames() != MetricNames.ABSENT);
    info.put("load_balance_method", "round_robin");
    info.put("incremental_streaming_output", false);
    info.put("stream_response_default_include_usage", false);
    info.put("is_embedding", false);
    info.put("weight_version", "default");
    info.put("status", "ready");
    ArrayNode states = info.putArray("internal_states");
    for (RankSnapshot snapshot : life.snapshots()) {
      ObjectNode state = states.addObject();
      state.put("last_gen_throughput", snapshot.tokensPerSecond());
      state.put("effective_max_running_requests_per_dp", settings.core().maxNumSeqs());
      state
          .putObject("memory_usage")
          .put("weight", 0.0)
          .put("kvcache", 0.0)
          .put("token_capacity", settings.totalTokens())
          .put("graph", 0.0);
    }
    return info.put("version", settings.version());
  }

  private void kvEvents(ObjectNode info) {
    KvEventEndpoint endpoint = life.kvEndpoint();
    if (endpoint == null) {
      info.putNull("kv_events_config");
      info.putNull("kv_events");
      return;
    }
    ObjectNode config = Json.object().put("publisher", "zmq").put("topic", endpoint.topic());
    config.put("endpoint", "tcp://*:" + endpoint.port());
    endpoint.replayPort().ifPresent(port -> config.put("replay_endpoint", "tcp://*:" + port));
    info.put("kv_events_config", Json.string(config));
    ObjectNode events =
        info.putObject("kv_events")
            .put("publisher", "zmq")
            .put("endpoint_host", "*")
            .put("endpoint_port_base", endpoint.port())
            .put("topic", endpoint.topic())
            .put("block_size", endpoint.blockTokens())
            .put("dp_size", endpoint.ranks());
    endpoint.replayPort().ifPresent(port -> events.put("replay_endpoint_port_base", port));
  }

  /**
   * Tells of a sequence what the native API does.
   *
   * @param generation its call
   * @param item the sequence
   * @return as {@code meta_info} of {@code POST /generate}
   */
  public static ObjectNode metaInfo(Generation generation, Generation.Item item) {
    return NativeAnswer.metaInfo(generation, item);
  }

  private String disaggregationMode() {
    return settings.role() == WorkerRole.REGULAR ? "null" : settings.role().label();
  }

  /**
   * Describes the model.
   *
   * @return as {@code GET /model_info}
   */
  public ObjectNode modelInfo() {
    ObjectNode info = Json.object();
    info.put("model_path", settings.model());
    info.put("tokenizer_path", settings.model());
    info.put("is_generation", true);
    info.putNull("preferred_sampling_params");
    info.put("weight_version", "default");
    info.put("has_image_understanding", false);
    info.put("has_audio_understanding", false);
    info.put("model_type", "fake");
    info.putArray("architectures").add("FakeForCausalLM");
    return info;
  }

  private void loads(HttpExchange exchange) {
    HttpRequest request = exchange.request();
    Set<String> include =
        Set.copyOf(List.of(request.query().getOrDefault("include", "all").split(",", -1)));
    String onlyRank = request.query().get("dp_rank");
    Integer rank = integer(onlyRank);
    if (onlyRank != null && (rank == null || rank < 0 || rank >= settings.dpSize())) {
      throw error(400, "dp_rank is out of range");
    }
    if (Objects.equals(request.query().get("format"), "prometheus")) {
      metrics(exchange, prometheus());
      return;
    }
    json(exchange, loads(include, rank));
  }

  /**
   * Tells the ranks' load.
   *
   * @param include sections, see {@code GET /v1/loads}
   * @param onlyRank the rank that is asked for, or null for all
   * @return as {@code GET /v1/loads}
   */
  public ObjectNode loads(Set<String> include, @Nullable Integer onlyRank) {
    if (!LOAD_SECTIONS.containsAll(include)) {
      throw error(400, "unknown section in include");
    }
    ObjectNode body = Json.object();
    body.put("timestamp", life.clock().instant().toString());
    body.put("version", settings.version());
    boolean aggregated = settings.loadsShape() == LoadsShape.AGGREGATE;
    if (aggregated) {
      body.put("dp_rank_count", settings.dpSize());
    }
    ArrayNode loads = body.putArray("loads");
    List<RankSnapshot> snapshots = life.snapshots();
    for (int i = 0; i < snapshots.size(); i++) {
      if (onlyRank == null || onlyRank == i) {
        loads.add(load(i, snapshots.get(i), include, aggregated));
      }
    }
    if (aggregated) {
      body.set("aggregate", aggregate(snapshots));
    }
    return body;
  }

  private ObjectNode load(
      int rank, RankSnapshot snapshot, Set<String> include, boolean timestamped) {
    boolean all = include.contains("all");
    CoreMetrics metrics = snapshot.metrics();
    ObjectNode load = Json.object().put("dp_rank", rank);
    if (timestamped) {
      load.put("timestamp", life.epochSecondsExactly());
    }
    if (all || include.contains("core")) {
      load.put("num_running_reqs", metrics.running());
      load.put("num_waiting_reqs", metrics.waiting());
      load.put("num_waiting_uncached_tokens", metrics.waitingTokens());
      load.put("num_used_tokens", metrics.usedTokens());
      load.put("num_total_tokens", metrics.usedTokens() + metrics.waitingTokens());
      load.put("max_total_num_tokens", metrics.totalTokens());
      load.put("max_running_requests", settings.core().maxNumSeqs());
      load.put("token_usage", metrics.usage());
      load.put("gen_throughput", snapshot.tokensPerSecond());
      load.put("cache_hit_rate", metrics.lastPrefillHitRate());
      load.put("utilization", utilization(metrics));
    }
    if (all || include.contains("memory")) {
      load.putObject("memory")
          .put("weight_gb", 0.0)
          .put("kv_cache_gb", 0.0)
          .put("graph_gb", 0.0)
          .put("token_capacity", metrics.totalTokens());
    }
    if (settings.role() != WorkerRole.REGULAR && (all || include.contains("disagg"))) {
      ObjectNode disaggregation =
          load.putObject("disaggregation").put("mode", disaggregationMode());
      if (settings.role() == WorkerRole.PREFILL) {
        int held = life.heldHandoffs();
        disaggregation
            .put("prefill_bootstrap_queue_reqs", life.handoffsUnderWay() - held)
            .put("prefill_inflight_queue_reqs", held);
      } else {
        disaggregation
            .put("decode_prealloc_queue_reqs", 0)
            .put("decode_transfer_queue_reqs", life.handoffsUnderWay())
            .put("decode_retracted_queue_reqs", metrics.preempted());
      }
    }
    if (all || include.contains("queues")) {
      load.putObject("queues")
          .put("waiting", metrics.waiting())
          .put("grammar", 0)
          .put("paused", 0)
          .put("retracted", metrics.preempted());
    }
    return load;
  }

  private double utilization(CoreMetrics metrics) {
    return Math.max(metrics.usage(), (double) metrics.running() / settings.core().maxNumSeqs());
  }

  private static ObjectNode aggregate(List<RankSnapshot> snapshots) {
    int running = 0;
    int waiting = 0;
    double usage = 0;
    double throughput = 0;
    for (RankSnapshot snapshot : snapshots) {
      running += snapshot.metrics().running();
      waiting += snapshot.metrics().waiting();
      usage += snapshot.metrics().usage();
      throughput += snapshot.tokensPerSecond();
    }
    int ranks = snapshots.size();
    return Json.object()
        .put("total_running_reqs", running)
        .put("total_waiting_reqs", waiting)
        .put("total_reqs", running + waiting)
        .put("avg_token_usage", usage / ranks)
        .put("avg_throughput", throughput / ranks)
        .put("avg_utilization", usage / ranks);
  }

  /**
   * Tells the ranks' load in the older form.
   *
   * @param onlyRank the rank that is asked for, or null for all
   * @return as {@code GET /get_load}
   */
  public ArrayNode legacyLoad(@Nullable Integer onlyRank) {
    ArrayNode list = Json.MAPPER.createArrayNode();
    List<RankSnapshot> snapshots = life.snapshots();
    for (int rank = 0; rank < snapshots.size(); rank++) {
      if (onlyRank != null && onlyRank != rank) {
        continue;
      }
      CoreMetrics metrics = snapshots.get(rank).metrics();
      list.addObject()
          .put("dp_rank", rank)
          .put("num_reqs", metrics.running() + metrics.waiting())
          .put("num_waiting_reqs", metrics.waiting())
          .put("num_tokens", metrics.usedTokens() + metrics.waitingTokens())
          .put("num_pending_tokens", metrics.waitingTokens())
          .put("ts_tic", life.clock().nanoTime() / 1e9);
    }
    return list;
  }

  private String prometheus() {
    String prefix = settings.metricNames() == MetricNames.ALTERNATE ? "sglang_" : "sglang:";
    Prometheus text = new Prometheus();
    List<RankSnapshot> snapshots = life.snapshots();
    for (int rank = 0; rank < snapshots.size(); rank++) {
      CoreMetrics metrics = snapshots.get(rank).metrics();
      String labels =
          Prometheus.labels(
              "model_name",
              settings.servedModel(),
              "engine_type",
              settings.role() == WorkerRole.REGULAR ? "unified" : disaggregationMode(),
              "tp_rank",
              0,
              "pp_rank",
              0,
              "dp_rank",
              rank);
      text.gauge(prefix + "num_running_reqs", labels, metrics.running());
      text.gauge(prefix + "num_queue_reqs", labels, metrics.waiting());
      text.gauge(prefix + "num_retracted_reqs", labels, metrics.preempted());
      text.gauge(prefix + "num_used_tokens", labels, metrics.usedTokens());
      text.gauge(prefix + "token_usage", labels, metrics.usage());
      text.gauge(prefix + "gen_throughput", labels, snapshots.get(rank).tokensPerSecond());
      text.gauge(prefix + "cache_hit_rate", labels, metrics.lastPrefillHitRate());
      text.gauge(prefix + "utilization", labels, utilization(metrics));
      text.gauge(prefix + "max_total_num_tokens", labels, metrics.totalTokens());
      text.counter(prefix + "prompt_tokens_total", labels, metrics.promptTokens());
      text.counter(prefix + "generation_tokens_total", labels, metrics.generatedTokens());
      text.counter(
          prefix + "cached_tokens_total",
          labels + "," + Prometheus.labels("cache_source", "device"),
          metrics.cachedTokens());
    }
    for (int rank = 0; rank < snapshots.size(); rank++) {
      String labels =
          Prometheus.labels("model_name", settings.servedModel(), "tp_rank", 0, "dp_rank", rank);
      life.latencies(rank).write(text, prefix, labels, false);
    }
    text.gauge("process_start_time_seconds", "", life.startedAt().toEpochMilli() / 1e3);
    return text.toString();
  }

  private void flush(HttpExchange exchange) {
    whenDone(
        exchange,
        life.flush(),
        done -> {
          if (done) {
            plain(exchange, 200, "Cache flushed.\n");
          } else {
            plain(exchange, 400, "Flush cache failed.\n");
          }
        });
  }

  private void abortRequest(HttpExchange exchange) {
    JsonNode body = body(exchange);
    String prefix = body.path("rid").asText("");
    boolean all = body.path("abort_all").asBoolean(false);
    abortRequests(prefix, all);
    empty(exchange, 200);
  }

  /**
   * Aborts requests.
   *
   * @param prefix how the ids begin of those that are meant; none if empty
   * @param all whether all are meant
   */
  public void abortRequests(String prefix, boolean all) {
    abort(id -> all || (!prefix.isEmpty() && id.startsWith(prefix)));
  }

  private void pause(HttpExchange exchange) {
    String mode = "abort";
    if (exchange.request().body().length > 0) {
      mode = body(exchange).path("mode").asText(mode);
    }
    answer(exchange, new EngineCommand.Pause(pauseMode(mode)), "Generation paused successfully.");
  }

  /**
   * Reads how to pause.
   *
   * @param mode {@code abort}, {@code in_place} or {@code retract}
   * @return the mode
   * @throws ApiError if it is none of them
   */
  public PauseMode pauseMode(String mode) throws ApiError {
    return switch (mode) {
      case "abort" -> PauseMode.ABORT;
      case "in_place" -> PauseMode.IN_PLACE;
      case "retract" -> PauseMode.RETRACT;
      default -> throw error(400, "mode must be abort, in_place or retract");
    };
  }

  private void resume(HttpExchange exchange) {
    answer(exchange, new EngineCommand.Resume(), "Generation continued successfully.");
  }

  private void answer(HttpExchange exchange, EngineCommand command, String message) {
    whenDone(
        exchange,
        life.applyToAll(command),
        done -> json(exchange, Json.object().put("message", message).put("status", "ok")));
  }
}
