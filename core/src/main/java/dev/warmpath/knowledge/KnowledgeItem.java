package dev.warmpath.knowledge;

/**
 * What a node says of one piece of knowledge.
 *
 * @param length characters of the normalised text, not tokens
 * @param kvReady whether its KV cache can be delivered; false where only the text can
 */
public record KnowledgeItem(int length, boolean kvReady) {

  /** Refuses a negative length. */
  public KnowledgeItem {
    if (length < 0) {
      throw new IllegalArgumentException("length of knowledge must be 0 or more, not " + length);
    }
  }
}
