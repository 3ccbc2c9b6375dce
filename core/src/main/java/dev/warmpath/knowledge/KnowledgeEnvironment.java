package dev.warmpath.knowledge;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;

/**
 * Options by the names of CacheRoute's environment variables without their common prefix ({@code
 * SCHEDULER_CACHEROUTE_}, v0.1.9), each a number or the text of one. A blank text means what it
 * means there: 0 for a threshold or a window, the default for decay and top K.
 */
final class KnowledgeEnvironment {

  private KnowledgeEnvironment() {}

  static KnowledgeSettings apply(JsonNode environment, KnowledgeSettings base) {
    if (environment.isMissingNode() || environment.isNull()) {
      return base;
    }
    if (!environment.isObject()) {
      throw new IllegalArgumentException("'env' must be an object");
    }
    KnowledgeSettings.Builder settings = base.toBuilder();
    OverloadThresholds overload = base.overload();
    double perSecond = overload.requestsPerSecond();
    long items = overload.items();
    long pending = overload.pendingTransfers();
    long active = overload.activeTransfers();
    double queue = overload.queueMillis();
    for (Map.Entry<String, JsonNode> option : environment.properties()) {
      String name = option.getKey();
      JsonNode value = option.getValue();
      switch (name) {
        case "KDN_QPS_OVERLOAD_TH" -> perSecond = decimal(name, value, 0);
        case "KDN_ITEMS_OVERLOAD_TH" -> items = whole(name, value, 0);
        case "KDN_PENDING_OVERLOAD_TH" -> pending = whole(name, value, 0);
        case "KDN_ACTIVE_OVERLOAD_TH" -> active = whole(name, value, 0);
        case "KDN_QUEUE_MS_OVERLOAD_TH" -> queue = decimal(name, value, 0);
        case "PROXY_LOAD_RATIO_DELTA" -> settings.loadRatioDelta(decimal(name, value, 0));
        case "PROXY_INFLIGHT_DELTA" -> settings.inFlightDelta(whole(name, value, 0));
        case "PROXY_GPU_DELTA" -> settings.gpuDelta(decimal(name, value, 0));
        case "AFFINITY_DECAY" -> settings.affinityDecay(decimal(name, value, 0.9));
        case "AFFINITY_TOPK" -> settings.affinityTopK(whole(name, value, 256));
        case "LOG_DECISION" -> whole(name, value, 1); // says nothing of the choice
        default -> throw new IllegalArgumentException("'env' has an unknown option '" + name + "'");
      }
    }
    return settings
        .overload(new OverloadThresholds(perSecond, items, pending, active, queue))
        .build();
  }

  private static int whole(String name, JsonNode value, int blank) {
    double number = decimal(name, value, blank);
    if (number != Math.rint(number) || Math.abs(number) > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("'" + name + "' must be a whole number");
    }
    return (int) number;
  }

  private static double decimal(String name, JsonNode value, double blank) {
    if (value.isNumber()) {
      return value.doubleValue();
    }
    if (value.isTextual()) {
      if (value.textValue().isBlank()) {
        return blank;
      }
      try {
        return Double.parseDouble(value.textValue().strip());
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("'" + name + "' must be a number", e);
      }
    }
    throw new IllegalArgumentException("'" + name + "' must be a number");
  }
}
