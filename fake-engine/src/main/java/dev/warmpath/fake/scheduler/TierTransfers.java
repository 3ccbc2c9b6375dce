package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.TierStore.Entry;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The host's memory and the disk below an accelerator's pool, and the transfers between them.
 *
 * <p>An evicted block is copied to the host, unless it is there already, and from the host to the
 * disk. A swap-in brings blocks back to slots that were reserved for them, over the host if they
 * are on the disk. Each direction is a link of its own, shared equally by what is on its way.
 *
 * @param <B> an evicted block of the pool
 */
final class TierTransfers<B extends TierTransfers.Evicted> {

  /** A block that was cached and is not any more. */
  interface Evicted {
    long hash();

    /** Hash of the block before it; meaningless for a root. */
    long parentHash();

    /** Whether it begins a sequence. */
    boolean root();
  }

  /** The slots that wait for blocks from below. */
  interface Landing {
    /** Only so many blocks will come; 0 ends the matter. */
    void expect(int blocks);

    /** They are there. */
    void arrived(List<EngineEffect> effects);
  }

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

  private final OffloadOptions options;
  private final double blockBytes;
  private final Consumer<B> copied;
  private final TierStore host;
  private final TierStore disk;
  private final SharedLink<Move> toHost;
  private final SharedLink<Move> fromHost;
  private final SharedLink<Move> toDisk;
  private final SharedLink<Move> fromDisk;
  private final List<SharedLink<Move>> links;
  private final Set<Long> onTheWay = new HashSet<>();
  private List<B> batch = new ArrayList<>();
  private @Nullable Move lastEviction;
  private double now;

  /**
   * Creates empty tiers.
   *
   * @param blockBytes size of a block
   * @param events whether the tiers' changes are reported
   * @param copied hears that an accepted block's slot is free
   */
  TierTransfers(OffloadOptions options, double blockBytes, boolean events, Consumer<B> copied) {
    this.options = options;
    this.blockBytes = blockBytes;
    this.copied = copied;
    this.host = new TierStore(StorageTier.HOST, options.hostBlocks(), events);
    this.disk = new TierStore(StorageTier.DISK, options.diskBlocks(), events);
    this.toHost = new SharedLink<>(options.hostGigabytesPerSecond());
    this.fromHost = new SharedLink<>(options.hostGigabytesPerSecond());
    this.toDisk = new SharedLink<>(options.diskGigabytesPerSecond());
    this.fromDisk = new SharedLink<>(options.diskGigabytesPerSecond());
    this.links = List.of(toHost, fromHost, toDisk, fromDisk);
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

  /**
   * Offers an evicted block.
   *
   * @return true if its slot must be kept until it is copied
   */
  boolean accept(B block, List<EngineEffect> effects) {
    if (host.use(block.hash()) != null
        || onTheWay.contains(block.hash())
        || !host.reserve(effects)) {
      return false;
    }
    onTheWay.add(block.hash());
    batch.add(block);
    return true;
  }

  /** Ends a series of offers and starts to copy what was accepted. */
  void commit() {
    for (int from = 0; from < batch.size(); from += options.batchBlocks()) {
      int to = Math.min(batch.size(), from + options.batchBlocks());
      List<B> part = batch.subList(from, to);
      Move move = new Move((nowMs, effects) -> offloaded(part, nowMs, effects));
      toHost.start(now, part.size() * blockBytes, move);
      lastEviction = move;
    }
    batch = new ArrayList<>();
  }

  private void offloaded(List<B> blocks, double nowMs, List<EngineEffect> effects) {
    // leaves are evicted first, so the other way round parents come before their children
    for (int i = blocks.size() - 1; i >= 0; i--) {
      B block = blocks.get(i);
      onTheWay.remove(block.hash());
      Entry entry = host.add(new Entry(block.hash(), block.parentHash(), block.root()), effects);
      copyToDisk(entry, nowMs, effects);
    }
    blocks.forEach(copied);
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
   * @param from index of the first hash that is wanted
   * @param to index behind the last one
   * @param landing the slots for them
   * @return false if nothing can be brought back
   */
  boolean swapIn(long[] hashes, int from, int to, Landing landing, List<EngineEffect> effects) {
    List<Entry> ofHost = new ArrayList<>();
    List<Entry> ofDisk = new ArrayList<>();
    for (int i = from; i < to; i++) {
      Entry entry = host.use(hashes[i]);
      if (entry != null) {
        host.pin(entry);
        ofHost.add(entry);
      }
    }
    int usable = 0;
    int usedOfHost = 0;
    for (int i = from; i < to; i++) {
      if (usedOfHost < ofHost.size() && ofHost.get(usedOfHost).hash() == hashes[i]) {
        usedOfHost++;
      } else {
        Entry entry = disk.use(hashes[i]);
        if (entry == null || !host.reserve(effects)) {
          break;
        }
        disk.pin(entry);
        ofDisk.add(entry);
      }
      usable++;
    }
    while (ofHost.size() > usedOfHost) {
      host.unpin(ofHost.remove(ofHost.size() - 1));
    }
    landing.expect(usable);
    if (usable == 0) {
      return false;
    }
    double bytes = usable * blockBytes;
    if (ofDisk.isEmpty()) {
      toDevice(ofHost, bytes, landing, now);
    } else {
      Move move =
          new Move(
              (nowMs, atEnd) -> {
                stage(ofDisk, ofHost, atEnd);
                toDevice(ofHost, bytes, landing, nowMs);
              });
      fromDisk.start(now, ofDisk.size() * blockBytes, move);
    }
    return true;
  }

  private void stage(List<Entry> ofDisk, List<Entry> ofHost, List<EngineEffect> effects) {
    for (Entry entry : ofDisk) {
      disk.unpin(entry);
      Entry copy = host.add(entry.copy(), effects);
      host.pin(copy);
      ofHost.add(copy);
    }
  }

  private void toDevice(List<Entry> pinned, double bytes, Landing landing, double nowMs) {
    Move move =
        new Move(
            (ms, effects) -> {
              pinned.forEach(host::unpin);
              landing.arrived(effects);
            });
    fromHost.start(nowMs, bytes, move);
  }

  /** Forgets every block; nothing may be on its way. */
  void clear() {
    host.clear();
    disk.clear();
  }
}
