package dev.warmpath.dispatch;

import dev.warmpath.prompt.Prompt;
import dev.warmpath.worker.WorkerRank;
import org.jspecify.annotations.Nullable;

/**
 * Teaches the index what workers come to hold. A prompt counts as held from its dispatch on, since
 * the next request of the conversation may come before this one's answer.
 */
public interface PrefixFeed {
  /** Learns nothing. */
  PrefixFeed NONE =
      new PrefixFeed() {
        @Override
        public Ticket dispatched(Prompt prompt, WorkerRank target) {
          return Ticket.NONE;
        }

        @Override
        public void gone(WorkerRank rank) {}
      };

  /** {@code prompt} is about to be sent to {@code target}. Never blocks for long, never fails. */
  Ticket dispatched(Prompt prompt, WorkerRank target);

  /** That rank of that incarnation is gone, and its cache with it. */
  void gone(WorkerRank rank);

  /** One dispatched prompt; one of the two is called, once. */
  interface Ticket {
    /** Nothing to confirm or take back. */
    Ticket NONE =
        new Ticket() {
          @Override
          public void confirm(@Nullable String answer) {}

          @Override
          public void withdraw() {}
        };

    /**
     * The worker answered: it holds the prompt, and what it generated.
     *
     * @param answer the text it generated, or null where that is not known
     */
    void confirm(@Nullable String answer);

    /** The attempt failed before the first byte: what only this dispatch claimed is taken back. */
    void withdraw();
  }
}
