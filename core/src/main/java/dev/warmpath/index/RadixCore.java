package dev.warmpath.index;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The tree itself: any number of readers beside one writer.
 *
 * <p>A reader reads one volatile snapshot, of nodes that don't change, and so sees each update as a
 * whole or not at all. The writer builds the nodes from a changed one up to the root anew and then
 * publishes the root. Whoever calls a method that writes must be the only one to do so, and what
 * the writer before did must have happened before. Only {@link #match} is a reader's.
 *
 * <p>Each entry of a node says that a holder holds everything down to this node. The writer keeps
 * the tick of the oldest entry below each node as a lower bound, which goes stale as entries are
 * used and is put right where a search for the oldest entry runs into it. Since a use of a node is
 * also one of all nodes above, the oldest entry is always the deepest of its holder.
 */
final class RadixCore {
  /** Longer labels are cut: eviction takes whole nodes, and a split copies one. */
  static final int LONGEST_LABEL = 16 << 10;

  /** One tick is 2^26 ns, or 67 ms: 31 bits of ticks last for more than four years. */
  private static final int TICK_BITS = 26;

  /** How many expired paths a write takes away besides its own work. */
  private static final int REAPED_PER_WRITE = 2;

  /** What a reader reads at once. */
  private static final class Snapshot {
    final Node root;
    final HolderTable holders;

    Snapshot(Node root, HolderTable holders) {
      this.root = root;
      this.holders = holders;
    }
  }

  /**
   * One use of a prefix by a holder.
   *
   * @param claim the number of the dispatch that claims the prefix, or 0 if the use is confirmed
   * @param settled the number of the dispatch that the use confirms, or 0
   */
  private record Use(int slot, long identity, long stamp, long claim, long settled) {}

  private final long budget;

  /** In ticks. */
  final int longestAge;

  private final int longestPrompt;
  private final int mostSlots;
  private volatile Snapshot snapshot;

  private final TreePath path = new TreePath();
  private Node root = Node.root();
  private HolderTable holders = HolderTable.empty();
  private int now;
  private long dispatches;
  private long bytes;
  private long nodes;
  private long entries;
  private long evicted;
  private long expired;

  /**
   * Creates an empty tree.
   *
   * @param budget the most bytes that nodes and the holder table may take up
   * @param ttl the age in nanoseconds after which an entry that wasn't used is gone
   */
  RadixCore(long budget, long ttl) {
    this.budget = budget;
    this.longestAge = (int) Math.max(1, (ttl + (1L << TICK_BITS) - 1) >>> TICK_BITS);
    this.longestPrompt = (int) Math.min(Integer.MAX_VALUE / 2, budget / 8);
    this.mostSlots = (int) Math.min(HolderIds.MAX_SLOTS, budget / 4 / HolderTable.bytes(8) * 8);
    this.snapshot = new Snapshot(root, holders);
    this.bytes = root.bytes() + HolderTable.bytes(0);
    this.nodes = 1;
  }

  static int tick(long nanos) {
    return (int) (nanos >>> TICK_BITS);
  }

  void match(
      PrefixNamespace namespace,
      byte[] prompt,
      int offset,
      int length,
      int tick,
      PrefixMatches out) {
    Snapshot seen = snapshot;
    out.begin(seen.holders);
    Node node = find(seen.root, namespace.key());
    int depth = 0;
    while (node != null && depth < length) {
      int from = offset + depth;
      Node child = node.child(prompt[from]);
      if (child == null) {
        break;
      }
      byte[] label = child.label;
      int most = Math.min(label.length, length - depth);
      int differs = Arrays.mismatch(label, 0, most, prompt, from, from + most);
      depth += differs < 0 ? most : differs;
      out.push(child, depth);
      node = differs < 0 && most == label.length ? child : null;
    }
    out.collect(tick, longestAge);
  }

  private static @Nullable Node find(Node root, byte[] key) {
    Node node = root;
    int depth = 0;
    while (depth < key.length) {
      Node child = node.child(key[depth]);
      if (child == null) {
        return null;
      }
      int end = depth + child.label.length;
      if (end > key.length || !Arrays.equals(child.label, 0, child.label.length, key, depth, end)) {
        return null;
      }
      depth = end;
      node = child;
    }
    return node;
  }

  /** A confirmed use, whatever was known before. */
  void insert(
      PrefixNamespace namespace, byte[] prompt, int offset, int length, long holderId, int tick) {
    begin(tick);
    if (admit(holderId)) {
      int slot = HolderIds.slot(holderId);
      int known = Math.min(length, longestPrompt);
      path.walk(root, namespace.key(), prompt, offset, known);
      apply(namespace, prompt, offset, known, use(slot, 0, 0));
    }
    commit();
  }

  /** A claimed use. */
  void dispatch(Speculation speculation, int tick) {
    begin(tick);
    long holderId = speculation.holderId;
    if (admit(holderId)) {
      int slot = HolderIds.slot(holderId);
      byte[] key = speculation.namespace.key();
      byte[] prompt = speculation.prompt;
      int known = Math.min(speculation.length, longestPrompt);
      path.walk(root, key, prompt, speculation.offset, known);
      speculation.generation = holders.generations[slot];
      speculation.sequence = ++dispatches;
      speculation.missing = speculation.length - held(slot);
      Use use = use(slot, speculation.sequence, 0);
      apply(speculation.namespace, prompt, speculation.offset, known, use);
    }
    commit();
  }

  /**
   * Makes what a dispatch claimed a confirmed use, unless the holder has begun anew since. The
   * holder has received the part of the prompt that it didn't hold at the dispatch.
   */
  void confirm(Speculation speculation, int tick) {
    begin(tick);
    if (current(speculation)) {
      int slot = HolderIds.slot(speculation.holderId);
      holders.receive(slot, speculation.missingTokens());
      int known = Math.min(speculation.length, longestPrompt);
      byte[] prompt = speculation.prompt;
      path.walk(root, speculation.namespace.key(), prompt, speculation.offset, known);
      Use use = use(slot, 0, speculation.sequence);
      apply(speculation.namespace, prompt, speculation.offset, known, use);
    }
    speculation.forget();
    commit();
  }

  /** Takes back what a dispatch claimed and nobody else claims or has confirmed. */
  void withdraw(Speculation speculation, int tick) {
    begin(tick);
    if (current(speculation)) {
      int slot = HolderIds.slot(speculation.holderId);
      int known = Math.min(speculation.length, longestPrompt);
      byte[] key = speculation.namespace.key();
      path.walk(root, key, speculation.prompt, speculation.offset, known);
      if (path.trunk > 0) {
        Node from = null;
        Node to = null;
        for (int i = path.size - 1; i >= 0; i--) {
          Node node = path.get(i);
          if (to != null) {
            node.oldest = Math.min(node.oldest, to.oldest);
          }
          Node edited = i < path.trunk ? node : unclaimed(node, slot, speculation.sequence);
          to = rebuilt(node, edited, from, to);
          from = node;
        }
        root = to == null ? Node.root() : to;
      }
    }
    speculation.forget();
    commit();
  }

  private boolean current(Speculation speculation) {
    return speculation.sequence > 0
        && holders.alive(speculation.holderId)
        && holders.generations[HolderIds.slot(speculation.holderId)] == speculation.generation;
  }

  /** The holder received tokens that no dispatch told of. */
  void receive(long holderId, long tokens, int tick) {
    begin(tick);
    if (admit(holderId)) {
      holders.receive(HolderIds.slot(holderId), tokens);
    }
    commit();
  }

  void capacity(long holderId, long tokens, int tick) {
    begin(tick);
    if (admit(holderId)) {
      holders.capacity(HolderIds.slot(holderId), tokens);
    }
    commit();
  }

  /** The holder is dead: its entries vanish and it never comes back. */
  void drop(long holderId, int tick) {
    begin(tick);
    if (holders.alive(holderId) || (holders.unseen(holderId) && reserve(holderId))) {
      holders = holders.next(holderId, false);
    }
    commit();
  }

  /** The holder lives on with an empty cache. */
  void clear(long holderId, int tick) {
    begin(tick);
    if (holders.alive(holderId)) {
      holders = holders.next(holderId, true);
    }
    commit();
  }

  /** Evicts the oldest entries until at most that many bytes are left. */
  void evictTo(long target, int tick) {
    begin(tick);
    shrink(target);
    commit();
  }

  ByteRadixTree.Stats stats(long shed) {
    return new ByteRadixTree.Stats(
        nodes, bytes, budget, entries, holders.liveHolders(), evicted, expired, shed);
  }

  /** For audits: the root as readers see it. */
  Node publishedRoot() {
    return snapshot.root;
  }

  HolderTable publishedHolders() {
    return snapshot.holders;
  }

  private void begin(int tick) {
    now = Math.max(now, tick);
  }

  private void commit() {
    for (int i = 0; i < REAPED_PER_WRITE && root.oldest < now - longestAge; i++) {
      expired += remove(now - longestAge - 1, 0);
    }
    Snapshot last = snapshot;
    if (last.root != root || last.holders != holders) {
      snapshot = new Snapshot(root, holders);
    }
  }

  /** Whether the holder may have entries; a newer life of its slot begins here. */
  private boolean admit(long holderId) {
    if (holders.unseen(holderId) && reserve(holderId)) {
      holders = holders.next(holderId, true);
    }
    return holders.alive(holderId);
  }

  private boolean reserve(long holderId) {
    int slot = HolderIds.slot(holderId);
    if (slot >= mostSlots) {
      return false;
    }
    HolderTable grown = holders.grown(slot, mostSlots);
    long growth = HolderTable.bytes(grown.slots()) - HolderTable.bytes(holders.slots());
    shrink(budget - growth);
    bytes += growth;
    holders = grown;
    return true;
  }

  private Use use(int slot, long claim, long settled) {
    long identity = Entries.identity(slot, holders.generations[slot]);
    return new Use(slot, identity, Entries.stamp(now, holders.units(slot)), claim, settled);
  }

  /** How much of the walked prompt the slot's holder holds. */
  private int held(int slot) {
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
    return at >= 0
        && fresh(node.entries, at)
        && holders.survival(slot, Entries.units(node.entries[at + 1])) > 0;
  }

  /** Whether the entry is of the slot's current generation and not too old. */
  private boolean fresh(long[] of, int at) {
    long identity = of[at];
    return Entries.generation(identity) == holders.generations[Entries.slot(identity)]
        && now - Entries.tick(of[at + 1]) <= longestAge;
  }

  /** Puts a use on the walked path, which it completes, once there is room for it. */
  private void apply(PrefixNamespace namespace, byte[] prompt, int offset, int length, Use use) {
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

  /** The node after the use: itself, with a newer stamp, or another if the holder is new to it. */
  private Node used(Node node, Use use) {
    int at = Entries.find(node.entries, use.slot);
    if (at >= 0 && fresh(node.entries, at)) {
      if (use.claim > 0) {
        long fallback = node.entries[at + 1];
        claims(node, Claims.claimed(node.claims, use.slot, use.claim, fallback));
      } else {
        confirmed(node, use);
      }
      Entries.setStamp(node.entries, at, use.stamp);
      return node;
    }
    long[] claims = Claims.forgotten(node.claims, use.slot);
    if (use.claim > 0) {
      claims = Claims.claimed(claims, use.slot, use.claim, Claims.UNCONFIRMED);
    }
    return node.with(Entries.with(node.entries, at, use.identity, use.stamp), claims);
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

  /** The node after a dispatch took its claim back. */
  private Node unclaimed(Node node, int slot, long sequence) {
    long[] claims = node.claims;
    int claim = Claims.findOf(claims, slot, sequence);
    int at = Entries.find(node.entries, slot);
    if (claims == null || claim < 0 || at < 0) {
      return node;
    }
    long fallback = Claims.fallback(claims, claim);
    long[] left = Claims.released(claims, claim);
    if (left == claims) {
      return node;
    }
    if (fallback == Claims.UNCONFIRMED) {
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

  private void shrink(long target) {
    while (bytes > target && root.oldest != Entries.NEVER) {
      int slack = longestAge >> 6;
      int oldest = oldest();
      evicted += removeWalked(oldest == Entries.NEVER ? oldest : oldest + slack, target);
    }
  }

  /** Removes some entries that were last used by that tick, if there are any. */
  private long remove(int tick, long target) {
    return oldest() > tick ? 0 : removeWalked(tick, target);
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
