package dev.warmpath.index;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A node of the tree: the bytes on the edge that leads to it, what lies below, and who holds it.
 *
 * <p>What readers see never changes but for the stamps in {@link #entries}: the writer builds new
 * nodes from a changed one up to the root. A holder of a node holds all of its label and, since
 * nobody caches a suffix alone, also everything above it: the holders of a child are among its
 * parent's, except for those that are dead or expired. The root and the nodes that spell a
 * namespace have no entries; all others have some.
 */
final class Node {
  private static final byte[] NO_BYTES = {};
  private static final int SHALLOW = HeapLayout.object(6, 3 * 4 + 2);

  /** A copy of the caller's bytes: a slice would pin the whole prompt. */
  final byte[] label;

  // Most nodes have two children at most, which a reader then reaches without a detour. With more
  // of them there is a fan, and these two are null.
  private final @Nullable Node left;
  private final @Nullable Node right;
  private final @Nullable Fan fan;
  private final byte leftFirst;
  private final byte rightFirst;

  final long[] entries;

  /** The number of entries, here as well so that a reader may skip a node without touching them. */
  final int holders;

  /** The writer's alone. */
  long @Nullable [] claims;

  /** The writer's alone: no entry of this node was last used before this tick. */
  int oldestEntry;

  /** The writer's alone: no entry of this node or below was last used before this tick. */
  int oldest;

  /** More than two children, in ascending (signed) order of the first bytes of their labels. */
  private static final class Fan {
    static final int SHALLOW = HeapLayout.object(2, 0);

    final byte[] firsts;
    final Node[] nodes;

    Fan(byte[] firsts, Node[] nodes) {
      this.firsts = firsts;
      this.nodes = nodes;
    }
  }

  private Node(
      byte[] label,
      @Nullable Node left,
      @Nullable Node right,
      @Nullable Fan fan,
      long[] entries,
      long @Nullable [] claims,
      int oldestEntry,
      int oldest) {
    this.label = label;
    this.left = left;
    this.right = right;
    this.fan = fan;
    this.leftFirst = left == null ? 0 : left.label[0];
    this.rightFirst = right == null ? 0 : right.label[0];
    this.entries = entries;
    this.holders = entries.length >> 1;
    this.claims = claims;
    this.oldestEntry = oldestEntry;
    this.oldest = oldest;
  }

  /** The root of an empty tree. */
  static Node root() {
    return of(NO_BYTES, null, Entries.NONE, null);
  }

  /** A node with at most one child. */
  static Node of(byte[] label, @Nullable Node child, long[] entries, long @Nullable [] claims) {
    int oldestEntry = Entries.oldest(entries);
    int oldest = child == null ? oldestEntry : Math.min(oldestEntry, child.oldest);
    return new Node(label, child, null, null, entries, claims, oldestEntry, oldest);
  }

  boolean isRoot() {
    return label.length == 0;
  }

  /** The child whose label begins with that byte, or null. */
  @Nullable Node child(byte first) {
    Fan many = fan;
    if (many != null) {
      int at = Arrays.binarySearch(many.firsts, first);
      return at < 0 ? null : many.nodes[at];
    }
    if (left != null && leftFirst == first) {
      return left;
    }
    return right != null && rightFirst == first ? right : null;
  }

  int children() {
    return fan != null ? fan.nodes.length : right != null ? 2 : left != null ? 1 : 0;
  }

  Node child(int index) {
    Node found = fan != null ? fan.nodes[index] : index == 0 ? left : right;
    if (found == null) {
      throw new IndexOutOfBoundsException(index);
    }
    return found;
  }

  /** A copy with other entries. */
  Node with(long[] newEntries, long @Nullable [] newClaims) {
    int bound = Entries.oldest(newEntries);
    return new Node(label, left, right, fan, newEntries, newClaims, bound, Math.min(oldest, bound));
  }

  /** A copy in which one child is in another's place, added (from null) or removed (to null). */
  Node with(@Nullable Node from, @Nullable Node to) {
    int bound = to == null ? oldest : Math.min(oldest, to.oldest);
    if (from != null && to != null) {
      return new Node(
          label,
          left == from ? to : left,
          right == from ? to : right,
          fan == null ? null : replaced(fan, to),
          entries,
          claims,
          oldestEntry,
          bound);
    }
    Node[] changed = from == null ? added(to) : removed(from);
    int length = changed.length;
    return new Node(
        label,
        length == 1 || length == 2 ? changed[0] : null,
        length == 2 ? changed[1] : null,
        length > 2 ? fan(changed) : null,
        entries,
        claims,
        oldestEntry,
        bound);
  }

  private static Fan replaced(Fan fan, Node to) {
    Node[] nodes = fan.nodes.clone();
    nodes[Arrays.binarySearch(fan.firsts, to.label[0])] = to;
    return new Fan(fan.firsts, nodes);
  }

  private static Fan fan(Node[] nodes) {
    byte[] firsts = new byte[nodes.length];
    for (int i = 0; i < firsts.length; i++) {
      firsts[i] = nodes[i].label[0];
    }
    return new Fan(firsts, nodes);
  }

  private Node[] added(@Nullable Node child) {
    if (child == null) {
      throw new IllegalArgumentException("no child from nothing");
    }
    Node[] result = new Node[children() + 1];
    int to = 0;
    for (int i = 0; i < children(); i++) {
      Node present = child(i);
      if (to == i && present.label[0] > child.label[0]) {
        result[to++] = child;
      }
      result[to++] = present;
    }
    if (to == children()) {
      result[to] = child;
    }
    return result;
  }

  private Node[] removed(Node child) {
    Node[] result = new Node[children() - 1];
    int to = 0;
    for (int i = 0; i < children(); i++) {
      Node present = child(i);
      if (present != child) {
        result[to++] = present;
      }
    }
    return result;
  }

  /** The first bytes of the label, with one or two children and the same holders. */
  Node head(int length, Node below, @Nullable Node beside) {
    Node head =
        new Node(
            Arrays.copyOf(label, length),
            below,
            null,
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
    return new Node(rest, left, right, fan, entries, claims, oldestEntry, oldest);
  }

  /** Whether this node and its only child say the same of a longer label. */
  boolean mergeable(int longest) {
    if (left == null || right != null || claims != null || isRoot()) {
      return false;
    }
    return left.claims == null
        && label.length + left.label.length <= longest
        && Arrays.equals(entries, left.entries);
  }

  /** This node and its only child in one. */
  Node merged() {
    Node child = child(0);
    byte[] joined = Arrays.copyOf(label, label.length + child.label.length);
    System.arraycopy(child.label, 0, joined, label.length, child.label.length);
    return new Node(
        joined, child.left, child.right, child.fan, entries, null, child.oldestEntry, child.oldest);
  }

  /** The child below which the oldest entry may lie, or null in a leaf. */
  @Nullable Node oldestChild() {
    Node found = null;
    for (int i = 0; i < children(); i++) {
      Node child = child(i);
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
        + (fan == null ? 0 : fanBytes(fan.nodes.length))
        + (entries == Entries.NONE ? 0 : HeapLayout.longs(entries))
        + HeapLayout.longs(claims);
  }

  private static long fanBytes(int children) {
    return Fan.SHALLOW + HeapLayout.bytes(children) + HeapLayout.references(children);
  }

  /** At most what {@link #head} and {@link #tail} together take up more than this node. */
  long splitCost() {
    return SHALLOW + HeapLayout.bytes(8) + HeapLayout.longs(entries) + HeapLayout.longs(claims);
  }

  /** At most what a chain of nodes takes up that appends that many bytes for one holder. */
  static long chainCost(int bytes, int longest) {
    int nodes = (bytes + longest - 1) / longest;
    return bytes
        + nodes * (SHALLOW + HeapLayout.bytes(8) + HeapLayout.longs(2) + HeapLayout.longs(3));
  }

  /** At most what one more child, one more entry and one more claim add to a node. */
  static long growth() {
    return fanBytes(3) + 16 + HeapLayout.longs(3);
  }
}
