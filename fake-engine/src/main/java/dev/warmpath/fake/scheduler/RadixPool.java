package dev.warmpath.fake.scheduler;

import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The KV pages of one SGLang rank and the radix tree that finds them again ({@code
 * srt/mem_cache/radix_cache.py}).
 *
 * <p>A page is free, private to one sequence that is still computing it, or in the tree. A sequence
 * locks the path of its prefix; what no sequence locks can be evicted, the least recently used leaf
 * first and from its end, so that a page never outlives its parent. A prefix has one copy: whoever
 * brings pages that the tree has already gives them back.
 *
 * <p>With a tier below, an evicted page is quarantined until its content has been copied.
 *
 * <p>Pages are known by chained hashes, each of which stands for everything from the start of the
 * sequence. Physical pages are only counted.
 */
final class RadixPool {
  private final int capacity;
  private final RadixNode root = new RadixNode(0, null, new long[0], 0);
  private final Map<Long, RadixNode> byFirstPage = new HashMap<>();
  private final LeafHeap leaves = new LeafHeap();
  private long operations;
  private long nodesMade;
  private long version;
  private int free;
  private int evictable;
  private int locked;
  private int quarantined;
  private @Nullable LowerTier lower;

  /** Takes what is evicted. */
  interface LowerTier {
    /**
     * Offers a page that is being evicted.
     *
     * @return true if it must be kept until {@link RadixPool#freeQuarantined}
     */
    boolean accept(long hash, long parentHash, boolean root);

    /** Ends a series of offers. */
    void commit();
  }

  RadixPool(int capacity) {
    this.capacity = capacity;
    this.free = capacity;
  }

  /** Evictions go there from now on. */
  void lowerTier(LowerTier tier) {
    lower = tier;
  }

  int capacity() {
    return capacity;
  }

  /** The empty prefix, which is always there and never locked. */
  RadixNode root() {
    return root;
  }

  int free() {
    return free;
  }

  /** Pages in the tree that no sequence locks. */
  int evictable() {
    return evictable;
  }

  /** Pages in the tree that sequences lock. */
  int locked() {
    return locked;
  }

  /** Pages that nobody owns and whose content is on its way to the lower tier. */
  int quarantined() {
    return quarantined;
  }

  /** Pages that sequences hold outside of the tree. */
  int privatePages() {
    return capacity - free - evictable - locked - quarantined;
  }

  /** Every node but the root, in no order. */
  Collection<RadixNode> nodes() {
    return Collections.unmodifiableCollection(byFirstPage.values());
  }

  /** Leaves that can be evicted. */
  int evictableLeaves() {
    return leaves.size();
  }

  /** A prefix in the tree: how long it is, and how much of it no sequence locks. */
  record Prefix(int pages, int evictable) {}

  /** Looks for the longest prefix in the tree; no use of it is recorded. */
  Prefix look(long[] hashes, int limit) {
    RadixNode at = root;
    int found = 0;
    int unlocked = 0;
    while (found == at.end && found < limit) {
      RadixNode child = byFirstPage.get(hashes[found]);
      if (child == null) {
        break;
      }
      int common = child.common(hashes, limit);
      found += common;
      unlocked += child.locks == 0 ? common : 0;
      at = child;
    }
    return new Prefix(found, unlocked);
  }

  /** Changes whenever {@link #look} might find something else. */
  long version() {
    return version;
  }

  /** Finds the longest prefix in the tree and counts that as a use; it ends at the node's end. */
  RadixNode match(long[] hashes, int limit) {
    operations++;
    RadixNode at = root;
    while (at.end < limit) {
      RadixNode child = byFirstPage.get(hashes[at.end]);
      if (child == null) {
        break;
      }
      int common = child.common(hashes, limit);
      if (common < child.pages) {
        return split(child, common);
      }
      touch(child);
      at = child;
    }
    return at;
  }

  /** Protects a prefix from eviction. */
  void lock(RadixNode node) {
    version++;
    for (RadixNode at = node; at.parent != null; at = at.parent) {
      if (at.locks++ == 0) {
        leaves.remove(at);
        evictable -= at.pages;
        locked += at.pages;
      }
    }
  }

  /** Ends one {@link #lock} of the same node. */
  void unlock(RadixNode node) {
    version++;
    for (RadixNode at = node; at.parent != null; at = at.parent) {
      if (--at.locks == 0) {
        locked -= at.pages;
        evictable += at.pages;
        if (at.children == 0) {
          leaves.add(at);
        }
      }
    }
  }

  /**
   * Takes pages for a sequence, evicting where needed. All or nothing.
   *
   * @param removed hears the hashes of evicted pages, children before their parents
   * @return false if there are too few, and nothing has changed, or if there will be enough when
   *     the lower tier has copied some
   */
  boolean take(int pages, LongConsumer removed) {
    if (!makeFree(pages, removed)) {
      return false;
    }
    free -= pages;
    return true;
  }

  /** Evicts until so many pages are free; see {@link #take}. */
  boolean makeFree(int pages, LongConsumer removed) {
    if (pages > free + evictable + quarantined) {
      return false;
    }
    int missing = pages - free - quarantined;
    if (missing > 0) {
      LowerTier tier = lower;
      int before = quarantined;
      evict(missing, removed, tier);
      if (tier != null && quarantined > before) {
        tier.commit();
      }
    }
    return pages <= free;
  }

  /** The content of a quarantined page has been copied. */
  void freeQuarantined() {
    quarantined--;
    free++;
  }

  /** Frees pages that a sequence held outside of the tree. */
  void give(int pages) {
    free += pages;
  }

  private void evict(int pages, LongConsumer removed, @Nullable LowerTier tier) {
    int missing = pages;
    version++;
    while (missing > 0) {
      RadixNode leaf = leaves.oldest();
      if (leaf == null) {
        throw new IllegalStateException("no leaf to evict");
      }
      int evicted = Math.min(missing, leaf.pages);
      for (int i = leaf.pages - 1; i >= leaf.pages - evicted; i--) {
        removed.accept(leaf.hashes[i]);
        if (tier != null && offer(leaf, i, tier)) {
          quarantined++;
          free--;
        }
      }
      missing -= evicted;
      evictable -= evicted;
      free += evicted;
      if (evicted == leaf.pages) {
        drop(leaf);
      } else {
        leaf.truncate(evicted);
      }
    }
  }

  private static boolean offer(RadixNode leaf, int page, LowerTier tier) {
    if (page > 0) {
      return tier.accept(leaf.hashes[page], leaf.hashes[page - 1], false);
    }
    RadixNode above = leaf.parent;
    boolean first = above == null || above.pages == 0;
    return tier.accept(
        leaf.hashes[0], above == null || first ? 0 : above.hashes[above.pages - 1], first);
  }

  private void drop(RadixNode leaf) {
    leaves.remove(leaf);
    byFirstPage.remove(leaf.hashes[0]);
    RadixNode parent = leaf.parent;
    if (parent != null && --parent.children == 0 && parent.parent != null && parent.locks == 0) {
      leaves.add(parent);
    }
  }

  /**
   * Hands a sequence's computed pages over to the tree, from where its locked prefix ends, and
   * moves the lock to the end of them. Pages that the tree has already are freed.
   *
   * @param from the locked end of the sequence's prefix
   * @param hashes the sequence's pages
   * @param to how many of them are computed
   * @return the locked end of the longer prefix
   */
  RadixNode extend(RadixNode from, long[] hashes, int to, StoredPages stored) {
    operations++;
    for (RadixNode at = from; at.parent != null; at = at.parent) {
      touch(at);
    }
    RadixNode end = insert(from, hashes, to, stored);
    if (end != from) {
      lock(end);
      unlock(from);
    }
    return end;
  }

  /** Hears which pages of a sequence came into the tree. */
  interface StoredPages {
    void stored(int fromPage, int toPage);
  }

  private RadixNode insert(RadixNode from, long[] hashes, int to, StoredPages stored) {
    RadixNode at = from;
    while (at.end < to) {
      RadixNode child = at.children == 0 ? null : byFirstPage.get(hashes[at.end]);
      if (child == null) {
        int first = at.end;
        free += first - from.end;
        at = store(at, from, hashes, to);
        stored.stored(first, to);
        return at;
      }
      int common = child.common(hashes, to);
      if (common < child.pages) {
        child = split(child, common);
      } else {
        touch(child);
      }
      at = child;
    }
    free += to - from.end;
    return at;
  }

  /** A leaf that nobody else holds grows; anything else gets a child. */
  private RadixNode store(RadixNode at, RadixNode from, long[] hashes, int to) {
    version++;
    int added = to - at.end;
    boolean own = at == from && at.locks == 1;
    if (at.parent != null && at.children == 0 && (at.locks == 0 || own)) {
      at.append(hashes, to);
      if (own) {
        locked += added;
      } else {
        evictable += added;
      }
      return at;
    }
    RadixNode child = new RadixNode(++nodesMade, at, Arrays.copyOfRange(hashes, at.end, to), to);
    child.used = operations;
    byFirstPage.put(child.hashes[0], child);
    leaves.remove(at);
    at.children++;
    evictable += added;
    leaves.add(child);
    return child;
  }

  /** Cuts a node in two and returns the upper half; the node itself stays the lower one. */
  private RadixNode split(RadixNode node, int at) {
    RadixNode above = node.parent;
    if (above == null) {
      throw new IllegalStateException("the root has no pages");
    }
    RadixNode upper =
        new RadixNode(
            ++nodesMade, above, Arrays.copyOf(node.hashes, at), node.end - node.pages + at);
    upper.children = 1;
    upper.locks = node.locks;
    upper.used = node.used;
    node.parent = upper;
    node.hashes = Arrays.copyOfRange(node.hashes, at, node.pages);
    node.pages -= at;
    byFirstPage.put(upper.hashes[0], upper);
    byFirstPage.put(node.hashes[0], node);
    return upper;
  }

  private void touch(RadixNode node) {
    node.used = operations;
    leaves.used(node);
  }

  /** Forgets every page that no sequence locks. */
  void dropEvictable() {
    evict(evictable, hash -> {}, null);
  }
}
