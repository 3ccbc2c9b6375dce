package dev.warmpath.fake.scheduler;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The tiers below a {@link RadixPool}: where evictions go and from where pages come back. */
final class RadixOffload implements RadixPool.LowerTier {

  private record Page(long hash, long parentHash, boolean root) implements TierTransfers.Evicted {}

  /** Pages that are brought back for a queued sequence, behind a prefix that is kept locked. */
  final class SwapIn implements TierTransfers.Landing {
    private final RadixSequence sequence;
    private final RadixNode prefix;
    private int pages;
    private boolean cancelled;

    private SwapIn(RadixSequence sequence, RadixNode prefix, int pages) {
      this.sequence = sequence;
      this.prefix = prefix;
      this.pages = pages;
    }

    RadixNode prefix() {
      return prefix;
    }

    /** Pages that wait for their content. */
    int pages() {
      return pages;
    }

    /** Nobody waits any more; the pages stay taken until the transfer ends. */
    void cancel() {
      cancelled = true;
    }

    @Override
    public void expect(int count) {
      kv.pool().give(pages - count);
      pages = count;
      if (count == 0) {
        kv.pool().unlock(prefix);
      }
    }

    @Override
    public void arrived(List<EngineEffect> effects) {
      under.remove(this);
      kv.land(sequence, prefix, pages);
      if (!cancelled) {
        swappedIn.addLast(sequence);
      }
    }
  }

  private final RadixKv kv;
  private final TierTransfers<Page> transfers;
  private final List<SwapIn> under = new ArrayList<>();
  private final ArrayDeque<RadixSequence> swappedIn = new ArrayDeque<>();

  RadixOffload(RadixKv kv, OffloadOptions options, double pageBytes, boolean events) {
    this.kv = kv;
    this.transfers =
        new TierTransfers<>(options, pageBytes, events, page -> kv.pool().freeQuarantined());
    kv.pool().lowerTier(this);
  }

  @Override
  public boolean accept(long hash, long parentHash, boolean root) {
    return transfers.accept(new Page(hash, parentHash, root), kv.events());
  }

  @Override
  public void commit() {
    transfers.commit();
  }

  void advance(double nowMs) {
    transfers.advance(nowMs, kv.events());
  }

  double nextDeadlineMs() {
    return transfers.nextDeadlineMs();
  }

  boolean isIdle() {
    return transfers.isIdle();
  }

  /**
   * Starts to bring back the pages of a sequence that follow those in the tree.
   *
   * @return the transfer, or null if there are none, or no room for them now
   */
  @Nullable SwapIn swapIn(RadixSequence sequence) {
    RadixPool.Prefix found = kv.look(sequence);
    int limit = kv.reusablePages(sequence.length());
    long[] hashes = sequence.hashes.first(limit);
    int stored = transfers.storedRun(hashes, found.pages(), limit);
    if (stored == 0) {
      return null;
    }
    RadixNode prefix = kv.pool().match(hashes, found.pages());
    kv.pool().lock(prefix);
    if (!kv.take(stored)) {
      kv.pool().unlock(prefix);
      return null;
    }
    SwapIn swapIn = new SwapIn(sequence, prefix, stored);
    int from = found.pages();
    if (!transfers.swapIn(hashes, from, from + stored, swapIn, kv.events())) {
      return null;
    }
    under.add(swapIn);
    return swapIn;
  }

  /** The swap-ins that have not ended. */
  List<SwapIn> under() {
    return under;
  }

  /** The next sequence whose pages have come back, in order of arrival; null if there is none. */
  @Nullable RadixSequence pollSwappedIn() {
    return swappedIn.pollFirst();
  }

  /** Forgets every page; nothing may be on its way. */
  void clear() {
    transfers.clear();
  }
}
