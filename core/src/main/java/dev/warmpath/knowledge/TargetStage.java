package dev.warmpath.knowledge;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The second stage: who answers. The same steps in either {@link StageOrder}; what is equal after
 * the last of them is taken in turns. Immutable: memory and turns are the caller's.
 */
final class TargetStage {

  private static final String TOPOLOGY = "topology_best_group";
  private static final String REACHABLE = "reachable";
  private static final String WINDOW = "load_safe_window";
  private static final String AFFINITY = "knowledge_affinity";

  /** The steps in which links have their first say, one for each order. */
  static final Set<String> FIRST_STEPS = Set.of(TOPOLOGY, REACHABLE);

  /** Scores that differ by less, relative to the greater, are equal. */
  private static final double SAME_SCORE = 1e-9;

  private final KnowledgeSettings settings;

  TargetStage(KnowledgeSettings settings) {
    this.settings = settings;
  }

  /**
   * What the stage found.
   *
   * @param tied whom nothing but turns can choose among, by id
   * @param linksCompared whether links had a say
   */
  record Choice(
      List<TargetCandidate> candidates,
      List<KnowledgeStep> steps,
      List<TargetCandidate> tied,
      boolean linksCompared,
      boolean windowDropped,
      boolean affinityFound) {}

  Choice choose(List<TargetCandidate> candidates, @Nullable KnowledgeNode node) {
    Funnel<TargetCandidate> funnel = new Funnel<>(candidates, candidate -> candidate.target().id());
    boolean loadFirst = settings.order() == StageOrder.LOAD_FIRST;
    if (loadFirst) {
      funnel.prefer(REACHABLE, candidate -> candidate.link().bandwidthOrNone() > 0);
    } else {
      funnel.narrow(TOPOLOGY, this::bestLinked);
    }
    boolean linksCompared = !loadFirst && node != null && funnel.left().size() < candidates.size();
    int before = funnel.left().size();
    funnel.narrow(WINDOW, this::loadSafe);
    boolean windowDropped = funnel.left().size() < before;
    if (settings.gpuDelta() > 0) {
      funnel.narrow("gpu_window", this::gpuSafe);
    }
    double best = bestAffinity(funnel.left());
    funnel.prefer(AFFINITY, candidate -> sameScore(candidate.affinity(), best));
    if (loadFirst) {
      linksCompared = node != null && funnel.left().size() > 1;
      funnel.narrow("link", TargetStage::bestMeasured);
    }
    funnel.narrow("load", this::leastLoaded);
    List<TargetCandidate> tied = new ArrayList<>(funnel.left());
    tied.sort(Comparator.comparing(candidate -> candidate.target().id()));
    return new Choice(candidates, funnel.steps(), tied, linksCompared, windowDropped, best > 0);
  }

  /** Candidates of a decision. */
  TargetCandidate look(KnowledgeTarget target, @Nullable KnowledgeNode node, double affinity) {
    OptionalInt capacity = target.capacity();
    OptionalDouble ratio =
        capacity.isPresent()
            ? OptionalDouble.of((double) target.inFlight() / capacity.getAsInt())
            : OptionalDouble.empty();
    return new TargetCandidate(target, target.linkTo(node), ratio, affinity);
  }

  /** Those with the best link: by grades where every link is graded, else as measured. */
  private List<TargetCandidate> bestLinked(List<TargetCandidate> all) {
    boolean strict = settings.strictReference();
    boolean graded =
        strict || Funnel.all(all, c -> c.link().graded() || c.link().equals(KnowledgeLink.NONE));
    if (!graded) {
      return bestMeasured(all);
    }
    List<TargetCandidate> widest = Funnel.least(all, c -> -c.link().bandwidthTierOrWorst());
    return Funnel.least(widest, c -> c.link().latencyTierOrWorst(strict));
  }

  private static List<TargetCandidate> bestMeasured(List<TargetCandidate> all) {
    List<TargetCandidate> widest = Funnel.least(all, c -> -c.link().bandwidthOrNone());
    return Funnel.least(widest, c -> c.link().latencyOrWorst());
  }

  private List<TargetCandidate> loadSafe(List<TargetCandidate> all) {
    if (byRatio(all)) {
      double limit = leastOf(all, this::ratio) + settings.loadRatioDelta();
      return Funnel.those(all, candidate -> ratio(candidate) <= limit);
    }
    double limit =
        leastOf(all, candidate -> candidate.target().inFlight()) + settings.inFlightDelta();
    return Funnel.those(all, candidate -> candidate.target().inFlight() <= limit);
  }

  private List<TargetCandidate> gpuSafe(List<TargetCandidate> all) {
    boolean strict = settings.strictReference();
    if (!strict && !Funnel.all(all, c -> c.target().gpuUtilisation().isPresent())) {
      return all;
    }
    double limit = leastOf(all, c -> c.target().gpuUtilisation().orElse(0)) + settings.gpuDelta();
    return Funnel.those(all, c -> c.target().gpuUtilisation().orElse(0) <= limit);
  }

  private List<TargetCandidate> leastLoaded(List<TargetCandidate> all) {
    boolean strict = settings.strictReference();
    List<TargetCandidate> left = byRatio(all) ? Funnel.least(all, this::ratio) : all;
    left = Funnel.least(left, candidate -> candidate.target().inFlight());
    left = Reported.least(left, candidate -> candidate.target().requestsPerSecond(), strict);
    return Reported.least(left, candidate -> candidate.target().gpuUtilisation(), strict);
  }

  private boolean byRatio(List<TargetCandidate> all) {
    return settings.window() == LoadWindow.RATIO
        && (settings.strictReference() || Funnel.all(all, c -> c.loadRatio().isPresent()));
  }

  /** The load ratio; the original reads an unknown capacity as a full one. */
  private double ratio(TargetCandidate candidate) {
    return candidate.loadRatio().orElse(1);
  }

  private static double leastOf(
      List<TargetCandidate> all, ToDoubleFunction<TargetCandidate> value) {
    double least = Double.POSITIVE_INFINITY;
    for (TargetCandidate candidate : all) {
      least = Math.min(least, value.applyAsDouble(candidate));
    }
    return least;
  }

  private static double bestAffinity(List<TargetCandidate> all) {
    double best = 0;
    for (TargetCandidate candidate : all) {
      best = Math.max(best, candidate.affinity());
    }
    return best;
  }

  private boolean sameScore(double score, double best) {
    return settings.strictReference() ? score == best : best - score <= best * SAME_SCORE;
  }
}
