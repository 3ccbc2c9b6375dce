package dev.warmpath.policy;

import dev.warmpath.api.RouteDecision.CandidateView;
import java.util.List;

/**
 * A decision taken apart. Holds no text of the prompt and no session key.
 *
 * @param candidates every candidate, best first, with the score and terms it was placed by; those
 *     that a filter left out come last, with step {@code filter} and score NaN
 * @param steps what led to the order, in words, in the order in which it was found
 */
public record RouteExplanation(List<CandidateView> candidates, List<String> steps) {
  /** Copies the lists. */
  public RouteExplanation {
    candidates = List.copyOf(candidates);
    steps = List.copyOf(steps);
  }
}
