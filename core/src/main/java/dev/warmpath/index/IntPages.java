package dev.warmpath.index;

import java.util.Arrays;

/**
 * Ints in pages of one size, which readers may read while the writer adds pages: a reader that is
 * late sees fewer pages, and gets an {@link IndexOutOfBoundsException} for what it can't see.
 */
final class IntPages {
  final int shift;
  final int mask;
  private int[][] pages = {};

  IntPages(int shift) {
    this.shift = shift;
    this.mask = (1 << shift) - 1;
  }

  int[] page(int at) {
    return pages[at >>> shift];
  }

  int get(int at) {
    return pages[at >>> shift][at & mask];
  }

  void set(int at, int value) {
    pages[at >>> shift][at & mask] = value;
  }

  int size() {
    return pages.length << shift;
  }

  void grow() {
    int[][] grown = Arrays.copyOf(pages, pages.length + 1);
    grown[pages.length] = new int[1 << shift];
    pages = grown;
  }

  /** What a page takes up, with its share of the directory. */
  long pageBytes() {
    return HeapLayout.ints(1 << shift) + Long.BYTES;
  }
}
