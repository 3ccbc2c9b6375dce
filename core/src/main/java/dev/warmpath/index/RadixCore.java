package dev.warmpath.index;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The index without its clock and its callers: any number of readers beside one writer.
 *
 * <p>A reader reads one volatile snapshot, of nodes that don't change, and so sees each update as a
 * whole or not at all. Whoever calls a method that writes must be the only one to do so, and what
 * the writer before did must have happened before. Only {@link #match} is a reader's.
 */
final class RadixCore {
  /** One tick is 2^26 ns, or 67 ms: 31 bits of ticks last for more than four years. */
  static final int TICK_BITS = 26;

  /** What a reader reads at once. */
  private static final class Snapshot {
    final Node root;
    final HolderTable holders;

    Snapshot(Node root, HolderTable holders) {
      this.root = root;
      this.holders = holders;
    }
  }

  /** In ticks. */
  final int longestAge;

  private final long budget;
  private final int longestPrompt;
  private final int mostSlots;
  private volatile Snapshot snapshot;

  private final TreeWriter tree;
  private HolderTable holders = HolderTable.empty();
  private int now;
  private long dispatches;

  /**
   * Creates an empty index.
   *
   * @param budget the most bytes that nodes and the holder table may take up
   * @param ttl the age in nanoseconds after which an entry that wasn't used is gone
   */
  RadixCore(long budget, long ttl) {
    this.budget = budget;
    this.longestAge = (int) Math.max(1, (ttl + (1L << TICK_BITS) - 1) >>> TICK_BITS);
    this.longestPrompt = (int) Math.min(Integer.MAX_VALUE / 2, budget / 8);
    this.mostSlots = (int) Math.min(HolderIds.MAX_SLOTS, budget / 4 / HolderTable.bytes(8) * 8);
    this.tree = new TreeWriter(budget, longestAge);
    this.tree.reserve(HolderTable.bytes(0));
    this.snapshot = new Snapshot(tree.root(), holders);
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
      int known = Math.min(length, longestPrompt);
      tree.walk(namespace, prompt, offset, known);
      tree.use(namespace, prompt, offset, known, use(holderId, 0, 0));
    }
    commit();
  }

  /** A claimed use. */
  void dispatch(ByteSpeculation speculation, int tick) {
    begin(tick);
    if (admit(speculation.holderId)) {
      int slot = HolderIds.slot(speculation.holderId);
      walk(speculation);
      speculation.generation = holders.generations[slot];
      speculation.sequence = ++dispatches;
      speculation.missing = speculation.length - tree.held(slot);
      use(speculation, use(speculation.holderId, speculation.sequence, 0));
    }
    commit();
  }

  /**
   * Makes what a dispatch claimed a confirmed use, unless the holder has begun anew since. The
   * holder has received the part of the prompt that it didn't hold at the dispatch.
   */
  void confirm(ByteSpeculation speculation, int tick) {
    begin(tick);
    if (current(speculation)) {
      holders.receive(HolderIds.slot(speculation.holderId), speculation.missingTokens());
      walk(speculation);
      use(speculation, use(speculation.holderId, 0, speculation.sequence));
    }
    speculation.forget();
    commit();
  }

  /** Takes back what a dispatch claimed and nobody else claims or has confirmed. */
  void withdraw(ByteSpeculation speculation, int tick) {
    begin(tick);
    if (current(speculation)) {
      walk(speculation);
      tree.withdraw(HolderIds.slot(speculation.holderId), speculation.sequence);
    }
    speculation.forget();
    commit();
  }

  private boolean current(ByteSpeculation speculation) {
    return speculation.sequence > 0
        && holders.alive(speculation.holderId)
        && holders.generations[HolderIds.slot(speculation.holderId)] == speculation.generation;
  }

  private void walk(ByteSpeculation of) {
    tree.walk(of.namespace, of.prompt, of.offset, Math.min(of.length, longestPrompt));
  }

  private void use(ByteSpeculation of, TreeWriter.Use use) {
    tree.use(of.namespace, of.prompt, of.offset, Math.min(of.length, longestPrompt), use);
  }

  private TreeWriter.Use use(long holderId, long claim, long settled) {
    int slot = HolderIds.slot(holderId);
    long identity = Entries.identity(slot, holders.generations[slot]);
    long stamp = Entries.stamp(now, holders.units(slot));
    return new TreeWriter.Use(slot, identity, stamp, claim, settled);
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
      begin(holderId, false);
    }
    commit();
  }

  /** The holder lives on with an empty cache. */
  void clear(long holderId, int tick) {
    begin(tick);
    if (holders.alive(holderId)) {
      begin(holderId, true);
    }
    commit();
  }

  /** Evicts the oldest entries until at most that many bytes are left. */
  void evictTo(long target, int tick) {
    begin(tick);
    tree.shrink(target);
    commit();
  }

  ByteRadixTree.Stats stats(long shed) {
    return tree.stats(holders.liveHolders(), shed);
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
    tree.begin(now, holders);
  }

  private void commit() {
    tree.reap();
    Snapshot last = snapshot;
    if (last.root != tree.root() || last.holders != holders) {
      snapshot = new Snapshot(tree.root(), holders);
    }
  }

  /** Whether the holder may have entries; a newer life of its slot begins here. */
  private boolean admit(long holderId) {
    if (holders.unseen(holderId) && reserve(holderId)) {
      begin(holderId, true);
    }
    return holders.alive(holderId);
  }

  private void begin(long holderId, boolean alive) {
    holders = holders.next(holderId, alive);
    tree.begin(now, holders);
  }

  private boolean reserve(long holderId) {
    int slot = HolderIds.slot(holderId);
    if (slot >= mostSlots) {
      return false;
    }
    HolderTable grown = holders.grown(slot, mostSlots);
    long growth = HolderTable.bytes(grown.slots()) - HolderTable.bytes(holders.slots());
    tree.shrink(budget - growth);
    tree.reserve(growth);
    holders = grown;
    return true;
  }
}
