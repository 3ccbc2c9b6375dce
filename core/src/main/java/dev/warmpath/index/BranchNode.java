package dev.warmpath.index;

import dev.warmpath.prompt.ContentKeys;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A stretch of keys along which no two prompts part, as far as is known. Found by its first key,
 * which covers all before it, so that nodes need not know of each other.
 *
 * <p>Written by the one writer. A reader takes {@link #shape} once, and so sees keys and fork that
 * belong together.
 */
final class BranchNode {
  private static final int NODE_BYTES = HeapLayout.object(4, 16);
  private static final int SHAPE_BYTES = HeapLayout.object(3, 4);
  private static final int FORK_BYTES = HeapLayout.object(0, 16);

  final long first;
  volatile Shape shape;

  /** How often it was entered; see {@link Fading}. Written after the shape, read before it. */
  volatile long count;

  /** The next one in its bucket. */
  volatile @Nullable BranchNode next;

  /** The one that was used next after it; for the writer only. */
  @Nullable BranchNode newer;

  /** The one that was used last before it; for the writer only. */
  @Nullable BranchNode older;

  BranchNode(Shape shape) {
    this.first = shape.keys[0];
    this.shape = shape;
  }

  /** What it takes up on the heap. */
  long bytes() {
    Shape now = shape;
    return NODE_BYTES
        + SHAPE_BYTES
        + FORK_BYTES
        + HeapLayout.longs(now.keys)
        + HeapLayout.longs(now.children);
  }

  /**
   * Where a node lies and what follows it. Immutable but for what its fork learns.
   *
   * <p>Not a record: arrays are compared by nobody.
   */
  static final class Shape {
    private static final long[] NONE = {};

    /** The number of keys before the first. */
    final int from;

    final long[] keys;

    /** The first {@link BranchTrie#FAN} different keys that were seen to follow. */
    final long[] children;

    final Fork fork;

    Shape(int from, long[] keys) {
      this(from, keys, NONE, new Fork());
    }

    Shape(int from, long[] keys, long[] children, Fork fork) {
      this.from = from;
      this.keys = keys;
      this.children = children;
      this.fork = fork;
    }

    int to() {
      return from + keys.length;
    }

    /**
     * How many of its keys a prompt shares that has its first one. A key covers all before it, so
     * the place where they part is found by halving.
     */
    int shared(ContentKeys prompt, int size) {
      int high = Math.min(keys.length, size - from);
      if (prompt.get(from + high - 1) == keys[high - 1]) {
        return high;
      }
      int low = 1;
      high--;
      while (low < high) {
        int middle = (low + high + 1) >>> 1;
        if (prompt.get(from + middle - 1) == keys[middle - 1]) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      return low;
    }

    /**
     * Whether a prompt with this next key goes on to the node of that key: it is one of the
     * children, or may be one of those that are no longer written down.
     */
    boolean leadsTo(long key) {
      if (children.length >= BranchTrie.FAN) {
        return true;
      }
      for (long child : children) {
        if (child == key) {
          return true;
        }
      }
      return false;
    }

    /** With one more child. */
    Shape with(long child) {
      long[] more = Arrays.copyOf(children, children.length + 1);
      more[children.length] = child;
      return new Shape(from, keys, more, fork);
    }

    /** With more keys at its end, where nothing followed yet. */
    Shape and(long[] more) {
      long[] all = Arrays.copyOf(keys, keys.length + more.length);
      System.arraycopy(more, 0, all, keys.length, more.length);
      return new Shape(from, all, children, fork);
    }

    /** Its first keys, which others than the rest follow. */
    Shape head(int length) {
      return new Shape(from, Arrays.copyOf(keys, length), new long[] {keys[length]}, new Fork());
    }

    /** The rest, with what was learned at its end. */
    Shape tail(int length) {
      return new Shape(
          from + length, Arrays.copyOfRange(keys, length, keys.length), children, fork);
    }
  }
}
