package dev.warmpath.knowledge;

import org.jspecify.annotations.Nullable;

/**
 * A node as the first stage sees it for one request.
 *
 * @param node the node
 * @param kvCoverLength characters of the wanted knowledge whose KV it can deliver
 * @param missingCount pieces of the wanted knowledge that it doesn't have at all
 * @param overloadReason which of its values makes it overloaded; null where none does
 */
public record NodeCandidate(
    KnowledgeNode node, long kvCoverLength, int missingCount, @Nullable String overloadReason) {

  /** Whether it has the text of everything that is wanted. */
  public boolean textFull() {
    return missingCount == 0;
  }

  /** Whether it counts as overloaded. */
  public boolean overloaded() {
    return overloadReason != null;
  }
}
