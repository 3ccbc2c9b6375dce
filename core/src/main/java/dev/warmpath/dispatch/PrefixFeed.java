package dev.warmpath.dispatch;

import dev.warmpath.prompt.Prompt;
import dev.warmpath.worker.WorkerRank;

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

  /**
   * One dispatched prompt. Either {@link #confirm} or {@link #withdraw} is called, once, and after
   * the former {@link #reported} when the worker is done, and {@link #answered} if the answer is
   * known.
   */
  interface Ticket {
    /** Nothing to confirm or take back. */
    Ticket NONE =
        new Ticket() {
          @Override
          public void confirm() {}

          @Override
          public void reported(int cachedTokens) {}

          @Override
          public void answered(String answer) {}

          @Override
          public void withdraw() {}
        };

    /** The worker answered: it holds the prompt. */
    void confirm();

    /**
     * The worker is done.
     *
     * @param cachedTokens the prompt tokens that it found in its cache, by the client's own count
     *     of tokens; negative where it does not tell
     */
    void reported(int cachedTokens);

    /**
     * It holds what it generated, too. Takes as long as tokenizing the text does.
     *
     * @param answer the text it generated, nothing parsed out of it
     * @throws RuntimeException when the answer can't be tokenized; nothing is learned of it then
     */
    void answered(String answer);

    /** The attempt failed before the first byte: what only this dispatch claimed is taken back. */
    void withdraw();
  }
}
