package dev.warmpath.knowledge;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the knowledge that a question needs. Called on the thread of the request, before it is
 * decided on, from many threads at once; its time is the request's. What it throws counts as
 * nothing found.
 */
@FunctionalInterface
public interface KnowledgeRetriever {

  /**
   * A piece that was found.
   *
   * @param id its id
   * @param text its text, or null where nodes are to deliver it
   * @param score how well it fits, more being better
   */
  record Found(String id, @Nullable String text, double score) {
    /** A piece whose text is at hand. */
    public static Found of(String text, double score) {
      return new Found(KnowledgeIds.of(text), text, score);
    }

    /** Id and score only: never the text. */
    @Override
    public String toString() {
      return id + " " + score;
    }
  }

  /**
   * Looks for knowledge.
   *
   * @param question the last thing the user says; never blank
   * @return what fits, best first
   */
  List<Found> retrieve(String question);
}
