package dev.warmpath.fake.internal.grpc;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Made-up log probabilities: the same for the same token in the same place. */
final class Logprobs {
  /** How much less likely each further candidate is. */
  private static final float STEP = 0.5f;

  private Logprobs() {}

  /** The log probability of the token in a place, between -3 and 0. */
  static float of(int[] tokens, int place) {
    long hash = (tokens[place] * 0x9E3779B97F4A7C15L ^ place) * 0xD6E8FEB86659FD93L;
    return -3f * (hash >>> 40) / (1 << 24);
  }

  /**
   * The likeliest tokens for a place: the one that is there, and others of the sequence.
   *
   * @param count how many are wanted; there may be fewer different ones
   */
  static List<Integer> candidates(int[] tokens, int place, int count) {
    Set<Integer> candidates = new LinkedHashSet<>();
    for (int i = 0; i < tokens.length && candidates.size() < count; i++) {
      candidates.add(tokens[(place + i) % tokens.length]);
    }
    return List.copyOf(candidates);
  }

  /** The log probability of a candidate by its rank, the chosen token being 0. */
  static float of(int[] tokens, int place, int rank) {
    return of(tokens, place) - STEP * rank;
  }
}
