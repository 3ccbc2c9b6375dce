package dev.warmpath.index;

import dev.warmpath.hash.ContentHasher;
import dev.warmpath.hash.HashNamespace;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.index.KvEvent.Cleared;
import dev.warmpath.index.KvEvent.KvKeys;
import dev.warmpath.index.KvEvent.Removed;
import dev.warmpath.index.KvEvent.Stored;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Applies to the block index what an engine tells of one rank.
 *
 * <p>The engine's hashes stay opaque: what a block is, is told by its tokens, which are chained to
 * the client's own hashes behind those of its parent. So it does not matter whether the client
 * could compute the engine's hashes, nor of what size the engine's blocks are. A client's block
 * counts as held when the engine's block is there that completes it; as engines evict the ends of
 * chains first, that is as long as all of it is there.
 *
 * <p>A block whose parent was never told of can't be placed: such blocks are counted, and what is
 * known is then not all that the rank has. Only since {@link #begin} is it.
 *
 * <p>Not thread safe. Made by {@link KvEventIndex#rank}.
 */
public final class KvRank {
  /** How many events are applied before others may update the index. */
  private static final int EVENTS_AT_ONCE = 256;

  private static final int KEPT_ROOTS = 256;

  private final BlockIndex index;
  private final @Nullable String model;
  private final int clientTokens;
  private final HashNamespace namespace;
  private final long number;
  private final ContentHasher hasher;
  private final KvBlocks blocks;
  private final Map<KvKeys, Long> roots = new LinkedHashMap<>();

  private long holderId;
  private boolean complete;
  private boolean overflown;

  /** The tokens of a block, behind those of the client's block that it goes on with. */
  private int[] window = {};

  /** The client's hashes of the blocks of an event. */
  private long[] chain = new long[64];

  private int chained;

  private volatile Counts counts = new Counts(0, 0, 0, 0, 0);
  private long stored;
  private long removed;
  private long unplaced;
  private long unknownRemoved;

  KvRank(
      BlockIndex index,
      long holderId,
      @Nullable String model,
      int clientTokens,
      AtomicLong used,
      long budget) {
    this.index = index;
    this.holderId = holderId;
    this.model = model;
    this.clientTokens = clientTokens;
    this.namespace = HashSchemes.content(params(KvKeys.NONE)).namespace().published();
    this.number = BlockKeys.namespace(namespace);
    this.hasher = new ContentHasher(clientTokens);
    this.blocks = new KvBlocks(clientTokens, used, budget);
  }

  private HashParams params(KvKeys keys) {
    return HashParams.builder()
        .blockSize(clientTokens)
        .model(model)
        .loraName(keys.lora())
        .cacheSalt(keys.salt())
        .build();
  }

  /** Who holds what is told. */
  public long holderId() {
    return holderId;
  }

  /**
   * Whether all is told of what the rank has.
   *
   * @return false before {@link #begin}, after {@link #lose}, and when there was no room for all;
   *     true again when the rank's cache was emptied
   */
  public boolean complete() {
    return complete;
  }

  /** What was told so far; safe to read on any thread. */
  public Counts counts() {
    return counts;
  }

  /**
   * What a rank told of so far.
   *
   * @param stored blocks that were there, each as often as it was told
   * @param removed blocks that no longer were
   * @param unplaced stored blocks of which it was not known what they follow or hold
   * @param unknownRemoved removed blocks that were not known
   * @param blocks the engine's blocks that are known at this moment
   */
  public record Counts(long stored, long removed, long unplaced, long unknownRemoved, int blocks) {}

  /** The rank's cache is empty, and from now on all is told: its index becomes authoritative. */
  public void begin() {
    blocks.clear();
    overflown = false;
    complete = true;
    index.makeAuthoritative(holderId, namespace);
    publish();
  }

  /**
   * Something was missed that can't be had any more: what is known is dropped, and what follows is
   * not all. Guesses count again.
   */
  public void lose() {
    blocks.clear();
    complete = false;
    index.clear(holderId);
    publish();
  }

  /**
   * The rank goes by another holder id from now on, as after a restart; what is known of it goes
   * with it.
   *
   * @param to the new one
   */
  public void moveTo(long to) {
    long from = holderId;
    holderId = to;
    index.told(
        (writer, tick) -> {
          writer.begin(tick);
          writer.rename(from, to);
          writer.commit();
        });
  }

  /** Gives back what its blocks took up. The index keeps what it knows until the holder is gone. */
  public void close() {
    blocks.clear();
    if (complete) {
      complete = false;
      index.endAuthority(holderId);
    }
  }

  /**
   * Applies events.
   *
   * @param events in the order in which they were told
   * @param counted whether it would have been noticed if something was missed; an emptied cache is
   *     then one of which all is known
   */
  public void apply(List<KvEvent> events, boolean counted) {
    for (int from = 0; from < events.size(); from += EVENTS_AT_ONCE) {
      int first = from;
      int end = Math.min(events.size(), from + EVENTS_AT_ONCE);
      index.told(
          (writer, tick) -> {
            for (int i = first; i < end; i++) {
              writer.begin(tick);
              apply(events.get(i), counted, writer);
              writer.commit();
            }
          });
    }
    if (overflown && complete) {
      lose();
    }
    publish();
  }

  private void publish() {
    counts = new Counts(stored, removed, unplaced, unknownRemoved, blocks.size());
  }

  private void apply(KvEvent event, boolean counted, BlockWriter writer) {
    if (event instanceof Stored some) {
      stored(some, writer);
    } else if (event instanceof Removed some) {
      removed(some, writer);
    } else if (event instanceof Cleared) {
      cleared(counted, writer);
    }
  }

  private void cleared(boolean counted, BlockWriter writer) {
    blocks.clear();
    overflown = false;
    complete |= counted;
    writer.clear(holderId);
    if (complete) {
      writer.authority(holderId, number);
    }
  }

  private void stored(Stored event, BlockWriter writer) {
    int count = event.hashes().length;
    int width = event.tokens().length / count;
    stored += count;
    int at = event.first() ? KvBlocks.NONE : blocks.find(event.parent());
    boolean placed = event.first() || at != KvBlocks.NONE;
    if (!placed || width == 0 || (blocks.width() != 0 && blocks.width() != width)) {
      storedAgain(event, writer);
      return;
    }
    if (window.length < clientTokens + width) {
      window = new int[clientTokens + width];
    }
    int end = at == KvBlocks.NONE ? 0 : blocks.end(at);
    long parent = at == KvBlocks.NONE ? root(event.keys()) : blocks.link(at);
    int tail = at == KvBlocks.NONE ? 0 : blocks.tail(at, window);
    chain(event, width, end, parent, tail);
    if (chained == 0) {
      return;
    }
    if (end < clientTokens) {
      writer.stored(number, chain, 0, chained, holderId, event.tier());
    } else {
      writer.storedAfter(number, parent, chain, chained, holderId, event.tier());
    }
  }

  /** Takes in the blocks of an event, and leaves the client's blocks that they complete. */
  private void chain(Stored event, int width, int begin, long parent, int before) {
    long[] hashes = event.hashes();
    long link = parent;
    int end = begin;
    int tail = before;
    chained = 0;
    for (int i = 0; i < hashes.length; i++) {
      System.arraycopy(event.tokens(), i * width, window, tail, width);
      int filled = tail + width;
      int from = 0;
      while (filled - from >= clientTokens) {
        link = hasher.next(link, window, from);
        if (chained == chain.length) {
          chain = Arrays.copyOf(chain, 2 * chained);
        }
        chain[chained++] = link;
        from += clientTokens;
      }
      tail = filled - from;
      System.arraycopy(window, from, window, 0, tail);
      end += width;
      int known = blocks.find(hashes[i]);
      if (known != KvBlocks.NONE) {
        blocks.setTiers(known, blocks.tiers(known) | event.tier().bit);
      } else if (!blocks.add(hashes[i], width, end, link, event.tier().bit, window)) {
        overflown = true;
        return;
      }
    }
  }

  /** Blocks that can't be placed anew; those that are known may be in another tier now. */
  private void storedAgain(Stored event, BlockWriter writer) {
    for (long hash : event.hashes()) {
      int at = blocks.find(hash);
      if (at == KvBlocks.NONE) {
        unplaced++;
        continue;
      }
      blocks.setTiers(at, blocks.tiers(at) | event.tier().bit);
      int count = blocks.clientBlocks(at);
      if (count > 0) {
        writer.storedAgain(number, blocks.link(at), count, holderId, event.tier());
      }
    }
  }

  private void removed(Removed event, BlockWriter writer) {
    removed += event.hashes().length;
    for (long hash : event.hashes()) {
      int at = blocks.find(hash);
      if (at == KvBlocks.NONE) {
        unknownRemoved++;
        continue;
      }
      int count = blocks.clientBlocks(at);
      if (count > 0) {
        writer.removed(number, blocks.link(at), count, holderId, event.tier());
      }
      int left = blocks.tiers(at) & ~event.tier().bit;
      if (left == 0) {
        blocks.remove(at);
      } else {
        blocks.setTiers(at, left);
      }
    }
  }

  private long root(KvKeys keys) {
    Long known = roots.get(keys);
    if (known != null) {
      return known;
    }
    long made = ContentHasher.root(params(keys));
    if (roots.size() >= KEPT_ROOTS) {
      roots.clear();
    }
    roots.put(keys, made);
    return made;
  }
}
