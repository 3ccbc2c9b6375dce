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
  private HolderTable table = HolderTable.empty();
  private int[] matched = {};
  private float[] expected = {};
  private boolean[] settled = {};
  private int[] touched = {};
  private int size;

  private @Nullable Node[] path = new Node[64];
  private int[] ends = new int[64];
  private int depth;

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
      settled[slot] = false;
    }
    size = 0;
    table = holders;
    if (matched.length < holders.slots()) {
      matched = new int[holders.slots()];
      expected = new float[holders.slots()];
      settled = new boolean[holders.slots()];
      touched = new int[holders.slots()];
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
   * <p>A node with as many holders as the one below has the same ones, and has nothing to add where
   * all of those were found to be surely there.
   */
  void collect(int now, int longestAge) {
    int holdersBelow = -1;
    boolean surelyBelow = false;
    while (depth > 0) {
      Node node = path[--depth];
      path[depth] = null;
      if (node != null && !(surelyBelow && node.holders == holdersBelow)) {
        int from = depth == 0 ? 0 : ends[depth - 1];
        surelyBelow = collect(node, from, ends[depth], now, longestAge);
        holdersBelow = node.holders;
      }
    }
  }

  private boolean collect(Node node, int from, int to, int now, int longestAge) {
    long[] entries = node.entries;
    int[] generations = table.generations;
    boolean surely = true;
    for (int at = 0; at < entries.length; at += 2) {
      int slot = Entries.slot(entries[at]);
      long stamp = Entries.stampAt(entries, at);
      if (slot >= generations.length
          || generations[slot] != Entries.generation(entries[at])
          || now - Entries.tick(stamp) > longestAge) {
        surely = false;
        continue;
      }
      float survival = table.survival(slot, Entries.units(stamp));
      surely &= survival == 1;
      if (survival > 0 && !settled[slot]) {
        if (matched[slot] == 0) {
          matched[slot] = to;
          touched[size++] = slot;
        }
        if (survival == 1) {
          settled[slot] = true;
          expected[slot] += to;
        } else {
          expected[slot] += survival * (to - from);
        }
      }
    }
    return surely;
  }
}
