package dev.warmpath.index;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A node of the tree: the bytes on the edge that leads to it, what lies below, and who holds it.
 *
 * <p>What readers see never changes but for the stamps in {@link #entries}: the writer builds new
 * nodes from a changed one up to the root. A holder of a node holds all of its label and, since
 * nobody caches a suffix alone, also everything above it: the live holders of a child are among its
 * parent's. The root and the nodes that spell a namespace have no entries; all others have some.
 */
final class Node {
  private static final Node[] LEAF = {};
  private static final byte[] NO_BYTES = {};

  /** As many first bytes as fit into a long are searched without touching another object. */
  private static final int NARROW = 8;

  private static final long ONES = 0x0101010101010101L;
  private static final long TOPS = 0x8080808080808080L;

  private static final int SHALLOW = HeapLayout.object(5, 8 + 4 + 4 + 4);

  /** A copy of the caller's bytes: a slice would pin the whole prompt. */
  final byte[] label;

  /** In ascending (signed) order of the first bytes of their labels. */
  final Node[] children;

  /** The first bytes of the children's labels, packed from the low end if there are at most 8. */
  final long narrow;

  /** The first bytes of the children's labels if there are more than 8. */
  final byte @Nullable [] wide;

  final long[] entries;

  /** The number of entries, here as well so that a reader may skip a node without touching them. */
  final int holders;

  /** The writer's alone. */
  long @Nullable [] claims;

  /** The writer's alone: no entry of this node was last used before this tick. */
  int oldestEntry;

  /** The writer's alone: no entry of this node or below was last used before this tick. */
  int oldest;

  private Node(
      byte[] label,
      Node[] children,
      long narrow,
      byte @Nullable [] wide,
      long[] entries,
      long @Nullable [] claims,
      int oldestEntry,
      int oldest) {
    this.label = label;
    this.children = children;
    this.narrow = narrow;
    this.wide = wide;
    this.entries = entries;
    this.holders = entries.length >> 1;
    this.claims = claims;
    this.oldestEntry = oldestEntry;
    this.oldest = oldest;
  }

  /** The root of an empty tree. */
  static Node root() {
    return new Node(NO_BYTES, LEAF, 0, null, Entries.NONE, null, Entries.NEVER, Entries.NEVER);
  }

  /** A node with at most one child. */
  static Node of(byte[] label, @Nullable Node child, long[] entries, long @Nullable [] claims) {
    int oldestEntry = Entries.oldest(entries);
    Node[] children = child == null ? LEAF : new Node[] {child};
    return new Node(
        label,
        children,
        pack(children),
        null,
        entries,
        claims,
        oldestEntry,
        child == null ? oldestEntry : Math.min(oldestEntry, child.oldest));
  }

  boolean isRoot() {
    return label.length == 0;
  }

  @Nullable Node child(byte first) {
    int at = indexOf(first);
    return at >= 0 && at < children.length ? children[at] : null;
  }

  /** The index of the child, or a number outside of the children's range. */
  private int indexOf(byte first) {
    byte[] all = wide;
    if (all != null) {
      return Arrays.binarySearch(all, first);
    }
    // The lowest zero byte is found exactly; an unused one lies above every child.
    long difference = narrow ^ (first & 0xFF) * ONES;
    return Long.numberOfTrailingZeros((difference - ONES) & ~difference & TOPS) >>> 3;
  }

  private static long pack(Node[] children) {
    long packed = 0;
    for (int i = 0; i < children.length; i++) {
      packed |= (children[i].label[0] & 0xFFL) << (8 * i);
    }
    return packed;
  }

  /** A copy with other entries. */
  Node with(long[] newEntries, long @Nullable [] newClaims) {
    int bound = Entries.oldest(newEntries);
    return new Node(
        label, children, narrow, wide, newEntries, newClaims, bound, Math.min(oldest, bound));
  }

  /**
   * A copy in which one child is put in another's place, added (from null) or removed (to null).
   */
  Node with(@Nullable Node from, @Nullable Node to) {
    Node[] changed;
    if (from != null && to != null) {
      changed = children.clone();
      changed[indexOf(from.label[0])] = to;
      return new Node(
          label, changed, narrow, wide, entries, claims, oldestEntry, Math.min(oldest, to.oldest));
    }
    if (to != null) {
      changed = new Node[children.length + 1];
      int at = 0;
      while (at < children.length && children[at].label[0] < to.label[0]) {
        at++;
      }
      System.arraycopy(children, 0, changed, 0, at);
      changed[at] = to;
      System.arraycopy(children, at, changed, at + 1, children.length - at);
    } else if (from != null && children.length > 1) {
      changed = new Node[children.length - 1];
      int at = indexOf(from.label[0]);
      System.arraycopy(children, 0, changed, 0, at);
      System.arraycopy(children, at + 1, changed, at, changed.length - at);
    } else {
      changed = LEAF;
    }
    long packed = 0;
    byte[] all = null;
    if (changed.length <= NARROW) {
      packed = pack(changed);
    } else {
      all = new byte[changed.length];
      for (int i = 0; i < all.length; i++) {
        all[i] = changed[i].label[0];
      }
    }
    int bound = to == null ? oldest : Math.min(oldest, to.oldest);
    return new Node(label, changed, packed, all, entries, claims, oldestEntry, bound);
  }

  /** The first bytes of the label, with the given child or two below and the same holders. */
  Node head(int length, Node below, @Nullable Node beside) {
    Node head =
        new Node(
            Arrays.copyOf(label, length),
            new Node[] {below},
            below.label[0] & 0xFFL,
            null,
            entries.length == 0 ? Entries.NONE : entries.clone(),
            claims == null ? null : claims.clone(),
            oldestEntry,
            oldest);
    return beside == null ? head : head.with(null, beside);
  }

  /** The label without its first bytes, with the same children and holders. */
  Node tail(int from) {
    byte[] rest = Arrays.copyOfRange(label, from, label.length);
    return new Node(rest, children, narrow, wide, entries, claims, oldestEntry, oldest);
  }

  /** Whether this node and its only child say the same of a longer label. */
  boolean mergeable(int longest) {
    if (children.length != 1 || claims != null || isRoot()) {
      return false;
    }
    Node child = children[0];
    return child.claims == null
        && label.length + child.label.length <= longest
        && Arrays.equals(entries, child.entries);
  }

  /** This node and its only child in one. */
  Node merged() {
    Node child = children[0];
    byte[] joined = Arrays.copyOf(label, label.length + child.label.length);
    System.arraycopy(child.label, 0, joined, label.length, child.label.length);
    return new Node(
        joined,
        child.children,
        child.narrow,
        child.wide,
        entries,
        null,
        child.oldestEntry,
        child.oldest);
  }

  /** The child below which the oldest entry may lie, or null in a leaf. */
  @Nullable Node oldestChild() {
    Node found = null;
    for (Node child : children) {
      if (found == null || child.oldest < found.oldest) {
        found = child;
      }
    }
    return found;
  }

  /** Raises the bound to what the children's bounds allow. */
  void tighten() {
    Node child = oldestChild();
    oldest = child == null ? oldestEntry : Math.min(oldestEntry, child.oldest);
  }

  /** What the node takes up on the heap, its children not counted. */
  long bytes() {
    return SHALLOW
        + HeapLayout.bytes(label)
        + (children == LEAF ? 0 : HeapLayout.references(children.length))
        + HeapLayout.bytes(wide)
        + (entries == Entries.NONE ? 0 : HeapLayout.longs(entries))
        + HeapLayout.longs(claims);
  }

  /** At most what {@link #head} and {@link #tail} together take up more than this node. */
  long splitCost() {
    return SHALLOW
        + HeapLayout.bytes(0)
        + 16
        + HeapLayout.references(2)
        + HeapLayout.longs(entries)
        + HeapLayout.longs(claims);
  }

  /** At most what a chain of nodes takes up that appends that many bytes for one holder. */
  static long chainCost(int bytes, int longest) {
    int nodes = (bytes + longest - 1) / longest;
    return bytes
        + nodes
            * (SHALLOW
                + HeapLayout.bytes(0)
                + 16
                + HeapLayout.references(1)
                + HeapLayout.longs(2)
                + HeapLayout.longs(3));
  }

  /** At most what one more child, one more entry and one more claim add to a node. */
  static long growth() {
    return 16 + HeapLayout.longs(3) + HeapLayout.bytes(NARROW + 1) + 16;
  }
}
