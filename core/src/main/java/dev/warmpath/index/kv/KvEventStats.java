package dev.warmpath.index.kv;

import dev.warmpath.index.KvStream;
import java.util.List;

/**
 * What the client heard of its workers' KV caches.
 *
 * @param bytes what the engines' hashes take up
 * @param budgetBytes what they may take up
 * @param ranks the ranks that are listened to
 */
public record KvEventStats(long bytes, long budgetBytes, List<Rank> ranks) {
  /** Nobody is listened to. */
  public static final KvEventStats NONE = new KvEventStats(0, 0, List.of());

  /** Copies the ranks. */
  public KvEventStats {
    ranks = List.copyOf(ranks);
  }

  /**
   * A rank that is listened to.
   *
   * @param rank its name
   * @param endpoint where it tells
   * @param connected whether it can be heard at this moment
   * @param malformed messages that could not be read, or were not the rank's
   * @param stream what came of it
   */
  public record Rank(
      String rank, String endpoint, boolean connected, long malformed, KvStream.Stats stream) {}
}
