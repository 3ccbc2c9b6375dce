package dev.warmpath.index;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * How the one writer changes the tree, and the books of what it takes up.
 *
 * <p>Each entry of a node says that a holder holds everything down to this node. A change builds
 * the nodes from the changed one up to the root anew; what only moves the stamps of entries that
 * readers go on seeing is done in place. Updates walk to where they apply first.
 *
 * <p>Each node keeps the tick of the oldest entry below it as a lower bound, which goes stale as
 * entries are used and is put right where a search for the oldest entry runs into it. Since a use
 * of a node is also one of all nodes above, the oldest entry is always the deepest of its holder.
 */
final class TreeWriter {
  /** Longer labels are cut: eviction takes whole nodes, and a split copies one. */
  static final int LONGEST_LABEL = 16 << 10;

  /** How many expired paths are taken away besides each update. */
  private static final int REAPED_PER_UPDATE = 2;

  /**
   * One use of a prefix by a holder.
   *
   * @param claim the number of the dispatch that claims the prefix, or 0 if the use is confirmed
   * @param settled the number of the dispatch that the use confirms, or 0
   */
  record Use(int slot, long identity, long stamp, long claim, long settled) {}

  private final long budget;
  private final int longestAge;
  private final TreePath path = new TreePath();
  private Node root = Node.root();
  private HolderTable holders = HolderTable.empty();
  private int now;
  private long bytes = root.bytes();
  private long nodes = 1;
  private long entries;
  private long evicted;
  private long expired;

  TreeWriter(long budget, int longestAge) {
    this.budget = budget;
    this.longestAge = longestAge;
  }

  Node root() {
    return root;
  }

  ByteRadixTree.Stats stats(int liveHolders, long shed) {
    return new ByteRadixTree.Stats(
        nodes, bytes, budget, entries, liveHolders, evicted, expired, shed);
  }

  /** Sets what tells the entries in force from others. */
  void begin(int tick, HolderTable table) {
    now = tick;
    holders = table;
  }

  /** Takes a part of the budget for what is not the tree's. */
  void reserve(long size) {
    bytes += size;
  }

  void walk(PrefixNamespace namespace, byte[] prompt, int offset, int length) {
    path.walk(root, namespace.key(), prompt, offset, length);
  }

  /** How much of the walked prompt the slot's holder holds. */
  int held(int slot) {
    if (path.trunk > 0) {
      if (path.partial != null && holds(path.partial, slot)) {
        return path.matched + path.common;
      }
      for (int i = path.size - 1; i >= path.trunk; i--) {
        if (holds(path.get(i), slot)) {
          return path.end(i);
        }
      }
    }
    return 0;
  }

  private boolean holds(Node node, int slot) {
    int at = Entries.find(node.entries, slot);
    return at >= 0 && fresh(node.entries, at) && survives(slot, node.entries[at + 1]);
  }

  private boolean survives(int slot, long stamp) {
    return holders.survival(slot, Entries.units(stamp)) > 0;
  }

  /** Whether the entry is of the slot's current generation and not too old. */
  private boolean fresh(long[] of, int at) {
    long identity = of[at];
    return Entries.generation(identity) == holders.generations[Entries.slot(identity)]
        && !expired(of[at + 1]);
  }

  private boolean expired(long stamp) {
    return now - Entries.tick(stamp) > longestAge;
  }

  /** Puts a use on the walked path, which it completes, once there is room for it. */
  void use(PrefixNamespace namespace, byte[] prompt, int offset, int length, Use use) {
    if (length == 0) {
      return;
    }
    byte[] key = namespace.key();
    for (long cost = cost(key, length); bytes + cost > budget; cost = cost(key, length)) {
      if (nodes == 1) {
        return;
      }
      shrink(budget - cost);
      path.walk(root, key, prompt, offset, length);
    }
    Node from = path.partial;
    Node to = end(key, prompt, offset, length, use);
    if (to == from) {
      to = null;
      from = null;
    }
    for (int i = path.size - 1; i >= 0; i--) {
      Node node = path.get(i);
      Node edited = path.trunk > 0 && i >= path.trunk ? used(node, use) : node;
      to = rebuilt(node, edited, from, to);
      from = node;
    }
    root = to == null ? Node.root() : to;
  }

  /** At most what a use of the walked path adds. */
  private long cost(byte[] key, int length) {
    Node partial = path.partial;
    boolean known = path.trunk > 0;
    int rest = known ? length - path.matched - path.common : length;
    return Node.chainCost(rest, LONGEST_LABEL)
        + (known ? 0 : Node.chainCost(key.length, LONGEST_LABEL))
        + (partial == null ? 0 : partial.splitCost())
        + (path.size + 1L) * Node.growth();
  }

  /** What takes the place of the partly matched node, or is added where the path ended. */
  private @Nullable Node end(byte[] key, byte[] prompt, int offset, int length, Use use) {
    Node partial = path.partial;
    int common = path.common;
    boolean known = path.trunk > 0;
    int matched = known ? path.matched + common : 0;
    Node rest = chain(prompt, offset + matched, offset + length, use);
    if (!known) {
      byte[] label = Arrays.copyOfRange(key, path.matched + common, key.length);
      rest = added(Node.of(label, rest, Entries.NONE, null));
    }
    if (partial == null || (rest == null && known && says(partial, use))) {
      return partial == null ? rest : partial;
    }
    Node tail = partial.tail(common);
    Node head = partial.head(common, tail, rest);
    bytes += tail.bytes() + head.bytes() - partial.bytes();
    nodes++;
    entries += tail.holders;
    if (!known) {
      return head;
    }
    Node marked = used(head, use);
    account(head, marked);
    return marked;
  }

  /** Whether a use would leave the node as it is. */
  private boolean says(Node node, Use use) {
    int at = Entries.find(node.entries, use.slot);
    return at >= 0
        && node.entries[at] == use.identity
        && node.entries[at + 1] == use.stamp
        && use.claim == 0
        && Claims.find(node.claims, use.slot) < 0;
  }

  /** New nodes for a part of the prompt, or null for an empty part. */
  private @Nullable Node chain(byte[] prompt, int from, int to, Use use) {
    Node below = null;
    int end = to;
    while (end > from) {
      int start = from + (end - from - 1) / LONGEST_LABEL * LONGEST_LABEL;
      byte[] label = Arrays.copyOfRange(prompt, start, end);
      long[] holder = {use.identity, use.stamp};
      long[] claims =
          use.claim == 0 ? null : Claims.claimed(null, use.slot, use.claim, Claims.UNCONFIRMED);
      below = added(Node.of(label, below, holder, claims));
      end = start;
    }
    return below;
  }

  /**
   * The node after the use: itself, with a newer stamp, or another if readers did not see the
   * holder there.
   */
  private Node used(Node node, Use use) {
    int at = Entries.find(node.entries, use.slot);
    if (at < 0 || !fresh(node.entries, at)) {
      long[] claims = Claims.forgotten(node.claims, use.slot);
      if (use.claim > 0) {
        claims = Claims.claimed(claims, use.slot, use.claim, Claims.UNCONFIRMED);
      }
      return node.with(Entries.with(node.entries, at, use.identity, use.stamp), claims);
    }
    long last = node.entries[at + 1];
    if (use.claim > 0) {
      claims(node, Claims.claimed(node.claims, use.slot, use.claim, last));
    } else {
      confirmed(node, use);
    }
    if (survives(use.slot, last)) {
      Entries.setStamp(node.entries, at, use.stamp);
      return node;
    }
    return node.with(Entries.with(node.entries, at, use.identity, use.stamp), node.claims);
  }

  private void confirmed(Node node, Use use) {
    long[] claims = node.claims;
    int at = Claims.find(claims, use.slot);
    if (claims != null && at >= 0) {
      Claims.confirm(claims, at, use.stamp);
      if (Claims.findOf(claims, use.slot, use.settled) >= 0) {
        claims(node, Claims.released(claims, at));
      }
    }
  }

  /** Takes the claims of a dispatch on the walked path back. */
  void withdraw(int slot, long claim) {
    if (path.trunk == 0) {
      return;
    }
    Node from = null;
    Node to = null;
    for (int i = path.size - 1; i >= 0; i--) {
      Node node = path.get(i);
      if (to != null) {
        node.oldest = Math.min(node.oldest, to.oldest);
      }
      Node edited = i < path.trunk ? node : unclaimed(node, slot, claim);
      to = rebuilt(node, edited, from, to);
      from = node;
    }
    root = to == null ? Node.root() : to;
  }

  /** The node after a dispatch took its claim back. */
  private Node unclaimed(Node node, int slot, long dispatch) {
    long[] claims = node.claims;
    int claim = Claims.findOf(claims, slot, dispatch);
    int at = Entries.find(node.entries, slot);
    if (claims == null || claim < 0 || at < 0) {
      return node;
    }
    long fallback = Claims.fallback(claims, claim);
    long[] left = Claims.released(claims, claim);
    if (left == claims) {
      return node;
    }
    if (fallback == Claims.UNCONFIRMED || expired(fallback)) {
      return node.with(Entries.without(node.entries, at), left);
    }
    claims(node, left);
    Entries.setStamp(node.entries, at, fallback);
    node.oldestEntry = Math.min(node.oldestEntry, Entries.tick(fallback));
    node.oldest = Math.min(node.oldest, node.oldestEntry);
    return node;
  }

  private void claims(Node node, long @Nullable [] claims) {
    bytes += HeapLayout.longs(claims) - HeapLayout.longs(node.claims);
    node.claims = claims;
  }

  /** Evicts the oldest entries until at most that many bytes are left. */
  void shrink(long target) {
    int slack = longestAge >> 6;
    while (bytes > target && root.oldest != Entries.NEVER) {
      int oldest = oldest();
      if (oldest != Entries.NEVER) {
        evicted += removeWalked(oldest + slack, target);
      }
    }
  }

  /** Removes some of what has expired. */
  void reap() {
    int last = now - longestAge - 1;
    for (int i = 0; i < REAPED_PER_UPDATE && root.oldest <= last; i++) {
      if (oldest() <= last) {
        expired += removeWalked(last, 0);
      }
    }
  }

  /** Walks to the entry that was used longest ago, and returns its tick. */
  private int oldest() {
    path.start(root);
    while (true) {
      Node node = path.last();
      Node child = node.oldestChild();
      int below = child == null ? Entries.NEVER : child.oldest;
      if (child != null && below <= node.oldestEntry) {
        path.push(child);
        continue;
      }
      int found = Entries.oldest(node.entries);
      node.oldestEntry = found;
      if (child != null && below <= found) {
        continue;
      }
      if (found > root.oldest) {
        for (int i = path.size - 1; i >= 0; i--) {
          path.get(i).tighten();
        }
      }
      if (found <= root.oldest) {
        return found;
      }
      path.start(root);
    }
  }

  /**
   * Removes from the last node of the path what was last used by that tick, and then from the nodes
   * above it while that makes room that is still wanted; what a child still has stays.
   */
  private long removeWalked(int tick, long target) {
    long before = entries;
    boolean more = true;
    Node from = null;
    Node to = null;
    for (int i = path.size - 1; i >= 0; i--) {
      Node node = path.get(i);
      Node edited = node;
      if (more && node.holders > 0) {
        edited = purged(node, Math.min(tick, oldestBelow(node, from, to) - 1));
        more = edited != node;
      }
      to = rebuilt(node, edited, from, to);
      from = node;
      if (to != null) {
        to.tighten();
      }
      more &= bytes > target;
    }
    root = to == null ? Node.root() : to;
    return before - entries;
  }

  private static int oldestBelow(Node node, @Nullable Node from, @Nullable Node to) {
    int oldest = to == null ? Entries.NEVER : to.oldest;
    for (int i = 0; i < node.children(); i++) {
      Node child = node.child(i);
      if (child != from) {
        oldest = Math.min(oldest, child.oldest);
      }
    }
    return oldest;
  }

  private static Node purged(Node node, int tick) {
    long[] kept = Entries.usedAfter(node.entries, tick);
    return kept == node.entries ? node : node.with(kept, Claims.of(node.claims, kept));
  }

  /**
   * What takes the place of a node whose entries were edited and one of whose children changed:
   * nothing if nobody is left, one node together with its only child if both say the same.
   */
  private @Nullable Node rebuilt(Node node, Node edited, @Nullable Node from, @Nullable Node to) {
    Node result = from == to ? edited : edited.with(from, to);
    account(node, result);
    if (result.isRoot()) {
      return result;
    }
    if (result.holders == 0 && (node.holders > 0 || result.children() == 0)) {
      removed(result);
      return null;
    }
    if (result.mergeable(LONGEST_LABEL)) {
      Node child = result.child(0);
      Node merged = result.merged();
      account(result, merged);
      bytes -= child.bytes();
      nodes--;
      entries -= child.holders;
      return merged;
    }
    return result;
  }

  private Node added(Node node) {
    bytes += node.bytes();
    nodes++;
    entries += node.holders;
    return node;
  }

  private void account(Node before, Node after) {
    if (before != after) {
      bytes += after.bytes() - before.bytes();
      entries += after.holders - before.holders;
    }
  }

  /** Takes a node and all below it, which can only be dead holders', off the books. */
  private void removed(Node top) {
    Deque<Node> doomed = new ArrayDeque<>();
    for (Node node = top; node != null; node = doomed.poll()) {
      bytes -= node.bytes();
      nodes--;
      entries -= node.holders;
      for (int i = 0; i < node.children(); i++) {
        doomed.add(node.child(i));
      }
    }
  }
}
