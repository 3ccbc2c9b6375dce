package dev.warmpath.knowledge;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Reads nodes, targets and links as CacheRoute's control plane writes them (v0.1.9: {@code
 * /v1/kdn}, {@code /v1/proxy}, {@code kdn_links}). What is absent or null is unknown; what has the
 * wrong type is an {@link IllegalArgumentException} that names the key.
 */
final class KnowledgeJson {

  private KnowledgeJson() {}

  /** The nodes of an array, each with its items out of an index by node id or address. */
  static List<KnowledgeNode> nodes(JsonNode array, JsonNode index) {
    Map<String, Map<String, KnowledgeItem>> items = index(index);
    List<KnowledgeNode> nodes = new ArrayList<>();
    for (JsonNode node : elements("kdns", array)) {
      String id = text(node, "kdn_id");
      String address = KnowledgeNode.addressOf(text(node, "host"), port(node));
      Map<String, KnowledgeItem> its = items.getOrDefault(id, Map.of());
      if (its.isEmpty()) {
        its = items.getOrDefault(address, Map.of());
      }
      JsonNode meta = node.path("meta");
      nodes.add(
          new KnowledgeNode(id, address, its, load(node, meta), truthy(meta.path("overloaded"))));
    }
    return nodes;
  }

  /** The targets of an array. */
  static List<KnowledgeTarget> targets(JsonNode array) {
    List<KnowledgeTarget> targets = new ArrayList<>();
    for (JsonNode proxy : elements("proxies", array)) {
      targets.add(
          new KnowledgeTarget(
              text(proxy, "proxy_id"),
              Math.max(0, integer(proxy, "inflight").orElse(0)),
              integer(proxy, "max_inflight"),
              decimal(proxy, "qps_1m"),
              decimal(proxy, "gpu_util"),
              links(proxy.path("meta").path("kdn_links"))));
    }
    return targets;
  }

  /** Links by the node's id or address. */
  static Map<String, KnowledgeLink> links(JsonNode object) {
    Map<String, KnowledgeLink> links = new HashMap<>();
    for (Map.Entry<String, JsonNode> link : fields("kdn_links", object)) {
      links.put(link.getKey(), link(link.getValue()));
    }
    return links;
  }

  /** As {@link #links}, without those that can't be read: who reports is not to be cut off. */
  static Map<String, KnowledgeLink> readableLinks(JsonNode object) {
    Map<String, KnowledgeLink> links = new HashMap<>();
    for (Map.Entry<String, JsonNode> link : object.properties()) {
      try {
        links.put(link.getKey(), link(link.getValue()));
      } catch (IllegalArgumentException e) {
        links.remove(link.getKey());
      }
    }
    return links;
  }

  private static KnowledgeLink link(JsonNode its) {
    return new KnowledgeLink(
        decimal(its, "bandwidth_mbps"),
        decimal(its, "latency_ms"),
        integer(its, "bandwidth_tier"),
        integer(its, "latency_tier"));
  }

  /** The ids of an array. */
  static List<String> ids(String key, JsonNode array) {
    List<String> ids = new ArrayList<>();
    for (JsonNode id : elements(key, array)) {
      if (!id.isTextual()) {
        throw wrong(key, "an array of ids");
      }
      ids.add(id.textValue());
    }
    return ids;
  }

  private static Map<String, Map<String, KnowledgeItem>> index(JsonNode object) {
    Map<String, Map<String, KnowledgeItem>> index = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> node : fields("kdn_knowledge_index", object)) {
      Map<String, KnowledgeItem> items = new HashMap<>();
      for (Map.Entry<String, JsonNode> item : fields(node.getKey(), node.getValue())) {
        JsonNode its = item.getValue();
        items.put(
            KnowledgeIds.canonical(item.getKey()),
            new KnowledgeItem(
                Math.max(0, integer(its, "length").orElse(0)), truthy(its.path("kv_ready"))));
      }
      index.put(node.getKey(), items);
    }
    return index;
  }

  private static NodeLoad load(JsonNode node, JsonNode meta) {
    return new NodeLoad(
        whole(node, meta, "items"),
        reported(node, meta, "qps_1m"),
        whole(node, meta, "pending_transfers"),
        whole(node, meta, "active_transfers"),
        reported(node, meta, "network_queue_ms_ema"));
  }

  /** A field of the node, or else of its {@code meta}. */
  private static OptionalDouble reported(JsonNode node, JsonNode meta, String key) {
    return decimal(node.hasNonNull(key) ? node : meta, key);
  }

  private static OptionalLong whole(JsonNode node, JsonNode meta, String key) {
    OptionalDouble value = reported(node, meta, key);
    return value.isPresent() ? OptionalLong.of((long) value.getAsDouble()) : OptionalLong.empty();
  }

  private static int port(JsonNode node) {
    int port = integer(node, "port").orElseThrow(() -> wrong("port", "a port number"));
    if (port < 1 || port > 65_535) {
      throw wrong("port", "a port number");
    }
    return port;
  }

  private static String text(JsonNode object, String key) {
    JsonNode value = object.path(key);
    if (!value.isTextual() || value.textValue().isBlank()) {
      throw wrong(key, "a text");
    }
    return value.textValue();
  }

  private static OptionalInt integer(JsonNode object, String key) {
    JsonNode value = object.path(key);
    if (value.isMissingNode() || value.isNull()) {
      return OptionalInt.empty();
    }
    if (!value.isNumber() || !value.canConvertToInt()) {
      throw wrong(key, "a whole number");
    }
    return OptionalInt.of(value.intValue());
  }

  private static OptionalDouble decimal(JsonNode object, String key) {
    JsonNode value = object.path(key);
    if (value.isMissingNode() || value.isNull()) {
      return OptionalDouble.empty();
    }
    if (!value.isNumber() || !Double.isFinite(value.doubleValue())) {
      throw wrong(key, "a number");
    }
    return OptionalDouble.of(value.doubleValue());
  }

  static boolean truthy(JsonNode value) {
    return value.isNumber() ? value.doubleValue() != 0 : value.asBoolean(false);
  }

  private static Iterable<JsonNode> elements(String key, JsonNode array) {
    if (!array.isArray()) {
      throw wrong(key, "an array");
    }
    return array;
  }

  private static Iterable<Map.Entry<String, JsonNode>> fields(String key, JsonNode object) {
    if (object.isMissingNode() || object.isNull()) {
      return List.of();
    }
    if (!object.isObject()) {
      throw wrong(key, "an object");
    }
    return object.properties();
  }

  private static IllegalArgumentException wrong(String key, String expected) {
    return new IllegalArgumentException("'" + key + "' must be " + expected);
  }

  /** Puts figures that may be unknown, which is null. */
  static final class Fields {
    private Fields() {}

    static void put(ObjectNode out, String key, OptionalInt value) {
      if (value.isPresent()) {
        out.put(key, value.getAsInt());
      } else {
        out.putNull(key);
      }
    }

    static void put(ObjectNode out, String key, OptionalLong value) {
      if (value.isPresent()) {
        out.put(key, value.getAsLong());
      } else {
        out.putNull(key);
      }
    }

    static void put(ObjectNode out, String key, OptionalDouble value) {
      if (value.isPresent()) {
        out.put(key, value.getAsDouble());
      } else {
        out.putNull(key);
      }
    }
  }
}
