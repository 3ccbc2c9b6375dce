package dev.warmpath.knowledge;

import dev.warmpath.knowledge.KnowledgeCatalogue.Piece;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Decides in two stages where knowledge comes from and who answers, and remembers who was given
 * what. Both stages consist of steps that prefer; none of them is ever left without a candidate.
 *
 * <p>Source: CacheRoute v0.1.9, {@code scheduler/strategy/cacheroute.py}; {@link
 * KnowledgeSettings#strictReference} has its oddities.
 *
 * <p>Thread safe. A decision holds one short lock, since it reads what the decision before it
 * remembered, and blocks on nothing else.
 */
public final class KnowledgeStrategy {

  private final KnowledgeSettings settings;
  private final NodeStage nodeStage;
  private final TargetStage targetStage;

  private final ReentrantLock lock = new ReentrantLock();
  private final AffinityTable affinity; // under lock
  private KnowledgeCounters counters = KnowledgeCounters.NONE; // under lock
  private long turns; // under lock

  /** A strategy that remembers nothing yet. */
  public KnowledgeStrategy(KnowledgeSettings settings) {
    this.settings = settings;
    nodeStage = new NodeStage(settings);
    targetStage = new TargetStage(settings);
    affinity =
        new AffinityTable(
            settings.affinityDecay(), settings.affinityTopK(), settings.strictReference());
  }

  /**
   * Decides one request and remembers the choice.
   *
   * @param catalogue nodes that are alive; none is no error
   * @param targets who may answer
   * @param knowledge ids of what the request needs, in any case; none for a plain request
   */
  public KnowledgeDecision decide(
      KnowledgeCatalogue catalogue, List<KnowledgeTarget> targets, Collection<String> knowledge) {
    return choose(catalogue, targets, wanted(knowledge), true);
  }

  /** What {@link #decide} would decide now. Nothing is remembered or counted, no turn is taken. */
  public KnowledgeDecision explain(
      KnowledgeCatalogue catalogue, List<KnowledgeTarget> targets, Collection<String> knowledge) {
    return choose(catalogue, targets, wanted(knowledge), false);
  }

  /** What was counted so far. */
  public KnowledgeCounters counters() {
    lock.lock();
    try {
      return counters;
    } finally {
      lock.unlock();
    }
  }

  /** What is remembered of a target now: scores by id of knowledge. */
  public Map<String, Double> affinity(String target) {
    lock.lock();
    try {
      return affinity.of(target);
    } finally {
      lock.unlock();
    }
  }

  private List<String> wanted(Collection<String> knowledge) {
    var ids = knowledge.stream().map(KnowledgeIds::canonical);
    return settings.strictReference() ? ids.toList() : ids.distinct().toList();
  }

  private KnowledgeDecision choose(
      KnowledgeCatalogue catalogue,
      List<KnowledgeTarget> targets,
      List<String> wanted,
      boolean remember) {
    List<@Nullable Piece> pieces = new ArrayList<>(wanted.size());
    for (String id : wanted) {
      pieces.add(catalogue.piece(id));
    }
    NodeStage.Choice first = nodeStage.choose(catalogue, pieces);
    KnowledgeNode node = first.node();
    double[] weights = weights(pieces);
    lock.lock();
    try {
      TargetStage.Choice second =
          targetStage.choose(candidates(targets, node, wanted, weights), node);
      List<TargetCandidate> tied = second.tied();
      KnowledgeTarget chosen =
          tied.isEmpty() ? null : tied.get((int) (turns % tied.size())).target();
      if (remember) {
        count(first, second, wanted);
        remember(targets, chosen, wanted, tied.size() > 1);
      }
      return new KnowledgeDecision(
          settings.order(),
          wanted,
          first.candidates(),
          first.steps(),
          Optional.ofNullable(node),
          second.candidates(),
          second.steps(),
          tied.size(),
          Optional.ofNullable(chosen));
    } finally {
      lock.unlock();
    }
  }

  private List<TargetCandidate> candidates(
      List<KnowledgeTarget> targets,
      @Nullable KnowledgeNode node,
      List<String> wanted,
      double[] weights) {
    List<TargetCandidate> candidates = new ArrayList<>(targets.size());
    Map<String, Double> scores = affinity.scores(wanted, weights);
    for (KnowledgeTarget target : targets) {
      double score = scores.isEmpty() ? 0 : scores.getOrDefault(target.id(), 0.0);
      candidates.add(targetStage.look(target, node, score));
    }
    return candidates;
  }

  /** How much each piece of knowledge weighs: its characters, 1 where nobody has it. */
  private static double[] weights(List<@Nullable Piece> pieces) {
    double[] weights = new double[pieces.size()];
    for (int i = 0; i < weights.length; i++) {
      Piece piece = pieces.get(i);
      weights[i] = piece == null ? 1 : piece.length();
    }
    return weights;
  }

  private void count(NodeStage.Choice first, TargetStage.Choice second, List<String> wanted) {
    counters =
        counters.plus(
            new KnowledgeCounters(
                1,
                wanted.isEmpty() ? 0 : first.overloaded(),
                second.linksCompared() ? 1 : 0,
                second.windowDropped() ? 1 : 0,
                second.affinityFound() ? 1 : 0));
  }

  private void remember(
      List<KnowledgeTarget> targets,
      @Nullable KnowledgeTarget chosen,
      List<String> wanted,
      boolean tied) {
    if (tied) {
      turns++;
    }
    if (!wanted.isEmpty() || settings.strictReference()) {
      affinity.fade(targets);
    }
    if (chosen != null) {
      affinity.add(chosen.id(), wanted);
    }
  }
}
