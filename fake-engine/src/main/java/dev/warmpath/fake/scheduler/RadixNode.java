package dev.warmpath.fake.scheduler;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An edge of a {@link RadixPool} with the pages on it. A sequence keeps the deepest one of its
 * prefix as its handle.
 */
final class RadixNode {
  /** Order of creation. */
  final long id;

  /** Null for the root only. */
  @Nullable RadixNode parent;

  /** Chained hashes of the pages, of which the first {@link #pages} are in use. */
  long[] hashes;

  int pages;

  /** Pages from the root to the end of this node. */
  int end;

  int children;

  /** Sequences that hold this node or one below it. */
  int locks;

  /** When a sequence last came by, in operations of the pool. */
  long used;

  /** Place in the {@link LeafHeap}, or -1. */
  int slot = -1;

  RadixNode(long id, @Nullable RadixNode parent, long[] hashes, int end) {
    this.id = id;
    this.parent = parent;
    this.hashes = hashes;
    this.pages = hashes.length;
    this.end = end;
  }

  /** Number of the node's pages that equal a sequence's pages from where its parent ends. */
  int common(long[] sequence, int limit) {
    int start = end - pages;
    int most = Math.min(pages, limit - start);
    int count = 0;
    while (count < most && hashes[count] == sequence[start + count]) {
      count++;
    }
    return count;
  }

  void append(long[] sequence, int to) {
    int added = to - end;
    if (pages + added > hashes.length) {
      hashes = Arrays.copyOf(hashes, Math.max(pages + added, pages + pages / 2 + 1));
    }
    System.arraycopy(sequence, end, hashes, pages, added);
    pages += added;
    end = to;
  }

  /** Gives up the last pages. */
  void truncate(int removed) {
    pages -= removed;
    end -= removed;
    if (pages < hashes.length / 2) {
      hashes = Arrays.copyOf(hashes, pages);
    }
  }
}
