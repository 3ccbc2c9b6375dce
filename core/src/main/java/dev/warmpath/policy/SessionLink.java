package dev.warmpath.policy;

import dev.warmpath.api.RouteOptions;
import dev.warmpath.worker.StableHash;
import org.jspecify.annotations.Nullable;

/**
 * The rank that the session key's rendezvous hash picks, then the second by the same order, and so
 * on: every client agrees, and a worker that comes or goes moves its own keys only.
 */
final class SessionLink implements Link {
  @Override
  public String name() {
    return "session";
  }

  @Override
  public boolean affinity() {
    return true;
  }

  private static @Nullable String key(RouteOptions options) {
    return options.sessionKey() != null ? options.sessionKey() : options.user();
  }

  @Override
  public boolean score(Board board) {
    String key = key(board.context().options());
    if (key == null) {
      return false;
    }
    long hash = StableHash.of(key);
    for (int k = 0; k < board.liveCount(); k++) {
      int i = board.live(k);
      long weight = StableHash.pair(hash, board.rank(i).stableHash());
      board.score[i] = (~weight >>> 11) * 0x1p-53;
    }
    return true;
  }

  @Override
  public @Nullable String note(Board board) {
    RouteOptions options = board.context().options();
    if (options.sessionKey() != null) {
      return null;
    }
    return options.user() == null ? "no session key" : "session keyed by the user";
  }
}
