package dev.warmpath.index.kv;

import dev.warmpath.index.KvStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the client heard of its workers' KV caches.
 *
 * @param bytes what the engines' hashes take up
 * @param budgetBytes what they may take up
 * @param ranks the ranks that are listened to
 */
public record KvEventStats(long bytes, long budgetBytes, List<Rank> ranks) {
  private static final int MOST_NAMED = 4;

  /** Nobody is listened to. */
  public static final KvEventStats NONE = new KvEventStats(0, 0, List.of());

  /** Copies the ranks. */
  public KvEventStats {
    ranks = List.copyOf(ranks);
  }

  /**
   * Of how many ranks all is known, and of which a part, in words.
   *
   * @return null where nobody is listened to
   */
  public @Nullable String summary() {
    if (ranks.isEmpty()) {
      return null;
    }
    List<String> parts =
        ranks.stream().filter(rank -> !rank.stream().complete()).map(Rank::rank).toList();
    String all = "KV events tell all that " + (ranks.size() - parts.size()) + " of " + ranks.size();
    String some = String.join(", ", parts.subList(0, Math.min(MOST_NAMED, parts.size())));
    return all
        + " ranks hold"
        + (parts.isEmpty() ? "" : "; of " + some + " they tell a part, and the rest is guessed")
        + (parts.size() > MOST_NAMED
            ? ", as of " + (parts.size() - MOST_NAMED) + " ranks more"
            : "");
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
