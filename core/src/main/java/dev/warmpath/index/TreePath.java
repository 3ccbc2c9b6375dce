package dev.warmpath.index;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A way down from the root, as the writer walks it: the whole nodes, and where it ended.
 *
 * <p>The first {@link #trunk} nodes are the root and those that spell the namespace.
 */
final class TreePath {
  private Node[] nodes = new Node[64];

  /** How many bytes of the prompt end with each node. */
  private int[] ends = new int[64];

  int size;

  /** The number of nodes down to the whole namespace, or 0 if it is not there. */
  int trunk;

  /** How many bytes of the prompt (or, without it, of the namespace) the whole nodes match. */
  int matched;

  /** The node of which only the first {@link #common} bytes match, or null. */
  @Nullable Node partial;

  int common;

  void start(Node root) {
    size = 0;
    trunk = 0;
    matched = 0;
    partial = null;
    common = 0;
    push(root);
  }

  void push(Node node) {
    if (size == nodes.length) {
      nodes = Arrays.copyOf(nodes, size * 2);
      ends = Arrays.copyOf(ends, size * 2);
    }
    ends[size] = matched;
    nodes[size++] = node;
  }

  Node get(int index) {
    return nodes[index];
  }

  int end(int index) {
    return ends[index];
  }

  Node last() {
    return nodes[size - 1];
  }

  void walk(Node root, byte[] namespace, byte[] prompt, int offset, int length) {
    start(root);
    descend(namespace, 0, namespace.length);
    if (matched == namespace.length) {
      trunk = size;
      matched = 0;
      descend(prompt, offset, length);
    }
  }

  private void descend(byte[] key, int offset, int length) {
    while (matched < length) {
      Node child = last().child(key[offset + matched]);
      if (child == null) {
        return;
      }
      int most = Math.min(child.label.length, length - matched);
      int from = offset + matched;
      int differs = Arrays.mismatch(child.label, 0, most, key, from, from + most);
      int same = differs < 0 ? most : differs;
      if (same < child.label.length) {
        partial = child;
        common = same;
        return;
      }
      matched += same;
      push(child);
    }
  }
}
