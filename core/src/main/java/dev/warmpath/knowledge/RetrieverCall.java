package dev.warmpath.knowledge;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks an application's retriever, whose failures cost no request. Thread safe. */
final class RetrieverCall {
  private static final Logger log = LoggerFactory.getLogger(RetrieverCall.class);

  private final @Nullable KnowledgeRetriever retriever;
  private final AtomicBoolean complained = new AtomicBoolean();

  RetrieverCall(@Nullable KnowledgeRetriever retriever) {
    this.retriever = retriever;
  }

  List<KnowledgeRetriever.Found> find(String question) {
    KnowledgeRetriever its = retriever;
    if (its == null || question.isBlank()) {
      return List.of();
    }
    try {
      return List.copyOf(its.retrieve(question));
    } catch (RuntimeException e) {
      if (complained.compareAndSet(false, true)) {
        // Its message may hold what was asked.
        log.warn(
            "The retriever failed ({}): requests go without its knowledge; this is logged once",
            e.getClass().getName());
      }
      return List.of();
    }
  }
}
