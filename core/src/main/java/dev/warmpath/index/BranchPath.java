package dev.warmpath.index;

import dev.warmpath.prompt.ContentKeys;
import java.util.Arrays;

/**
 * The way of one prompt through a {@link BranchTrie}: the stretches it goes along, and what was
 * learned where they end. The reusable scratch that {@link BranchTrie#walk} writes into; not safe
 * for several threads.
 *
 * <p>Everything is as it will be once the prompt itself has been counted.
 */
public final class BranchPath {
  private int[] ends = {};
  private int[] children = {};
  private long[] counts = {};
  private long[] reuse = {};
  private long[] presence = {};
  private int size;
  private int known;
  private int tick;
  private double total;

  /** Creates an empty path. */
  public BranchPath() {}

  void begin(int tick) {
    this.tick = tick;
    size = 0;
    known = 0;
  }

  void add(long count, BranchNode.Shape shape, int end, ContentKeys keys, int length) {
    if (size == ends.length) {
      grow();
    }
    ends[size] = end;
    counts[size] = count;
    int following = 0;
    if (end == shape.to()) {
      following = shape.children.length;
      if (end < length && !shape.leadsTo(keys.get(end))) {
        following++;
      }
    }
    children[size] = following;
    reuse[size] = shape.fork.reuse();
    presence[size] = shape.fork.presence();
    size++;
    known = end;
  }

  void end(double total) {
    this.total = total;
  }

  private void grow() {
    int room = Math.max(16, 2 * size);
    ends = Arrays.copyOf(ends, room);
    children = Arrays.copyOf(children, room);
    counts = Arrays.copyOf(counts, room);
    reuse = Arrays.copyOf(reuse, room);
    presence = Arrays.copyOf(presence, room);
  }

  /** How many stretches the prompt goes along. */
  public int size() {
    return size;
  }

  /** How many of the prompt's keys were seen before. */
  public int known() {
    return known;
  }

  /** The number of keys up to the end of a stretch, or to where the prompt leaves it. */
  public int end(int i) {
    return ends[i];
  }

  /**
   * Whether many ways lead on from the end of a stretch: at least {@link BranchTrie#FAN} were seen.
   */
  public boolean fans(int i) {
    return children[i] >= BranchTrie.FAN;
  }

  /** Prompts that went on from there and were told apart. */
  public double visits(int i) {
    return Fading.first(reuse[i]);
  }

  /** Those of the {@link #visits} that found what follows used before. */
  public double reused(int i) {
    return Fading.second(reuse[i]);
  }

  /** How likely a worker holds the prefix up to there, by what engines report. */
  public double presence(int i) {
    return Fading.first(presence[i]);
  }

  /** How many prompts went along a stretch of late, this one included; see {@link #total}. */
  public double count(int i) {
    return Fading.value(counts[i], tick) + 1;
  }

  /** How many prompts there were of late, this one included: each fades within some 15 s. */
  public double total() {
    return total + 1;
  }

  /** The stretch that holds the key with that number; {@link #size} where none does. */
  public int holding(int key) {
    int i = size;
    while (i > 0 && ends[i - 1] > key) {
      i--;
    }
    return i;
  }
}
