package dev.warmpath.policy;

import dev.warmpath.index.BranchPath;
import dev.warmpath.prompt.ContentKeys;
import dev.warmpath.worker.StableHash;

/**
 * A number that stays with a conversation from turn to turn, the same in every client: of its
 * session key, or of what its home hangs on.
 */
final class ConversationKey {
  /** No conversation's key. */
  static final long NONE = 0;

  private ConversationKey() {}

  /**
   * The key of a request.
   *
   * @param workers the workers there are
   * @param path working memory
   * @return {@link #NONE} where nothing tells the conversation from others
   */
  static long of(RouteContext context, int workers, BranchPath path) {
    String session = context.options().sessionKey();
    if (session != null) {
      return StableHash.of(session);
    }
    ContentKeys keys = context.prompt().contentKeys();
    context.environment().branches().walk(keys, path);
    int fork = Hub.find(path, workers);
    if (fork == Hub.NONE) {
      return NONE;
    }
    int hub = path.end(fork);
    int unit = path.holding(Math.min(hub, keys.size() - 1));
    double count = unit < path.size() ? path.count(unit) : 1;
    return Popularity.replicas(count, path.total(), workers) == 1 ? HomeKey.of(keys, hub) : NONE;
  }
}
