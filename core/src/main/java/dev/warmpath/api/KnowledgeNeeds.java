package dev.warmpath.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The knowledge that a request needs.
 *
 * @param ids ids of pieces that knowledge delivery nodes have
 * @param texts pieces whose text the application has itself; their ids are computed from it
 * @param retrieve whether the client's retriever is to look for more by the request's question
 * @param injection how it comes to the worker, or null for the client's default
 */
public record KnowledgeNeeds(
    List<String> ids,
    List<String> texts,
    boolean retrieve,
    @Nullable KnowledgeInjection injection) {

  /** Nothing. */
  public static final KnowledgeNeeds NONE = new KnowledgeNeeds(List.of(), List.of(), false, null);

  /** Copies the lists. */
  public KnowledgeNeeds {
    ids = List.copyOf(ids);
    texts = List.copyOf(texts);
  }

  /** Pieces by their ids. */
  public static KnowledgeNeeds ids(String... ids) {
    return new KnowledgeNeeds(List.of(ids), List.of(), false, null);
  }

  /** Pieces whose text is at hand. */
  public static KnowledgeNeeds texts(String... texts) {
    return new KnowledgeNeeds(List.of(), List.of(texts), false, null);
  }

  /** What the client's retriever finds. */
  public static KnowledgeNeeds retrieved() {
    return new KnowledgeNeeds(List.of(), List.of(), true, null);
  }

  /** These, injected in a way of their own. */
  public KnowledgeNeeds injectedAs(KnowledgeInjection way) {
    return new KnowledgeNeeds(ids, texts, retrieve, way);
  }

  /** Whether nothing is needed. */
  public boolean isEmpty() {
    return ids.isEmpty() && texts.isEmpty() && !retrieve;
  }

  /** Counts only: never the texts. */
  @Override
  public String toString() {
    return ids.size()
        + " ids, "
        + texts.size()
        + " texts"
        + (retrieve ? ", retrieved" : "")
        + (injection == null ? "" : ", injected as " + injection.label());
  }
}
