package dev.warmpath.knowledge;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.api.KnowledgeInfo;
import dev.warmpath.knowledge.KnowledgeJson.Fields;
import java.util.List;

/**
 * A decision with the keys of CacheRoute's {@code /debug/strategy}, and what each step did besides.
 */
final class DecisionJson {

  private DecisionJson() {}

  static void write(ObjectNode out, KnowledgeTrace trace) {
    KnowledgeDecision decision = trace.decision();
    out.put("request_id", trace.request()).put("at", trace.at().toEpochMilli() / 1e3);
    decision.knowledge().forEach(out.putArray("knowledge_list")::add);
    ArrayNode nodes = out.putArray("kdn_candidates");
    decision.nodes().forEach(candidate -> node(nodes.addObject(), candidate));
    out.put("usable_kdn_count", decision.usableNodes());
    out.put("chosen_kdn_id", decision.node().map(KnowledgeNode::id).orElse(null));
    ArrayNode targets = out.putArray("proxy_candidates");
    decision.targets().forEach(candidate -> target(targets.addObject(), candidate));
    out.put("connectable_proxy_count", decision.connectableTargets());
    out.put("chosen_proxy_id", decision.target().map(KnowledgeTarget::id).orElse(null));
    out.put("order", decision.order().name().toLowerCase(java.util.Locale.ROOT));
    out.put("decided_by", decision.decidedBy().orElse(null));
    out.put("tied", decision.tied());
    KnowledgeInfo info = trace.info();
    ObjectNode injection = out.putObject("injection").put("injected", info.injected());
    injection.put("position", info.position()).put("why", info.why());
    injection.put("characters", info.characters());
    ArrayNode steps = out.putArray("steps");
    steps(steps, "kdn", decision.nodeSteps());
    steps(steps, "proxy", decision.targetSteps());
  }

  private static void node(ObjectNode out, NodeCandidate candidate) {
    out.put("kdn_id", candidate.node().id());
    out.put("text_full", candidate.textFull());
    out.put("overloaded", candidate.overloaded());
    out.put("overload_reason", candidate.overloadReason());
    out.put("kv_cover_len", candidate.kvCoverLength());
    out.put("missing_count", candidate.missingCount());
    Fields.put(out, "qps_1m", candidate.node().load().requestsPerSecond());
    Fields.put(out, "items", candidate.node().load().items());
  }

  private static void target(ObjectNode out, TargetCandidate candidate) {
    KnowledgeTarget target = candidate.target();
    out.put("proxy_id", target.id());
    out.put("inflight", target.inFlight());
    Fields.put(out, "max_inflight", target.capacity());
    Fields.put(out, "load_ratio", candidate.loadRatio());
    Fields.put(out, "qps_1m", target.requestsPerSecond());
    Fields.put(out, "gpu_util", target.gpuUtilisation());
    ObjectNode link = out.putObject("topology_link");
    Fields.put(link, "bandwidth_mbps", candidate.link().bandwidthMbps());
    Fields.put(link, "latency_ms", candidate.link().latencyMillis());
    Fields.put(link, "bandwidth_tier", candidate.link().bandwidthTier());
    Fields.put(link, "latency_tier", candidate.link().latencyTier());
    out.put("affinity_score", candidate.affinity());
  }

  private static void steps(ArrayNode out, String stage, List<KnowledgeStep> steps) {
    for (KnowledgeStep step : steps) {
      ObjectNode view = out.addObject().put("stage", stage).put("name", step.name());
      view.put("in", step.in()).put("out", step.out());
      step.dropped().forEach(view.putArray("dropped")::add);
      view.put("fell_back", step.fellBack());
    }
  }

  static void counters(ObjectNode out, KnowledgeCounters counters) {
    out.put("requests_total", counters.requests());
    out.put("kdn_overload_filtered", counters.overloadedNodes());
    out.put("proxy_topology_hits", counters.topologyHits());
    out.put("proxy_loadsafe_filtered", counters.loadFiltered());
    out.put("proxy_affinity_hits", counters.affinityHits());
  }
}
