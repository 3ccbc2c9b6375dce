package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.BlockPool.Block;
import dev.warmpath.fake.scheduler.TierStore.Entry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The host's memory and the disk below a {@link BlockPool}, and the transfers between them.
 *
 * <p>An evicted block is copied to the host, unless it is there already, and from the host to the
 * disk. A swap-in brings blocks back to slots that were reserved for them, over the host if they
 * are on the disk. Each direction is a link of its own, shared equally by what is on its way.
 */
final class OffloadTier implements BlockPool.LowerTier {

  private interface Arrival {
    void at(double nowMs, List<EngineEffect> effects);
  }

  /** One transfer. */
  static final class Move {
    private final Arrival arrival;
    private boolean done;

    private Move(Arrival arrival) {
      this.arrival = arrival;
    }

    boolean done() {
      return done;
    }
  }

  /** Blocks that are brought back for a queued request. */
  static final class SwapIn {
    private final Sequence sequence;
    private final int from;
    private final int to;
    private final List<Block> blocks;
    private final List<Entry> hostEntries = new ArrayList<>();
    private final List<Entry> diskEntries = new ArrayList<>();
    private boolean cancelled;

    private SwapIn(Sequence sequence, int from, int to, List<Block> blocks) {
      this.sequence = sequence;
      this.from = from;
      this.to = to;
      this.blocks = blocks;
    }

    /** Pinned blocks and reserved slots; empty once it has ended. */
    List<Block> blocks() {
      return blocks;
    }

    /** Nobody waits any more; the slots stay taken until the transfer ends. */
    void cancel() {
      cancelled = true;
    }
  }

  private final BlockPool pool;
  private final OffloadOptions options;
  private final double blockBytes;
  private final boolean events;
  private final TierStore host;
  private final TierStore disk;
  private final SharedLink<Move> toHost;
  private final SharedLink<Move> fromHost;
  private final SharedLink<Move> toDisk;
  private final SharedLink<Move> fromDisk;
  private final List<SharedLink<Move>> links;
  private final Set<Long> onTheWay = new HashSet<>();
  private final ArrayDeque<Sequence> swappedIn = new ArrayDeque<>();
  private List<Block> batch = new ArrayList<>();
  private @Nullable Move lastEviction;
  private double now;

  OffloadTier(BlockPool pool, OffloadOptions options, double blockBytes, boolean events) {
    this.pool = pool;
    this.options = options;
    this.blockBytes = blockBytes;
    this.events = events;
    this.host = new TierStore(StorageTier.HOST, options.hostBlocks(), events);
    this.disk = new TierStore(StorageTier.DISK, options.diskBlocks(), events);
    this.toHost = new SharedLink<>(options.hostGigabytesPerSecond());
    this.fromHost = new SharedLink<>(options.hostGigabytesPerSecond());
    this.toDisk = new SharedLink<>(options.diskGigabytesPerSecond());
    this.fromDisk = new SharedLink<>(options.diskGigabytesPerSecond());
    this.links = List.of(toHost, fromHost, toDisk, fromDisk);
    pool.lowerTier(this);
  }

  /** Lets time go by; what arrives is added to the effects. */
  void advance(double nowMs, List<EngineEffect> effects) {
    while (true) {
      SharedLink<Move> next = toHost;
      for (SharedLink<Move> link : links) {
        if (link.nextEndMs() < next.nextEndMs()) {
          next = link;
        }
      }
      double end = next.nextEndMs();
      if (end > nowMs + SharedLink.EPSILON_MS) {
        break;
      }
      now = Math.max(now, end);
      for (Move move : next.advance(end)) {
        move.done = true;
        move.arrival.at(now, effects);
      }
    }
    now = Math.max(now, nowMs);
  }

  /** When the next transfer ends. */
  double nextDeadlineMs() {
    double next = Double.POSITIVE_INFINITY;
    for (SharedLink<Move> link : links) {
      next = Math.min(next, link.nextEndMs());
    }
    return next;
  }

  boolean isIdle() {
    return nextDeadlineMs() == Double.POSITIVE_INFINITY;
  }

  /** The transfer that the latest eviction waits for. */
  @Nullable Move lastEviction() {
    return lastEviction;
  }

  @Override
  public boolean accept(Block block, List<EngineEffect> effects) {
    if (host.use(block.hash()) != null
        || onTheWay.contains(block.hash())
        || !host.reserve(effects)) {
      return false;
    }
    onTheWay.add(block.hash());
    batch.add(block);
    return true;
  }

  @Override
  public void commit() {
    for (int from = 0; from < batch.size(); from += options.batchBlocks()) {
      int to = Math.min(batch.size(), from + options.batchBlocks());
      List<Block> part = batch.subList(from, to);
      Move move = new Move((nowMs, effects) -> offloaded(part, nowMs, effects));
      toHost.start(now, part.size() * blockBytes, move);
      lastEviction = move;
    }
    batch = new ArrayList<>();
  }

  private void offloaded(List<Block> blocks, double nowMs, List<EngineEffect> effects) {
    // leaves are evicted first, so the other way round parents come before their children
    for (int i = blocks.size() - 1; i >= 0; i--) {
      Block block = blocks.get(i);
      onTheWay.remove(block.hash());
      Entry entry = host.add(new Entry(block.hash(), block.parentHash(), block.root()), effects);
      copyToDisk(entry, nowMs, effects);
    }
    for (Block block : blocks) {
      pool.freeQuarantined(block);
    }
  }

  private void copyToDisk(Entry entry, double nowMs, List<EngineEffect> effects) {
    if (options.diskBlocks() == 0 || disk.use(entry.hash()) != null || !disk.reserve(effects)) {
      return;
    }
    host.pin(entry);
    Move move =
        new Move(
            (ms, atEnd) -> {
              host.unpin(entry);
              disk.add(entry.copy(), atEnd);
            });
    toDisk.start(nowMs, blockBytes, move);
  }

  /** Number of consecutive hashes from a place on that can be brought back. */
  int storedRun(long[] hashes, int from, int limit) {
    int at = from;
    while (at < limit && (host.contains(hashes[at]) || disk.contains(hashes[at]))) {
      at++;
    }
    return at - from;
  }

  /**
   * Starts to bring blocks back.
   *
   * @param sequence who waits for them
   * @param hits its leading blocks that are resident; they are pinned
   * @param count how many are wanted behind those
   * @param blocks the pinned ones and slots for the wanted ones; emptied in the end
   * @return the transfer, or null, with all blocks released, if nothing can be brought back
   */
  @Nullable SwapIn swapIn(
      Sequence sequence, int hits, int count, List<Block> blocks, List<EngineEffect> effects) {
    long[] hashes = sequence.hashes.first(hits + count);
    int usable = 0;
    List<Entry> fromHostEntries = new ArrayList<>();
    List<Entry> fromDiskEntries = new ArrayList<>();
    for (int i = hits; i < hits + count; i++) {
      Entry entry = host.use(hashes[i]);
      if (entry != null) {
        host.pin(entry);
        fromHostEntries.add(entry);
      }
    }
    int pinnedOfHost = 0;
    for (int i = hits; i < hits + count; i++) {
      if (pinnedOfHost < fromHostEntries.size()
          && fromHostEntries.get(pinnedOfHost).hash() == hashes[i]) {
        pinnedOfHost++;
      } else {
        Entry entry = disk.use(hashes[i]);
        if (entry == null || !host.reserve(effects)) {
          break;
        }
        disk.pin(entry);
        fromDiskEntries.add(entry);
      }
      usable++;
    }
    while (fromHostEntries.size() > pinnedOfHost) {
      host.unpin(fromHostEntries.remove(fromHostEntries.size() - 1));
    }
    if (usable == 0) {
      pool.release(blocks);
      return null;
    }
    pool.releaseTail(blocks, hits + usable);
    SwapIn swapIn = new SwapIn(sequence, hits, hits + usable, blocks);
    swapIn.hostEntries.addAll(fromHostEntries);
    swapIn.diskEntries.addAll(fromDiskEntries);
    if (fromDiskEntries.isEmpty()) {
      toDevice(swapIn, now);
    } else {
      Move move = new Move((nowMs, atEnd) -> staged(swapIn, nowMs, atEnd));
      fromDisk.start(now, fromDiskEntries.size() * blockBytes, move);
    }
    return swapIn;
  }

  private void staged(SwapIn swapIn, double nowMs, List<EngineEffect> effects) {
    for (Entry entry : swapIn.diskEntries) {
      disk.unpin(entry);
      Entry copy = host.add(entry.copy(), effects);
      host.pin(copy);
      swapIn.hostEntries.add(copy);
    }
    toDevice(swapIn, nowMs);
  }

  private void toDevice(SwapIn swapIn, double nowMs) {
    Move move = new Move((ms, effects) -> arrived(swapIn, effects));
    fromHost.start(nowMs, (swapIn.to - swapIn.from) * blockBytes, move);
  }

  private void arrived(SwapIn swapIn, List<EngineEffect> effects) {
    for (Entry entry : swapIn.hostEntries) {
      host.unpin(entry);
    }
    Sequence sequence = swapIn.sequence;
    Publication.publish(
        pool, sequence.hashes, swapIn.blocks, swapIn.from, swapIn.to, events ? effects : null);
    pool.release(swapIn.blocks);
    if (!swapIn.cancelled) {
      swappedIn.addLast(sequence);
    }
  }

  /** The next request whose blocks have come back, in order of arrival; null if there is none. */
  @Nullable Sequence pollSwappedIn() {
    return swappedIn.pollFirst();
  }

  /** Forgets every block; nothing may be on its way. */
  void clear() {
    host.clear();
    disk.clear();
  }
}
