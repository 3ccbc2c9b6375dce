package dev.warmpath.knowledge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.knowledge.KnowledgeRegistry.TargetReport;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.UUID;

/**
 * What the control plane's calls do, with the JSON of CacheRoute v0.1.9 (its scheduler's port
 * 7002). Where the original zeroes load that a report leaves out, the last value is kept. Thread
 * safe.
 */
final class ControlPlaneCalls {
  private static final int HEARTBEAT_SECONDS = 5;
  private static final List<String> TARGET_ENDPOINTS = List.of("chat/completions", "completions");
  private static final List<String> NODE_ENDPOINTS =
      List.of("knowledge/snapshot", "knowledge/search/text");

  private final KnowledgeRegistry registry;

  ControlPlaneCalls(KnowledgeRegistry registry) {
    this.registry = registry;
  }

  /** {@code POST /v1/kdn/register}. */
  ObjectNode registerNode(CallBody body) throws InvalidCallException {
    String id = body.text("kdn_id");
    if (!registry.register(registration(id, body, NODE_ENDPOINTS))) {
      throw full("nodes");
    }
    return accepted("kdn_id", id);
  }

  /** {@code POST /v1/kdn/heartbeat}. */
  ObjectNode nodeHeartbeat(CallBody body) throws InvalidCallException {
    NodeLoad load =
        new NodeLoad(
            body.whole("items"),
            body.number("qps_1m"),
            body.whole("pending_transfers"),
            body.whole("active_transfers"),
            body.number("network_queue_ms_ema"));
    if (!registry.heartbeat(body.text("kdn_id"), load)) {
      throw new InvalidCallException(404, "", "kdn_id not registered");
    }
    return ok();
  }

  /** {@code POST /v1/kdn/unregister}. */
  ObjectNode unregisterNode(CallBody body) throws InvalidCallException {
    registry.removeNode(body.text("kdn_id"));
    return ok();
  }

  /** {@code POST /v1/proxy/register}. */
  ObjectNode registerTarget(CallBody body) throws InvalidCallException {
    String given = body.optionalText("proxy_id");
    String id =
        given == null || given.isBlank()
            ? "pxy_" + UUID.randomUUID().toString().replace("-", "").substring(0, 12)
            : given;
    Registration said = registration(id, body, TARGET_ENDPOINTS);
    String policy = body.optionalText("kv_cache_update_policy");
    JsonNode pool = body.any("pool_resource");
    Instant now = registry.clock().instant();
    OptionalInt capacity = body.count("max_capacity");
    TargetEntry entry =
        new TargetEntry(
            said,
            capacity.orElse(0) > 0 ? capacity : OptionalInt.empty(),
            body.count("instance_count").orElse(0),
            body.number("kv_mem_per_instance_gb").orElse(0),
            policy == null ? "lru" : policy,
            KnowledgeRegistry.SILENT.inFlight(),
            KnowledgeRegistry.SILENT.requestsPerSecond(),
            KnowledgeRegistry.SILENT.gpuUtilisation(),
            links(said.meta()),
            pool,
            pool == null ? null : now,
            now,
            registry.now());
    if (!registry.registerTarget(entry)) {
      throw full("targets");
    }
    return accepted("proxy_id", id);
  }

  /** {@code POST /v1/proxy/heartbeat}. */
  ObjectNode targetHeartbeat(CallBody body) throws InvalidCallException {
    TargetReport report =
        new TargetReport(body.count("inflight"), body.number("qps_1m"), body.number("gpu_util"));
    ObjectNode patch = body.object("meta_patch");
    JsonNode pool = body.any("pool_resource");
    Instant now = registry.clock().instant();
    boolean known =
        registry.updateTarget(
            body.text("proxy_id"),
            entry ->
                patched(report.applyTo(entry, now, registry.now()), patch).withPool(pool, now));
    if (!known) {
      throw new InvalidCallException(404, "", "proxy_id not registered");
    }
    return ok();
  }

  private static TargetEntry patched(TargetEntry entry, ObjectNode patch) {
    if (patch.isEmpty()) {
      return entry;
    }
    ObjectNode meta = entry.said().meta().deepCopy();
    meta.setAll(patch);
    return entry.withMeta(meta, links(meta));
  }

  /** {@code POST /v1/proxy/unregister}. */
  ObjectNode unregisterTarget(CallBody body) throws InvalidCallException {
    registry.removeTarget(body.text("proxy_id"));
    return ok();
  }

  private Registration registration(String id, CallBody body, List<String> endpoints)
      throws InvalidCallException {
    return new Registration(
        id,
        body.host(),
        body.port(),
        body.texts("endpoints", endpoints),
        body.texts("tags", List.of()),
        body.number("weight").orElse(1),
        body.object("meta"),
        registry.clock().instant());
  }

  private static Map<String, KnowledgeLink> links(ObjectNode meta) {
    return KnowledgeJson.readableLinks(meta.path("kdn_links"));
  }

  private ObjectNode accepted(String key, String id) {
    return JsonNodeFactory.instance
        .objectNode()
        .put(key, id)
        .put("heartbeat_interval_s", HEARTBEAT_SECONDS)
        .put("ttl_s", (int) Math.max(1, registry.settings().ttl().toSeconds()));
  }

  private static ObjectNode ok() {
    return JsonNodeFactory.instance.objectNode().put("ok", true);
  }

  private static InvalidCallException full(String what) {
    return new InvalidCallException(503, "", "no room for more " + what);
  }
}
