package dev.warmpath.fake.scheduler;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Cached blocks in a tier below the accelerator, least recently used first. */
final class TierStore {

  /** One block. */
  static final class Entry {
    private final long hash;
    private final long parentHash;
    private final boolean root;
    private int pins;

    Entry(long hash, long parentHash, boolean root) {
      this.hash = hash;
      this.parentHash = parentHash;
      this.root = root;
    }

    long hash() {
      return hash;
    }

    /** The same block in another tier. */
    Entry copy() {
      return new Entry(hash, parentHash, root);
    }
  }

  private static final int[] NO_TOKENS = {};

  private final StorageTier tier;
  private final int capacity;
  private final boolean events;
  private final Map<Long, Entry> entries = new LinkedHashMap<>();
  private int reserved;

  TierStore(StorageTier tier, int capacity, boolean events) {
    this.tier = tier;
    this.capacity = capacity;
    this.events = events;
  }

  /** The block of a hash, which becomes the most recently used one; null if there is none. */
  @Nullable Entry use(long hash) {
    Entry entry = entries.remove(hash);
    if (entry != null) {
      entries.put(hash, entry);
    }
    return entry;
  }

  boolean contains(long hash) {
    return entries.containsKey(hash);
  }

  /** Keeps a block from being evicted. */
  void pin(Entry entry) {
    entry.pins++;
  }

  void unpin(Entry entry) {
    entry.pins--;
  }

  /**
   * Makes room for one block that will come, evicting the least recently used one if needed.
   *
   * @return false if everything is pinned or reserved
   */
  boolean reserve(List<EngineEffect> effects) {
    if (entries.size() + reserved >= capacity && !evict(effects)) {
      return false;
    }
    reserved++;
    return true;
  }

  private boolean evict(List<EngineEffect> effects) {
    Iterator<Entry> all = entries.values().iterator();
    while (all.hasNext()) {
      Entry entry = all.next();
      if (entry.pins == 0) {
        all.remove();
        if (events) {
          effects.add(new EngineEffect.BlockRemoved(tier, entry.hash));
        }
        return true;
      }
    }
    return false;
  }

  /**
   * A block for which room was reserved has come.
   *
   * @return the block as it is kept, which is another one if it was there already
   */
  Entry add(Entry entry, List<EngineEffect> effects) {
    reserved--;
    Entry resident = use(entry.hash);
    if (resident != null) {
      return resident;
    }
    entries.put(entry.hash, entry);
    if (events) {
      effects.add(
          new EngineEffect.BlocksStored(
              tier, entry.parentHash, entry.root, new long[] {entry.hash}, NO_TOKENS));
    }
    return entry;
  }

  void clear() {
    entries.clear();
  }
}
