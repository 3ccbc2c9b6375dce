package dev.warmpath.index;

import org.jspecify.annotations.Nullable;

/**
 * What an engine tells of the KV cache of one of its ranks, whatever the wire: blocks by the
 * engine's own hashes, which mean nothing but the blocks of that rank.
 *
 * <p>Arrays must not be changed after they were passed in.
 */
public sealed interface KvEvent {
  /**
   * Blocks are there that follow one another. They may have been there before, in this tier or
   * another.
   *
   * @param hashes the engine's, at least one
   * @param first whether the first of them begins a prompt
   * @param parent the engine's hash of the block before the first; without meaning if there is none
   * @param tokens the tokens of all blocks, the same number for each; empty where a block covers
   *     something besides tokens, such as an image, or tokens that are not known: nothing can then
   *     be said of prompts that have it
   * @param tier where they are
   * @param keys what their request is kept apart by, see {@link KvKeys#NONE}
   */
  record Stored(long[] hashes, boolean first, long parent, int[] tokens, Tier tier, KvKeys keys)
      implements KvEvent {
    /** Checks that every block has as many tokens as the others. */
    public Stored {
      if (hashes.length == 0 || tokens.length % hashes.length != 0) {
        throw new IllegalArgumentException(
            tokens.length + " tokens are not those of " + hashes.length + " blocks");
      }
    }

    /** Sizes only: tokens are a prompt. */
    @Override
    public String toString() {
      return "Stored[" + hashes.length + " blocks, " + tokens.length + " tokens, " + tier + "]";
    }
  }

  /**
   * Blocks are no longer in a tier; what is of them in other tiers stays.
   *
   * @param hashes the engine's
   * @param tier where they were
   */
  record Removed(long[] hashes, Tier tier) implements KvEvent {
    @Override
    public String toString() {
      return "Removed[" + hashes.length + " blocks, " + tier + "]";
    }
  }

  /** The cache is empty, in all tiers. */
  record Cleared() implements KvEvent {}

  /**
   * What a request's blocks are kept apart by, as far as its engine tells.
   *
   * @param lora the LoRA adapter's name, or null
   * @param salt the cache salt, or null
   */
  record KvKeys(@Nullable String lora, @Nullable String salt) {
    /** Neither. */
    public static final KvKeys NONE = new KvKeys(null, null);

    /** Nothing of the texts: a salt is a secret of its tenant. */
    @Override
    public String toString() {
      return equals(NONE) ? "KvKeys[]" : "KvKeys[...]";
    }
  }
}
