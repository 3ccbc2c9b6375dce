package dev.warmpath.policy;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One part of a chain: narrows the candidates that are still in play down to those with its lowest
 * score. Immutable and without state.
 */
interface Link {
  /** The name in configuration. */
  String name();

  /**
   * Sets the score of every candidate that is in play on the board.
   *
   * @return false when it has no opinion on this request; scores are then not read
   */
  boolean score(Board board);

  /**
   * Whether it sends a request to where its prompt's KV is, or is to be, rather than to weigh that
   * against load: such a request is not kept away from a rank that is only busy.
   */
  default boolean affinity() {
    return false;
  }

  /**
   * Prompt tokens that a candidate is expected to hold, after {@link #score}; negative where that
   * is what the prefix source says.
   */
  default int expected(Board board, int candidate) {
    return -1;
  }

  /** The parts of a candidate's score, by name, after {@link #score}; they add up to it. */
  default Map<String, Double> terms(Board board, int candidate) {
    return Map.of();
  }

  /** What is to be said of this decision besides scores, after {@link #score}; null for nothing. */
  default @Nullable String note(Board board) {
    return null;
  }
}
