package dev.warmpath.policy;

/**
 * A {@link Scorer} and how much it counts.
 *
 * @param name the term's name in {@code explain}
 * @param scorer gives the candidate's cost
 * @param weight multiplies it; negative where more is better
 */
public record WeightedScorer(String name, Scorer scorer, double weight) {
  /** Checks the weight. */
  public WeightedScorer {
    if (!Double.isFinite(weight)) {
      throw new IllegalArgumentException("weight " + weight + " of " + name + " must be finite");
    }
  }
}
