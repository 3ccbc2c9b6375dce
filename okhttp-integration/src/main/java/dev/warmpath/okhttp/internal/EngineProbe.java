package dev.warmpath.okhttp.internal;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.okhttp.internal.HttpReader.Answer;
import dev.warmpath.okhttp.internal.HttpReader.Budget;
import dev.warmpath.transport.ProbeReport;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.KvEventSource;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerCapabilities;
import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what a worker is. The kind: as configured, else {@code owned_by} of {@code /v1/models},
 * else {@code /version} (vLLM's alone), else the fields of {@code /server_info}, which all three
 * engines may answer, else the prefix of its metrics. Then, by kind:
 *
 * <ul>
 *   <li>SGLang: {@code /server_info}, before v0.5.6 {@code /get_server_info}: page size, DP size,
 *       measured KV capacity ({@code max_total_num_tokens}; {@code max_total_tokens} is only an
 *       argument), disaggregation mode, bootstrap port and transfer backend, cache report.
 *   <li>vLLM: {@code /version} and the {@code vllm:cache_config_info} series: block size, blocks;
 *       DP size is the number of {@code engine} labels. Its role is not on the wire. Where {@code
 *       ;pd=mooncake} prefills, its bootstrap server: {@link MooncakeEngines}.
 *   <li>ATOM: {@code /server_info}, {@code /kv_transfer_info} (role, handshake port) and its
 *       metrics. Its block size is not on the wire.
 * </ul>
 */
final class EngineProbe {
  private final HttpReader http;
  private final MooncakeEngines engines;

  EngineProbe(HttpReader http) {
    this.http = http;
    this.engines = new MooncakeEngines(http);
  }

  ProbeReport probe(Worker worker, Budget budget) throws TransportException {
    Answer models = http.get(worker, "/v1/models", budget);
    if (models.status() == 401 || models.status() == 403) {
      throw notUnderstood(
          "/v1/models refuses the key (" + models.status() + "): set the worker's apiKey");
    }
    if (models.status() >= 500) {
      throw notUnderstood("/v1/models answers " + models.status());
    }
    JsonNode listed = models.ok() ? models.json() : null;
    List<ServedModel> served = served(listed);
    EngineKind engine = worker.spec().engine();
    if (engine == null) {
      engine = ownedBy(listed);
    }
    String version = null;
    if (engine == EngineKind.UNKNOWN || engine == EngineKind.VLLM) {
      version = version(worker, budget);
      if (engine == EngineKind.UNKNOWN && version != null) {
        engine = EngineKind.VLLM;
      }
    }
    JsonNode info = engine == EngineKind.VLLM ? null : serverInfo(worker, budget);
    if (engine == EngineKind.UNKNOWN && info != null) {
      engine = byFields(info);
    }
    MetricsPage metrics = metrics(worker, budget);
    if (engine == EngineKind.UNKNOWN && metrics != null) {
      engine =
          metrics.speaks("vllm:")
              ? EngineKind.VLLM
              : metrics.speaks("sglang")
                  ? EngineKind.SGLANG
                  : metrics.speaks("atom:") ? EngineKind.ATOM : EngineKind.UNKNOWN;
    }
    if (engine == EngineKind.UNKNOWN && listed == null) {
      throw notUnderstood(
          "neither /v1/models nor /version, /server_info or /metrics tell what it is: configure its"
              + " engine");
    }
    String incarnation = metrics == null ? null : metrics.startTime();
    boolean asksIds = engine == EngineKind.VLLM && MooncakeEngines.asked(worker);
    List<String> ids = asksIds ? engines.ids(worker, budget) : List.of();
    WorkerCapabilities found =
        switch (engine) {
          case SGLANG -> sglang(served, info);
          case VLLM -> vllm(served, version, metrics, ids);
          case ATOM -> atom(worker, served, info, metrics, budget);
          case UNKNOWN ->
              new WorkerCapabilities(
                  EngineKind.UNKNOWN, version, null, served, null, null, null, null, null);
        };
    return new ProbeReport(found, incarnation, asksIds && ids.isEmpty());
  }

  private static TransportException notUnderstood(String message) {
    return new TransportException(Kind.PROTOCOL, FailurePhase.STATUS, 0, message, null);
  }

  private static List<ServedModel> served(@Nullable JsonNode listed) {
    List<ServedModel> models = new ArrayList<>();
    if (listed != null) {
      for (JsonNode model : listed.path("data")) {
        String id = text(model, "id");
        if (id != null) {
          models.add(
              new ServedModel(
                  id,
                  text(model, "root"),
                  text(model, "parent"),
                  positive(model, "max_model_len")));
        }
      }
    }
    return models;
  }

  private static EngineKind ownedBy(@Nullable JsonNode listed) {
    String owner = listed == null ? null : text(listed.path("data").path(0), "owned_by");
    return owner == null
        ? EngineKind.UNKNOWN
        : switch (owner) {
          case "sglang", "nvidia" -> EngineKind.SGLANG;
          case "vllm" -> EngineKind.VLLM;
          case "atom" -> EngineKind.ATOM;
          default -> EngineKind.UNKNOWN;
        };
  }

  private @Nullable String version(Worker worker, Budget budget) throws TransportException {
    Answer answer = http.get(worker, "/version", budget);
    JsonNode json = answer.ok() ? answer.json() : null;
    return json == null ? null : text(json, "version");
  }

  private @Nullable JsonNode serverInfo(Worker worker, Budget budget) throws TransportException {
    Answer answer = http.get(worker, "/server_info", budget);
    if (answer.status() == 404) {
      answer = http.get(worker, "/get_server_info", budget);
    }
    JsonNode json = answer.ok() ? answer.json() : null;
    return json != null && json.isObject() ? json : null;
  }

  private static EngineKind byFields(JsonNode info) {
    if (info.has("internal_states") || info.has("page_size") || info.has("disaggregation_mode")) {
      return EngineKind.SGLANG;
    }
    if (info.has("vllm_config")) {
      return EngineKind.VLLM;
    }
    return info.has("model_id") && info.has("tp_size") && info.has("dp_size")
        ? EngineKind.ATOM
        : EngineKind.UNKNOWN;
  }

  private @Nullable MetricsPage metrics(Worker worker, Budget budget) throws TransportException {
    Answer answer = http.get(worker, "/metrics", budget);
    return answer.ok() ? new MetricsPage(answer.body()) : null;
  }

  private static WorkerCapabilities sglang(List<ServedModel> served, @Nullable JsonNode info) {
    if (info == null) {
      return new WorkerCapabilities(
          EngineKind.SGLANG, null, null, served, null, null, null, null, null);
    }
    String mode = text(info, "disaggregation_mode");
    WorkerRole role =
        mode == null
            ? null
            : switch (mode) {
              case "prefill" -> WorkerRole.PREFILL;
              case "decode" -> WorkerRole.DECODE;
              default -> WorkerRole.REGULAR;
            };
    Integer capacity = positive(info, "max_total_num_tokens");
    if (capacity == null) {
      capacity =
          positive(info.path("internal_states").path(0).path("memory_usage"), "token_capacity");
    }
    JsonNode report = info.get("enable_cache_report");
    return new WorkerCapabilities(
            EngineKind.SGLANG,
            text(info, "version"),
            role,
            served,
            positive(info, "dp_size"),
            positive(info, "page_size"),
            capacity == null ? null : Long.valueOf(capacity),
            positive(info, "max_running_requests"),
            (report == null || !report.isBoolean()) ? null : Boolean.valueOf(report.asBoolean()))
        .withTransfer(role == WorkerRole.REGULAR ? Map.of() : sglangTransfer(info, role))
        .withKvEvents(kvEvents(info.path("kv_events")));
  }

  /** Only prefill's bootstrap port is its own: decode's is what it takes for prefill's. */
  private static Map<String, String> sglangTransfer(JsonNode info, @Nullable WorkerRole role) {
    Map<String, String> said = new HashMap<>();
    if (role == WorkerRole.PREFILL) {
      put(said, "bootstrap-port", positive(info, "disaggregation_bootstrap_port"));
    }
    put(said, "kv-transport", text(info, "disaggregation_transfer_backend"));
    String type = text(info, "kv_cache_dtype");
    put(said, "kv-dtype", "auto".equals(type) ? null : type);
    return said;
  }

  private static void put(Map<String, String> said, String name, @Nullable Object value) {
    if (value != null) {
      said.put(name, value.toString());
    }
  }

  /**
   * SGLang's description of its publisher. The host that it names is left aside: a worker's word
   * must not lead to an address that nobody configured.
   */
  private static @Nullable KvEventSource kvEvents(JsonNode events) {
    Integer port = port(events, "endpoint_port_base");
    String topic = text(events, "topic");
    return port == null
        ? null
        : new KvEventSource(
            KvEventSource.OWN_HOST,
            port,
            port(events, "replay_endpoint_port_base"),
            topic == null ? "" : topic);
  }

  private static @Nullable Integer port(JsonNode node, String field) {
    Integer port = positive(node, field);
    return port == null || port > 65_535 ? null : port;
  }

  private static WorkerCapabilities vllm(
      List<ServedModel> served,
      @Nullable String version,
      @Nullable MetricsPage metrics,
      List<String> engineIds) {
    Integer blockSize = null;
    Long capacity = null;
    Integer dpSize = null;
    if (metrics != null) {
      double block = metrics.infoNumber("vllm:cache_config_info", "block_size");
      double tokens = metrics.infoNumber("vllm:cache_config_info", "kv_cache_size_tokens");
      double blocks = metrics.infoNumber("vllm:cache_config_info", "num_gpu_blocks");
      blockSize = block >= 1 ? Integer.valueOf((int) block) : null;
      capacity = whole(Double.isNaN(tokens) ? block * blocks : tokens);
      int ranks = metrics.ranks().size();
      dpSize = ranks > 0 ? Integer.valueOf(ranks) : null;
    }
    if (dpSize == null && !engineIds.isEmpty()) {
      dpSize = engineIds.size();
    }
    return new WorkerCapabilities(
            EngineKind.VLLM, version, null, served, dpSize, blockSize, capacity, null, null)
        .withTransfer(MooncakeEngines.labels(engineIds));
  }

  private WorkerCapabilities atom(
      Worker worker,
      List<ServedModel> served,
      @Nullable JsonNode info,
      @Nullable MetricsPage metrics,
      Budget budget)
      throws TransportException {
    Answer transfer = http.get(worker, "/kv_transfer_info", budget);
    JsonNode kv = transfer.ok() ? transfer.json() : null;
    String kvRole = kv == null ? null : text(kv, "kv_role");
    WorkerRole role =
        kvRole == null
            ? null
            : switch (kvRole) {
              case "kv_producer" -> WorkerRole.PREFILL;
              case "kv_consumer" -> WorkerRole.DECODE;
              default -> WorkerRole.REGULAR;
            };
    Integer blockSize = worker.spec().blockSize();
    double blocks = metrics == null ? Double.NaN : metrics.sum(-1, "atom:kv_cache_blocks_total");
    return new WorkerCapabilities(
            EngineKind.ATOM,
            null,
            role,
            served,
            info == null ? null : positive(info, "dp_size"),
            null,
            blockSize == null ? null : whole(blocks * blockSize),
            null,
            true)
        .withTransfer(kv == null ? Map.of() : atomTransfer(kv));
  }

  private static Map<String, String> atomTransfer(JsonNode kv) {
    Map<String, String> said = new HashMap<>();
    put(said, "handshake-port", positive(kv, "handshake_port"));
    put(said, "tp", positive(kv, "tp_size"));
    return said;
  }

  private static @Nullable Long whole(double tokens) {
    return tokens >= 1 ? Long.valueOf((long) tokens) : null;
  }

  private static @Nullable String text(JsonNode node, String field) {
    JsonNode value = node.get(field);
    return value != null && value.isTextual() ? value.asText() : null;
  }

  private static @Nullable Integer positive(JsonNode node, String field) {
    JsonNode value = node.get(field);
    return value != null && value.canConvertToInt() && value.asInt() > 0
        ? Integer.valueOf(value.asInt())
        : null;
  }
}
