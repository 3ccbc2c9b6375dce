package dev.warmpath.policy;

import dev.warmpath.worker.WorkerRank;
import org.jspecify.annotations.Nullable;

/**
 * Who should answer a request by where its knowledge is, as it was chosen before the prompt was
 * rendered: what {@link Policies#knowledgeTarget()} and {@link Policies#knowledgeAffinity()} go by.
 * Immutable and quick: it is asked for every candidate of a decision.
 */
public interface KnowledgeChoice {
  /** No knowledge is wanted, or nobody was chosen. */
  KnowledgeChoice NONE =
      new KnowledgeChoice() {
        @Override
        public boolean made() {
          return false;
        }

        @Override
        public boolean prefers(WorkerRank candidate) {
          return false;
        }

        @Override
        public double affinity(WorkerRank candidate) {
          return Double.NaN;
        }

        @Override
        public @Nullable String note() {
          return null;
        }
      };

  /** Whether somebody was chosen. */
  boolean made();

  /** Whether a candidate is who was chosen, or one of them where that is a group. */
  boolean prefers(WorkerRank candidate);

  /**
   * How much of the request's knowledge a candidate was given lately, 0 to 1, where 1 is what the
   * best of all was given; NaN where nobody was given any.
   */
  double affinity(WorkerRank candidate);

  /** What is to be said of the choice, or null for nothing. */
  @Nullable String note();
}
