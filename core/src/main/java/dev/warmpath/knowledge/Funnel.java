package dev.warmpath.knowledge;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.function.UnaryOperator;

/**
 * Candidates that steps narrow, each with a report. No step empties it. Not thread safe; lives for
 * one decision.
 *
 * @param <C> a candidate
 */
final class Funnel<C> {

  private final Function<C, String> id;
  private final List<KnowledgeStep> steps = new ArrayList<>(6);
  private List<C> left;

  Funnel(List<C> candidates, Function<C, String> id) {
    this.left = candidates;
    this.id = id;
  }

  /** Who is left, in the order in which they came. */
  List<C> left() {
    return left;
  }

  List<KnowledgeStep> steps() {
    return steps;
  }

  /** Keeps whom a condition holds for; everybody where it holds for nobody. */
  void prefer(String step, Predicate<C> condition) {
    narrow(step, all -> those(all, condition));
  }

  /** Those whom a condition holds for; the very list where it holds for all. */
  static <T> List<T> those(List<T> all, Predicate<T> condition) {
    List<T> kept = new ArrayList<>(all.size());
    for (T candidate : all) {
      if (condition.test(candidate)) {
        kept.add(candidate);
      }
    }
    return kept.size() == all.size() ? all : kept;
  }

  /** Whether a condition holds for all. A loop: streams cost more than what they ask here. */
  static <T> boolean all(List<T> all, Predicate<T> condition) {
    for (T candidate : all) {
      if (!condition.test(candidate)) {
        return false;
      }
    }
    return true;
  }

  /** Keeps those with the least value, which exact comparison decides. */
  void least(String step, ToDoubleFunction<C> value) {
    narrow(step, all -> least(all, value));
  }

  /** Keeps what a rule leaves of the candidates; everybody where it leaves nobody. */
  void narrow(String step, UnaryOperator<List<C>> rule) {
    List<C> before = left;
    List<C> kept = before.isEmpty() ? before : rule.apply(before);
    boolean fellBack = kept.isEmpty() && !before.isEmpty();
    left = fellBack ? before : kept;
    steps.add(new KnowledgeStep(step, before.size(), left.size(), dropped(before), fellBack));
  }

  /** Those with the least value. */
  static <T> List<T> least(List<T> all, ToDoubleFunction<T> value) {
    double least = Double.POSITIVE_INFINITY;
    List<T> kept = new ArrayList<>();
    for (T candidate : all) {
      double its = value.applyAsDouble(candidate);
      if (its < least) {
        kept.clear();
        least = its;
      }
      if (its == least) {
        kept.add(candidate);
      }
    }
    return kept;
  }

  /**
   * Whom the last step dropped: those of the former list that the new one, in the same order,
   * skips.
   */
  private List<String> dropped(List<C> before) {
    if (before.size() == left.size()) {
      return List.of();
    }
    List<String> ids = new ArrayList<>(before.size() - left.size());
    int next = 0;
    for (C candidate : before) {
      if (next < left.size() && left.get(next) == candidate) {
        next++;
      } else {
        ids.add(id.apply(candidate));
      }
    }
    return ids;
  }
}
