package dev.warmpath.hash;

import org.jspecify.annotations.Nullable;

/**
 * Hashes the blocks of one prompt in order: the part of a chain that differs between schemes. Holds
 * the chained digest of the last block and reusable buffers. Not thread safe.
 */
abstract class BlockHasher {

  /**
   * Hashes the next block, which begins at {@code tokens[from]}. Ids are unsigned 32-bit.
   *
   * @param count tokens the block advances by; a scheme with look-ahead reads one more
   * @param firstToken position of the block in the prompt
   * @param extras what else the block covers
   */
  abstract void next(
      int[] tokens, int from, int count, long firstToken, @Nullable BlockExtras extras);

  /** Like {@link #next} for a block with an id beyond 32 bits, which the scheme has allowed. */
  void nextWide(long[] tokens, int from, int count, long firstToken, @Nullable BlockExtras extras) {
    throw new IllegalStateException("the scheme takes no ids beyond 32 bits");
  }

  /** The reported bits of the last block. */
  abstract long reported();

  /** The position-independent hash of the last block, in schemes that have one. */
  long local() {
    throw new IllegalStateException("the scheme has no local hashes");
  }

  /**
   * Word {@code index} of the last block's digest, big-endian, in schemes whose digest is wider
   * than what they report.
   */
  long digestWord(int index) {
    throw new IllegalStateException("the scheme has no wider digests");
  }

  /** What the next block's hash will begin with, or null where nothing precedes it. */
  abstract byte @Nullable [] link();
}
