package dev.warmpath.prompt.tokenizer.internal.huggingface;

import java.util.Arrays;

/**
 * The working arrays of one encoding thread: the symbols of the word at hand and, for long words, a
 * linked list over them and a heap of merges.
 */
final class Scratch {
  private static final int MAX_KEPT = 1 << 16;

  int[] symbols = new int[256];
  int[] ranks = new int[256];
  int[] next = new int[0];
  int[] previous = new int[0];
  long[] heap = new long[0];

  /** Makes room for a number of symbols, keeping those that are there. */
  void ensureSymbols(int count) {
    if (count > symbols.length) {
      int capacity = Math.max(count, symbols.length * 2);
      symbols = Arrays.copyOf(symbols, capacity);
      ranks = new int[capacity];
    }
  }

  /** Makes room for the list and the heap of a long word. */
  void ensureLinks(int count) {
    if (count > next.length) {
      next = new int[count];
      previous = new int[count];
      // Each merge takes one entry out and puts at most two in.
      heap = new long[3 * count];
    }
  }

  /** Whether it is small enough to be kept for later. */
  boolean isModest() {
    return symbols.length <= MAX_KEPT;
  }
}
