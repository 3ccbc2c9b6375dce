package dev.warmpath.fake.scheduler;

import java.util.Objects;

/**
 * What a sequence consists of, as far as its cache identity goes. Two sequences share a prefix
 * exactly as long as their sources say the same. The arrays are not copied; nobody may change them
 * afterwards.
 */
public sealed interface BlockSource {

  /**
   * Token ids.
   *
   * @param prompt prompt token ids
   * @param output the token ids that will be generated
   */
  record Tokens(int[] prompt, int[] output) implements BlockSource {
    /** Checks that the arrays are present. */
    public Tokens {
      Objects.requireNonNull(prompt, "prompt");
      Objects.requireNonNull(output, "output");
    }
  }

  /**
   * Identities of equally long stretches, as traces give them: every token of a stretch counts as
   * if it were the stretch's identity. What lies behind the last stretch is unlike anything else.
   *
   * @param ids one identity per stretch, from the start of the prompt; may go on into the output
   * @param tokensPerId tokens in a stretch, independent of the engine's block size
   */
  record Stretches(long[] ids, int tokensPerId) implements BlockSource {
    /** Checks that the stretches are present and have a length. */
    public Stretches {
      Objects.requireNonNull(ids, "ids");
      if (tokensPerId < 1) {
        throw new IllegalArgumentException("tokensPerId must be at least 1, was " + tokensPerId);
      }
    }
  }

  /**
   * Chained hashes at the engine's own block size, which cache events then carry unchanged. What
   * lies behind the last one is unlike anything else. The cache namespace has no influence on them.
   *
   * @param hashes one hash per full block, from the start of the prompt, each standing for
   *     everything up to its block's end; may go on into the output
   */
  record Chained(long[] hashes) implements BlockSource {
    /** Checks that the hashes are present. */
    public Chained {
      Objects.requireNonNull(hashes, "hashes");
    }
  }
}
