package dev.warmpath.index;

import dev.warmpath.worker.StableHash;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Nodes by their first keys: a fixed number of chained buckets. One writer; readers need no lock,
 * since a node that was taken out still leads on.
 */
final class BranchTable {
  private final AtomicReferenceArray<BranchNode> buckets;
  private final int mask;

  /**
   * Creates an empty table.
   *
   * @param size how many nodes are to be expected
   */
  BranchTable(int size) {
    int count = Integer.highestOneBit(Math.max(1, size - 1)) << 1;
    buckets = new AtomicReferenceArray<>(count);
    mask = count - 1;
  }

  long bytes() {
    return HeapLayout.references(buckets.length());
  }

  @Nullable BranchNode find(long first) {
    BranchNode node = buckets.get(bucket(first));
    while (node != null && node.first != first) {
      node = node.next;
    }
    return node;
  }

  void add(BranchNode node) {
    int bucket = bucket(node.first);
    node.next = buckets.get(bucket);
    buckets.set(bucket, node);
  }

  void remove(BranchNode node) {
    int bucket = bucket(node.first);
    BranchNode before = null;
    for (BranchNode at = buckets.get(bucket); at != null; at = at.next) {
      if (at == node) {
        if (before == null) {
          buckets.set(bucket, node.next);
        } else {
          before.next = node.next;
        }
        return;
      }
      before = at;
    }
  }

  /** Keys are hashes already; those of bytes and of blocks alike are mixed once more. */
  private int bucket(long first) {
    return (int) StableHash.mix(first) & mask;
  }
}
