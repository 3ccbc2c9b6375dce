package dev.warmpath.fake.internal.surface;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Made-up log probabilities: the same for the same token in the same place, whatever the way by
 * which they are asked for.
 */
public final class Logprobs {
  /** How much less likely each further candidate is. */
  private static final float STEP = 0.5f;

  private Logprobs() {}

  /**
   * Returns the log probability of the token in a place.
   *
   * @param tokens the sequence
   * @param place from 0
   * @return between -3 and 0
   */
  public static float of(int[] tokens, int place) {
    long hash = (tokens[place] * 0x9E3779B97F4A7C15L ^ place) * 0xD6E8FEB86659FD93L;
    return -3f * (hash >>> 40) / (1 << 24);
  }

  /**
   * Returns the likeliest tokens for a place: the one that is there, and others of the sequence.
   *
   * @param tokens the sequence
   * @param place from 0
   * @param count how many are wanted; there may be fewer different ones
   * @return ids, the likeliest first
   */
  public static List<Integer> candidates(int[] tokens, int place, int count) {
    Set<Integer> candidates = new LinkedHashSet<>();
    for (int i = 0; i < tokens.length && candidates.size() < count; i++) {
      candidates.add(tokens[(place + i) % tokens.length]);
    }
    return List.copyOf(candidates);
  }

  /**
   * Returns the log probability of a candidate.
   *
   * @param tokens the sequence
   * @param place from 0
   * @param rank its rank among the candidates, the chosen token being 0
   * @return less than 0
   */
  public static float of(int[] tokens, int place, int rank) {
    return of(tokens, place) - STEP * rank;
  }
}
