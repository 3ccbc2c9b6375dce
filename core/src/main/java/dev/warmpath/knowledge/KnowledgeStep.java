package dev.warmpath.knowledge;

import java.util.List;

/**
 * What one step of a decision did. A step prefers, it never excludes: where nobody is as it wants,
 * everybody stays.
 *
 * @param name the step
 * @param in how many candidates came
 * @param out how many stayed; at least one where any came
 * @param dropped ids of those that did not stay
 * @param fellBack whether nobody was as the step wants, so that all stayed
 */
public record KnowledgeStep(String name, int in, int out, List<String> dropped, boolean fellBack) {

  /** Copies the ids. */
  public KnowledgeStep {
    dropped = List.copyOf(dropped);
  }
}
