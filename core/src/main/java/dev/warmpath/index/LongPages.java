package dev.warmpath.index;

import java.util.Arrays;

/**
 * Longs in pages of one size, which readers may read while the writer adds pages: a reader that is
 * late sees fewer pages, and gets an {@link IndexOutOfBoundsException} for what it can't see.
 */
final class LongPages {
  final int shift;
  final int mask;
  private long[][] pages = {};

  LongPages(int shift) {
    this.shift = shift;
    this.mask = (1 << shift) - 1;
  }

  long[] page(int at) {
    return pages[at >>> shift];
  }

  long get(int at) {
    return pages[at >>> shift][at & mask];
  }

  void set(int at, long value) {
    pages[at >>> shift][at & mask] = value;
  }

  int size() {
    return pages.length << shift;
  }

  void grow() {
    long[][] grown = Arrays.copyOf(pages, pages.length + 1);
    grown[pages.length] = new long[1 << shift];
    pages = grown;
  }

  /** What a page takes up, with its share of the directory. */
  long pageBytes() {
    return HeapLayout.longs(1 << shift) + Long.BYTES;
  }
}
