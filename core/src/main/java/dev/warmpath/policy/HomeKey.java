package dev.warmpath.policy;

import dev.warmpath.prompt.ContentKeys;
import dev.warmpath.worker.StableHash;

/**
 * What a prompt's home is found by: {@link StableHash#mix} of a content key and a constant that
 * tells what it stands for. All of it is fixed for ever, as {@link ContentKeys} and {@link
 * StableHash} are: clients of different versions serve one fleet. A worker's weight for a key is
 * {@link StableHash#pair} of the key and the hash of its name; the largest, unsigned, wins.
 */
final class HomeKey {
  /** The first key after the hub. */
  private static final long BRANCH = 0x68e4b0a1c39d5f27L;

  /** A whole prompt, which ends at its hub. */
  private static final long WHOLE = 0x1b56c4f98d02e37aL;

  /** The hub itself. */
  private static final long HUB = 0x5cf3a9e70b1648d2L;

  /** A session key that the caller gave. */
  private static final long SESSION = 0x2f8d713ce6b094a5L;

  private HomeKey() {}

  /**
   * The key of a prompt that has content keys.
   *
   * @param hub how many of them lead up to its hub
   */
  static long of(ContentKeys keys, int hub) {
    return hub < keys.size()
        ? StableHash.mix(keys.get(hub) ^ BRANCH)
        : StableHash.mix(keys.get(keys.size() - 1) ^ WHOLE);
  }

  /** The key of a hub, of which {@code hub} content keys are. */
  static long ofHub(ContentKeys keys, int hub) {
    return StableHash.mix(keys.get(hub - 1) ^ HUB);
  }

  /** The key of a caller's session, which prompts of other namespaces don't share. */
  static long ofSession(String session, long namespace) {
    return StableHash.mix(StableHash.of(session) ^ namespace ^ SESSION);
  }
}
