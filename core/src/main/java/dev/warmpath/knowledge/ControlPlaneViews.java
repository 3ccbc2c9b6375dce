package dev.warmpath.knowledge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.knowledge.KnowledgeJson.Fields;
import java.time.Instant;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a control plane shows, with the keys of CacheRoute v0.1.9. A figure that nobody reported is
 * null, and affinity is the one before the decision. Thread safe.
 */
final class ControlPlaneViews {
  private static final int SAMPLE = 10;

  private final KnowledgeRegistry registry;
  private final KnowledgeStrategy strategy;
  private final DecisionJournal journal;

  ControlPlaneViews(
      KnowledgeRegistry registry, KnowledgeStrategy strategy, DecisionJournal journal) {
    this.registry = registry;
    this.strategy = strategy;
    this.journal = journal;
  }

  /** {@code GET /v1/kdn/list}. */
  ArrayNode nodes(boolean dead) {
    ArrayNode all = array();
    for (NodeEntry entry : registry.nodeEntries()) {
      boolean alive = registry.alive(entry);
      if (alive || dead) {
        ObjectNode node = all.addObject();
        identity(node, "kdn_id", entry.said());
        load(node, entry.node().load());
        times(node, entry.said().since(), entry.seen(), alive);
      }
    }
    return all;
  }

  private static void load(ObjectNode node, NodeLoad load) {
    Fields.put(node, "items", load.items());
    Fields.put(node, "qps_1m", load.requestsPerSecond());
    Fields.put(node, "pending_transfers", load.pendingTransfers());
    Fields.put(node, "active_transfers", load.activeTransfers());
    Fields.put(node, "network_queue_ms_ema", load.queueMillis());
  }

  /** {@code GET /v1/proxy/list}. */
  ArrayNode targets(boolean dead) {
    ArrayNode all = array();
    for (TargetEntry entry : registry.targetEntries()) {
      boolean alive = registry.alive(entry);
      if (alive || dead) {
        ObjectNode target = all.addObject();
        identity(target, "proxy_id", entry.said());
        capacity(target, entry);
        times(target, entry.said().since(), entry.seen(), alive);
        target.set("pool_resource", entry.pool());
        at(target, "pool_resource_reported_at", entry.poolAt());
      }
    }
    return all;
  }

  private static void capacity(ObjectNode target, TargetEntry entry) {
    target.put("max_capacity", entry.capacity().orElse(0));
    target.put("instance_count", entry.instances());
    target.put("kv_mem_per_instance_gb", entry.kvMemoryGb());
    target.put("kv_cache_pool_gb", entry.instances() * entry.kvMemoryGb());
    target.put("kv_cache_update_policy", entry.kvPolicy());
    Fields.put(target, "inflight", entry.inFlight());
    Fields.put(target, "qps_1m", entry.requestsPerSecond());
    Fields.put(target, "gpu_util", entry.gpuUtilisation());
  }

  /** {@code GET /debug/proxy_pool_resources}. */
  ObjectNode pools(boolean dead) {
    ObjectNode view = object().put("ok", true);
    ArrayNode all = view.putArray("proxies");
    for (TargetEntry entry : registry.targetEntries()) {
      boolean alive = registry.alive(entry);
      if (alive || dead) {
        ObjectNode target = all.addObject().put("proxy_id", entry.said().id());
        target.put("is_alive", alive);
        at(target, "last_seen_at", entry.seen());
        at(target, "pool_resource_reported_at", entry.poolAt());
        target.set("pool_resource", entry.pool());
      }
    }
    return view;
  }

  private static void identity(ObjectNode out, String key, Registration said) {
    out.put(key, said.id()).put("host", said.host()).put("port", said.port());
    said.endpoints().forEach(out.putArray("endpoints")::add);
    said.tags().forEach(out.putArray("tags")::add);
    out.put("weight", said.weight());
    out.set("meta", said.meta());
  }

  private static void times(ObjectNode out, Instant since, Instant seen, boolean alive) {
    at(out, "registered_at", since);
    at(out, "last_seen_at", seen);
    out.put("is_alive", alive);
  }

  private static void at(ObjectNode out, String key, @Nullable Instant time) {
    if (time == null) {
      out.putNull(key);
    } else {
      out.put(key, time.toEpochMilli() / 1e3);
    }
  }

  /** {@code GET /debug/status}. */
  ObjectNode status() {
    KnowledgeCatalogue catalogue = registry.catalogue();
    List<NodeEntry> alive = registry.nodeEntries().stream().filter(registry::alive).toList();
    ObjectNode view = object().put("strategy", "cacheroute");
    view.put("knowledge_loaded", catalogue.size() > 0);
    view.put("entries", catalogue.size());
    view.putNull("dim").putNull("faiss_total");
    view.put("kdn_base_url", alive.isEmpty() ? null : alive.get(0).base().toString());
    Instant last = lastTold(alive);
    at(view, "last_refresh_ts", last);
    view.putArray("unit_fields").add("kid").add("length").add("kv_ready");
    sample(view.putArray("sample_kids"), catalogue);
    view.put("kdn_alive", alive.size());
    ArrayNode addresses = view.putArray("kdn_alive_addrs");
    alive.forEach(entry -> addresses.add(entry.node().address()));
    KnowledgeTrace trace = journal.last();
    KnowledgeNode chosen = trace == null ? null : trace.decision().node().orElse(null);
    view.put("kdn_last_selected", chosen == null ? null : chosen.address());
    view.put("kdn_last_selected_id", chosen == null ? null : chosen.id());
    List<NodeEntry> troubled = alive.stream().filter(entry -> entry.trouble() != null).toList();
    view.put("kdn_last_refresh_ok", troubled.isEmpty());
    view.put(
        "kdn_last_refresh_reason",
        troubled.isEmpty() ? null : troubled.get(0).said().id() + ": " + troubled.get(0).trouble());
    at(view, "kdn_last_refresh_ts", last);
    nodesInShort(view.putArray("kdns"), alive);
    targetsInShort(view.putArray("proxies"));
    return view;
  }

  private static @Nullable Instant lastTold(List<NodeEntry> nodes) {
    Instant last = null;
    for (NodeEntry entry : nodes) {
      Instant told = entry.told();
      if (told != null && (last == null || told.isAfter(last))) {
        last = told;
      }
    }
    return last;
  }

  private static void sample(ArrayNode out, KnowledgeCatalogue catalogue) {
    Iterator<String> ids = catalogue.ids().iterator();
    for (int i = 0; i < SAMPLE && ids.hasNext(); i++) {
      out.add(ids.next());
    }
  }

  private static void nodesInShort(ArrayNode out, List<NodeEntry> alive) {
    for (NodeEntry entry : alive) {
      ObjectNode node = out.addObject().put("kdn_id", entry.said().id());
      node.put("host", entry.said().host()).put("port", entry.said().port());
      load(node, entry.node().load());
    }
  }

  private void targetsInShort(ArrayNode out) {
    for (TargetEntry entry : registry.targetEntries()) {
      if (registry.alive(entry)) {
        ObjectNode target = out.addObject().put("proxy_id", entry.said().id());
        target.put("host", entry.said().host()).put("port", entry.said().port());
        capacity(target, entry);
      }
    }
  }

  /** {@code GET /debug/strategy}. */
  ObjectNode strategy() {
    ObjectNode view = object().put("strategy", "cacheroute");
    List<TargetEntry> alive = registry.targetEntries().stream().filter(registry::alive).toList();
    view.put("proxy_count", alive.size());
    ArrayNode sample = view.putArray("proxies_sample");
    for (TargetEntry entry : alive.subList(0, Math.min(SAMPLE, alive.size()))) {
      ObjectNode target = sample.addObject().put("proxy_id", entry.said().id());
      target.put("host", entry.said().host()).put("port", entry.said().port());
      target.put("is_alive", true);
    }
    ObjectNode debug = view.putObject("strategy_debug");
    KnowledgeTrace trace = journal.last();
    if (trace == null) {
      debug.putArray("kdn_candidates");
      debug.put("usable_kdn_count", 0).putNull("chosen_kdn_id");
      debug.putArray("proxy_candidates");
      debug.put("connectable_proxy_count", 0).putNull("chosen_proxy_id");
    } else {
      DecisionJson.write(debug, trace);
    }
    DecisionJson.counters(debug.putObject("counters"), strategy.counters());
    return view;
  }

  private static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  private static ArrayNode array() {
    return JsonNodeFactory.instance.arrayNode();
  }
}
