package dev.warmpath.knowledge;

import java.util.List;
import java.util.Optional;

/**
 * One decision with everything that led to it.
 *
 * @param order the second stage's order
 * @param knowledge what was wanted, as {@linkplain KnowledgeIds#canonical canonical} ids
 * @param nodes every node, as seen
 * @param nodeSteps what each step of the first stage did
 * @param node the chosen node; empty where none has any of what was wanted, which never keeps a
 *     target from being chosen
 * @param targets every target, as seen
 * @param targetSteps what each step of the second stage did
 * @param tied targets among which nothing but turns decided; 1 where there was no tie
 * @param target the chosen target; empty where there is none
 */
public record KnowledgeDecision(
    StageOrder order,
    List<String> knowledge,
    List<NodeCandidate> nodes,
    List<KnowledgeStep> nodeSteps,
    Optional<KnowledgeNode> node,
    List<TargetCandidate> targets,
    List<KnowledgeStep> targetSteps,
    int tied,
    Optional<KnowledgeTarget> target) {

  /** Copies the lists. */
  public KnowledgeDecision {
    knowledge = List.copyOf(knowledge);
    nodes = List.copyOf(nodes);
    nodeSteps = List.copyOf(nodeSteps);
    targets = List.copyOf(targets);
    targetSteps = List.copyOf(targetSteps);
  }

  /** Nodes that have the text of everything wanted and are not overloaded. */
  public int usableNodes() {
    return (int) nodes.stream().filter(node -> node.textFull() && !node.overloaded()).count();
  }

  /** Targets that the links' first say left: all where links say nothing. */
  public int connectableTargets() {
    return targetSteps.stream()
        .filter(step -> TargetStage.FIRST_STEPS.contains(step.name()))
        .mapToInt(KnowledgeStep::out)
        .findFirst()
        .orElse(targets.size());
  }

  /** The step that decided: the last one of the second stage that dropped anybody. */
  public Optional<String> decidedBy() {
    return targetSteps.stream()
        .filter(step -> step.out() < step.in())
        .reduce((first, second) -> second)
        .map(KnowledgeStep::name);
  }

  /**
   * The decision on one line, as CacheRoute logs it.
   *
   * @param request the request's id
   */
  public String line(String request) {
    return "[CacheRoute] req="
        + request
        + " kdn="
        + node.map(KnowledgeNode::id).orElse("None")
        + " proxy="
        + target.map(KnowledgeTarget::id).orElse("None")
        + " kids="
        + knowledge.size()
        + " kdn_candidates="
        + nodes.size()
        + " proxy_candidates="
        + targets.size();
  }
}
