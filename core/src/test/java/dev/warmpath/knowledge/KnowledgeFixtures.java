package dev.warmpath.knowledge;

import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;

/** Nodes and targets that tests describe by what they care for. */
final class KnowledgeFixtures {

  private KnowledgeFixtures() {}

  static KnowledgeNode node(String id, Map<String, KnowledgeItem> items) {
    return node(id, items, NodeLoad.UNKNOWN);
  }

  static KnowledgeNode node(String id, Map<String, KnowledgeItem> items, NodeLoad load) {
    return new KnowledgeNode(id, KnowledgeNode.addressOf(id, 9101), items, load, false);
  }

  static NodeLoad perSecond(double requests) {
    return new NodeLoad(
        OptionalLong.empty(),
        OptionalDouble.of(requests),
        OptionalLong.empty(),
        OptionalLong.empty(),
        OptionalDouble.empty());
  }

  static KnowledgeItem kv(int length) {
    return new KnowledgeItem(length, true);
  }

  static KnowledgeItem text(int length) {
    return new KnowledgeItem(length, false);
  }

  static KnowledgeTarget target(String id, int inFlight, int capacity) {
    return target(id, inFlight, capacity, Map.of());
  }

  static KnowledgeTarget target(
      String id, int inFlight, int capacity, Map<String, KnowledgeLink> links) {
    return new KnowledgeTarget(
        id,
        inFlight,
        OptionalInt.of(capacity),
        OptionalDouble.empty(),
        OptionalDouble.empty(),
        links);
  }

  static String chosen(
      KnowledgeStrategy strategy,
      List<KnowledgeNode> nodes,
      List<KnowledgeTarget> targets,
      String... knowledge) {
    return strategy
        .decide(KnowledgeCatalogue.of(nodes), targets, List.of(knowledge))
        .target()
        .map(KnowledgeTarget::id)
        .orElse("none");
  }
}
