package dev.warmpath.fake.scheduler;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The evictable leaves of a {@link RadixPool}, least recently used first.
 *
 * <p>A binary heap whose members know their slot, so that a leaf that is used, locked or given a
 * child leaves it in logarithmic time and without garbage.
 */
final class LeafHeap {
  private RadixNode[] heap = new RadixNode[16];
  private int size;

  @Nullable RadixNode oldest() {
    return size == 0 ? null : heap[0];
  }

  int size() {
    return size;
  }

  void add(RadixNode leaf) {
    if (size == heap.length) {
      heap = Arrays.copyOf(heap, size * 2);
    }
    size++;
    up(leaf, size - 1);
  }

  /** Takes a leaf out; nothing happens if it is not in. */
  void remove(RadixNode leaf) {
    int slot = leaf.slot;
    if (slot < 0) {
      return;
    }
    leaf.slot = -1;
    size--;
    RadixNode last = heap[size];
    heap[size] = null;
    if (slot == size) {
      return;
    }
    if (slot > 0 && older(last, heap[(slot - 1) / 2])) {
      up(last, slot);
    } else {
      down(last, slot);
    }
  }

  /** Moves a leaf to where it belongs after its last use became later. */
  void used(RadixNode leaf) {
    if (leaf.slot >= 0) {
      down(leaf, leaf.slot);
    }
  }

  private void up(RadixNode leaf, int from) {
    int slot = from;
    while (slot > 0) {
      int parent = (slot - 1) / 2;
      if (!older(leaf, heap[parent])) {
        break;
      }
      place(heap[parent], slot);
      slot = parent;
    }
    place(leaf, slot);
  }

  private void down(RadixNode leaf, int from) {
    int slot = from;
    int child = 2 * slot + 1;
    while (child < size) {
      if (child + 1 < size && older(heap[child + 1], heap[child])) {
        child++;
      }
      if (!older(heap[child], leaf)) {
        break;
      }
      place(heap[child], slot);
      slot = child;
      child = 2 * slot + 1;
    }
    place(leaf, slot);
  }

  private void place(RadixNode leaf, int slot) {
    heap[slot] = leaf;
    leaf.slot = slot;
  }

  /** Leaves that one operation used at the same time keep the order in which they were made. */
  private static boolean older(RadixNode one, RadixNode other) {
    return one.used < other.used || (one.used == other.used && one.id < other.id);
  }
}
