package dev.warmpath.fake.study;

import java.util.Arrays;

/** A client's belief in which worker's cache which blocks are. */
interface Holdings {
  /** Workers believed to hold a block, as bits. */
  long holders(int block, double nowMs);

  /** A prompt was sent to a worker. */
  void placed(StudyPrompt prompt, int worker, double nowMs);

  /**
   * How many leading blocks of a prompt each worker is believed to hold.
   *
   * @param into one number for each worker
   */
  default void depths(StudyPrompt prompt, double nowMs, int[] into) {
    int[] blocks = prompt.blocks();
    Arrays.fill(into, 0);
    long left = into.length == Long.SIZE ? -1L : (1L << into.length) - 1;
    for (int depth = 0; depth < blocks.length && left != 0; depth++) {
      long gone = left & ~holders(blocks[depth], nowMs);
      left &= ~gone;
      for (; gone != 0; gone &= gone - 1) {
        into[Long.numberOfTrailingZeros(gone)] = depth;
      }
    }
    for (; left != 0; left &= left - 1) {
      into[Long.numberOfTrailingZeros(left)] = blocks.length;
    }
  }
}
