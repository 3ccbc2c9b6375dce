package dev.warmpath.index;

import dev.warmpath.prompt.ContentKeys;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * All that changes a trie. Used by one thread at a time.
 *
 * <p>Nodes stand in the order of their last use, a node after all that lead to it, so that the
 * oldest has no others below it and may go.
 */
final class BranchWriter {
  /** The forks of a prompt that learn of its answer, from the deepest up. */
  private static final int LEARNING = 4;

  /** Bytes of the budget for each key of a prompt that is looked at. */
  private static final int BYTES_PER_KEY = 64;

  private final BranchTable table;
  private final long budget;
  final int longest;
  private final List<BranchNode> path = new ArrayList<>();

  private @Nullable BranchNode newest;
  private @Nullable BranchNode oldest;
  private int nodes;
  private long bytes;
  private long evicted;

  /** Prompts, fading; read by anybody. */
  private volatile long total;

  BranchWriter(BranchTable table, long budget) {
    this.table = table;
    this.budget = budget;
    this.bytes = table.bytes();
    this.longest = (int) Math.min(Integer.MAX_VALUE, budget / BYTES_PER_KEY);
  }

  double total(int tick) {
    return Fading.value(total, tick);
  }

  /** Counts a prompt in; returns how many of its keys were seen before. */
  int visit(ContentKeys keys, int tick) {
    int size = Math.min(keys.size(), longest);
    total = Fading.add(total, 1, tick);
    int known = follow(keys, size, true);
    BranchNode last = path.isEmpty() ? null : path.get(path.size() - 1);
    if (known < size && (last == null || last.shape.to() == known)) {
      grow(last, keys, known, size);
    }
    for (BranchNode node : path) {
      node.count = Fading.add(node.count, 1, tick);
    }
    touchPath();
    makeRoom();
    path.clear();
    return known;
  }

  /**
   * Takes a prompt's count back, which was never served.
   *
   * @param then when it was counted: what has faded since is not there to be taken
   */
  void withdraw(ContentKeys keys, int then, int tick) {
    double left = Fading.value(Fading.count(1, then), tick);
    follow(keys, Math.min(keys.size(), longest), false);
    for (BranchNode node : path) {
      node.count = Fading.add(node.count, -left, tick);
    }
    total = Fading.add(total, -left, tick);
    path.clear();
  }

  /**
   * Learns of a prompt's answer.
   *
   * @param known how many of its keys this client had seen before it
   * @param cached the prompt tokens that its worker found in the cache; negative where it does not
   *     tell
   */
  void learn(ContentKeys keys, int known, int cached) {
    int size = Math.min(keys.size(), longest);
    follow(keys, size, false);
    int left = LEARNING;
    for (int i = path.size() - 1; i >= 0 && left > 0; i--) {
      BranchNode.Shape shape = path.get(i).shape;
      int end = shape.to();
      if (end >= size || shape.children.length < BranchTrie.FAN) {
        continue;
      }
      left--;
      boolean reused = known > end || cached >= keys.tokens(end + 1);
      // Not to be told is not the same as not to be reused.
      if (reused || cached >= 0) {
        shape.fork.visited(reused);
      }
      if (cached >= 0) {
        shape.fork.found(cached >= keys.tokens(end));
      }
    }
    path.clear();
  }

  /**
   * Collects the nodes that a prompt goes along; returns how far it is known.
   *
   * @param split whether a node that the prompt leaves in its middle ends there from now on
   */
  private int follow(ContentKeys keys, int size, boolean split) {
    path.clear();
    int at = 0;
    while (at < size) {
      BranchNode node = table.find(keys.get(at));
      if (node == null || node.shape.from != at) {
        break;
      }
      if (split && !path.isEmpty()) {
        lead(path.get(path.size() - 1), node.first);
      }
      BranchNode.Shape shape = node.shape;
      path.add(node);
      int shared = shape.shared(keys, size);
      at += shared;
      if (shared < shape.keys.length) {
        if (split && at < size) {
          split(node, shape, shared);
        }
        break;
      }
    }
    return at;
  }

  /** Shows readers the way from a node to one that is in the table. */
  private void lead(BranchNode node, long child) {
    BranchNode.Shape shape = node.shape;
    if (!shape.leadsTo(child)) {
      long before = node.bytes();
      node.shape = shape.with(child);
      bytes += node.bytes() - before;
    }
  }

  private void split(BranchNode node, BranchNode.Shape shape, int length) {
    long before = node.bytes();
    BranchNode tail = new BranchNode(shape.tail(length));
    tail.count = node.count;
    // Readers that still see the whole node never look for the tail; those that see its head do.
    table.add(tail);
    node.shape = shape.head(length);
    insertAfter(node, tail);
    nodes++;
    bytes += node.bytes() + tail.bytes() - before;
  }

  private void grow(@Nullable BranchNode last, ContentKeys keys, int from, int size) {
    long[] more = new long[size - from];
    for (int i = from; i < size; i++) {
      more[i - from] = keys.get(i);
    }
    if (last != null && last.shape.children.length == 0) {
      long before = last.bytes();
      last.shape = last.shape.and(more);
      bytes += last.bytes() - before;
      return;
    }
    BranchNode node = new BranchNode(new BranchNode.Shape(from, more));
    insert(node);
    if (last != null) {
      lead(last, node.first);
    }
    path.add(node);
  }

  /** Adds a node that was read from a file: as the newest, unless it is there already. */
  void restore(BranchNode.Shape shape) {
    if (table.find(shape.keys[0]) == null) {
      insert(new BranchNode(shape));
      makeRoom();
    }
  }

  private void insert(BranchNode node) {
    table.add(node);
    link(node);
    nodes++;
    bytes += node.bytes();
  }

  private void touchPath() {
    for (int i = path.size() - 1; i >= 0; i--) {
      BranchNode node = path.get(i);
      if (node != newest) {
        unlink(node);
        link(node);
      }
    }
  }

  private void makeRoom() {
    while (bytes > budget && oldest != null) {
      evict(oldest);
    }
  }

  /** Lets what was used longest ago go, if there is anything. */
  void evictOldest() {
    if (oldest != null) {
      evict(oldest);
    }
  }

  private void evict(BranchNode node) {
    unlink(node);
    table.remove(node);
    nodes--;
    bytes -= node.bytes();
    evicted++;
  }

  private void link(BranchNode node) {
    BranchNode before = newest;
    node.older = before;
    node.newer = null;
    newest = node;
    if (before == null) {
      oldest = node;
    } else {
      before.newer = node;
    }
  }

  /** The tail of a node is used with it, and goes before it. */
  private void insertAfter(BranchNode node, BranchNode tail) {
    BranchNode older = node.older;
    tail.newer = node;
    tail.older = older;
    node.older = tail;
    if (older == null) {
      oldest = tail;
    } else {
      older.newer = tail;
    }
  }

  private void unlink(BranchNode node) {
    BranchNode newer = node.newer;
    BranchNode older = node.older;
    if (newer == null) {
      newest = older;
    } else {
      newer.older = older;
    }
    if (older == null) {
      oldest = newer;
    } else {
      older.newer = newer;
    }
    node.newer = null;
    node.older = null;
  }

  /** Every node, from the one that was used longest ago. */
  void forEach(Consumer<BranchNode> action) {
    for (BranchNode node = oldest; node != null; node = node.newer) {
      action.accept(node);
    }
  }

  BranchTrie.Stats stats(long shed) {
    return new BranchTrie.Stats(nodes, bytes, budget, evicted, shed);
  }
}
