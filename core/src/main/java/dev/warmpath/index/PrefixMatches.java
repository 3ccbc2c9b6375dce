package dev.warmpath.index;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Which holders hold how much of one prompt: the reusable scratch that {@link ByteRadixTree#match}
 * writes its answer into.
 *
 * <p>It grows with the fleet and the depth of the tree and is otherwise written without allocation;
 * resetting it costs what the last answer wrote. Lengths are in bytes of the prompt. Not safe for
 * use by several threads: give each its own.
 */
public final class PrefixMatches {
  private static final byte UNSEEN = 0;
  private static final byte OPEN = 1;
  private static final byte SETTLED = 2;

  private HolderTable table = HolderTable.empty();
  private int[] matched = {};
  private float[] expected = {};
  private byte[] state = {};
  private int[] touched = {};
  private int size;

  /** The slots whose entries have so far not surely survived. */
  private int[] open = {};

  private int opened;

  private @Nullable Node[] path = new Node[64];
  private int[] ends = new int[64];
  private int depth;

  /** The part of the prompt that the node being visited stands for. */
  private int from;

  private int to;
  private int oldestTick;

  /** Creates an empty answer. */
  public PrefixMatches() {}

  /**
   * Returns how many holders hold some of the prompt.
   *
   * @return the number of holders, for {@link #slotAt} and {@link #holderAt} in no order
   */
  public int size() {
    return size;
  }

  /**
   * Returns the slot of one of the holders.
   *
   * @param index from 0 to {@link #size} - 1
   * @return the slot
   */
  public int slotAt(int index) {
    return touched[index];
  }

  /**
   * Returns the id of one of the holders.
   *
   * @param index from 0 to {@link #size} - 1
   * @return the holder id
   */
  public long holderAt(int index) {
    return table.ids[touched[index]];
  }

  /**
   * Returns how much of the prompt's beginning a holder was given and may still hold.
   *
   * @param holderId any holder
   * @return the length in bytes, 0 where nothing is known, also of another life of the same slot
   */
  public int matched(long holderId) {
    int slot = HolderIds.slot(holderId);
    return slot < table.slots() && table.ids[slot] == holderId ? matched[slot] : 0;
  }

  /**
   * Returns how much of the match the holder is likely to hold still, by the estimate of its own
   * eviction: each part of the match counts by how likely it is to have survived.
   *
   * @param holderId any holder
   * @return the length in bytes, at most {@link #matched}
   * @see ByteRadixTree#capacity
   */
  public int expected(long holderId) {
    int length = matched(holderId);
    return length == 0 ? 0 : Math.min(length, Math.round(expected[HolderIds.slot(holderId)]));
  }

  /**
   * Returns how much of the prompt any holder holds.
   *
   * @return the longest match in bytes
   */
  public int longest() {
    int longest = 0;
    for (int i = 0; i < size; i++) {
      longest = Math.max(longest, matched[touched[i]]);
    }
    return longest;
  }

  /**
   * Returns how much of the prompt each of the given holders holds: what is of no use to prefer one
   * of them over another.
   *
   * @param holderIds the holders that are asked
   * @param count how many of them, from the first
   * @return the shortest of their matches in bytes, 0 if none is asked
   */
  public int shared(long[] holderIds, int count) {
    int shared = count == 0 ? 0 : Integer.MAX_VALUE;
    for (int i = 0; i < count && shared > 0; i++) {
      shared = Math.min(shared, matched(holderIds[i]));
    }
    return shared;
  }

  /** Forgets the last answer. */
  void begin(HolderTable holders) {
    for (int i = 0; i < size; i++) {
      int slot = touched[i];
      matched[slot] = 0;
      expected[slot] = 0;
      state[slot] = UNSEEN;
    }
    size = 0;
    table = holders;
    if (matched.length < holders.slots()) {
      matched = new int[holders.slots()];
      expected = new float[holders.slots()];
      state = new byte[holders.slots()];
      touched = new int[holders.slots()];
      open = new int[holders.slots()];
    }
  }

  /** Notes a node on the way down, of which the prompt matches up to a depth. */
  void push(Node node, int end) {
    if (depth == path.length) {
      path = Arrays.copyOf(path, depth * 2);
      ends = Arrays.copyOf(ends, depth * 2);
    }
    path[depth] = node;
    ends[depth++] = end;
  }

  /**
   * Collects the holders of the noted nodes from the deepest up, and lets go of the nodes.
   *
   * <p>Each holder of a node also holds the node above. So where every entry of a node is in force,
   * all that the node above can add are its other entries and those that have not surely survived;
   * a node without either isn't touched.
   *
   * @param now the tick of the match
   * @param longestAge the most ticks for which an entry is in force
   */
  void collect(int now, int longestAge) {
    oldestTick = now - longestAge;
    boolean allInForce = false;
    long[] below = Entries.NONE;
    int holdersBelow = 0;
    while (depth > 0) {
      Node node = path[--depth];
      path[depth] = null;
      if (node == null || (allInForce && opened == 0 && node.holders == holdersBelow)) {
        continue;
      }
      from = depth == 0 ? 0 : ends[depth - 1];
      to = ends[depth];
      int others = node.holders - holdersBelow;
      int probes = others * (Integer.SIZE - Integer.numberOfLeadingZeros(node.holders));
      if (!allInForce || probes >= node.holders) {
        allInForce = visitAll(node.entries);
      } else {
        visitOpen(node.entries);
        allInForce = visitOthers(node.entries, below, others);
      }
      closeSettled();
      below = node.entries;
      holdersBelow = node.holders;
    }
    while (opened > 0) {
      int slot = open[--opened];
      if (matched[slot] == 0) {
        state[slot] = UNSEEN;
      }
    }
  }

  private boolean visitAll(long[] entries) {
    boolean inForce = true;
    for (int at = 0; at < entries.length; at += 2) {
      inForce &= visit(entries, at);
    }
    return inForce;
  }

  private void visitOpen(long[] entries) {
    for (int i = 0; i < opened; i++) {
      int at = Entries.find(entries, open[i]);
      if (at >= 0) {
        visit(entries, at);
      }
    }
  }

  /**
   * Visits the entries whose slots are not among those below. Up to the first of them both arrays
   * agree, from there on they don't, so that it is found by halving; likewise for the next.
   */
  private boolean visitOthers(long[] entries, long[] below, int others) {
    boolean inForce = true;
    int agreed = 0;
    for (int shift = 0; shift < 2 * others; shift += 2) {
      int low = agreed >> 1;
      int high = below.length >> 1;
      while (low < high) {
        int middle = (low + high) >>> 1;
        int at = middle << 1;
        if (Entries.slot(entries[at + shift]) == Entries.slot(below[at])) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      agreed = low << 1;
      inForce &= visit(entries, agreed + shift);
    }
    return inForce;
  }

  /** Takes an entry into account, and returns whether it is in force. */
  private boolean visit(long[] entries, int at) {
    int slot = Entries.slot(entries[at]);
    int[] generations = table.generations;
    if (slot >= generations.length || generations[slot] != Entries.generation(entries[at])) {
      return false;
    }
    if (state[slot] == SETTLED) {
      return true;
    }
    long stamp = Entries.stampAt(entries, at);
    if (Entries.tick(stamp) < oldestTick) {
      return false;
    }
    float survival = table.survival(slot, Entries.units(stamp));
    if (survival > 0 && matched[slot] == 0) {
      matched[slot] = to;
      touched[size++] = slot;
    }
    if (survival == 1) {
      expected[slot] += to;
      state[slot] = SETTLED;
      return true;
    }
    expected[slot] += survival * (to - from);
    if (state[slot] == UNSEEN) {
      state[slot] = OPEN;
      open[opened++] = slot;
    }
    return true;
  }

  private void closeSettled() {
    for (int i = opened - 1; i >= 0; i--) {
      if (state[open[i]] == SETTLED) {
        open[i] = open[--opened];
      }
    }
  }
}
