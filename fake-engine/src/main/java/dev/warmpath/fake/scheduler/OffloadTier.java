package dev.warmpath.fake.scheduler;

import dev.warmpath.fake.scheduler.BlockPool.Block;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The tiers below a {@link BlockPool}: where evictions go and from where blocks come back. */
final class OffloadTier implements BlockPool.LowerTier {

  /** Blocks that are brought back for a queued request. */
  final class SwapIn implements TierTransfers.Landing {
    private final Sequence sequence;
    private final int from;
    private final List<Block> blocks;
    private int to;
    private boolean cancelled;

    private SwapIn(Sequence sequence, int from, List<Block> blocks) {
      this.sequence = sequence;
      this.from = from;
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

    @Override
    public void expect(int count) {
      to = from + count;
      if (count == 0) {
        pool.release(blocks);
      } else {
        pool.releaseTail(blocks, to);
      }
    }

    @Override
    public void arrived(List<EngineEffect> effects) {
      Publication.publish(pool, sequence.hashes, blocks, from, to, events ? effects : null);
      pool.release(blocks);
      if (!cancelled) {
        swappedIn.addLast(sequence);
      }
    }
  }

  private final BlockPool pool;
  private final boolean events;
  private final TierTransfers<Block> transfers;
  private final ArrayDeque<Sequence> swappedIn = new ArrayDeque<>();

  OffloadTier(BlockPool pool, OffloadOptions options, double blockBytes, boolean events) {
    this.pool = pool;
    this.events = events;
    this.transfers = new TierTransfers<>(options, blockBytes, events, pool::freeQuarantined);
    pool.lowerTier(this);
  }

  /** Lets time go by; what arrives is added to the effects. */
  void advance(double nowMs, List<EngineEffect> effects) {
    transfers.advance(nowMs, effects);
  }

  /** When the next transfer ends. */
  double nextDeadlineMs() {
    return transfers.nextDeadlineMs();
  }

  boolean isIdle() {
    return transfers.isIdle();
  }

  /** The transfer that the latest eviction waits for. */
  TierTransfers.@Nullable Move lastEviction() {
    return transfers.lastEviction();
  }

  @Override
  public boolean accept(Block block, List<EngineEffect> effects) {
    return transfers.accept(block, effects);
  }

  @Override
  public void commit() {
    transfers.commit();
  }

  /** Number of consecutive hashes from a place on that can be brought back. */
  int storedRun(long[] hashes, int from, int limit) {
    return transfers.storedRun(hashes, from, limit);
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
    SwapIn swapIn = new SwapIn(sequence, hits, blocks);
    long[] hashes = sequence.hashes.first(hits + count);
    return transfers.swapIn(hashes, hits, hits + count, swapIn, effects) ? swapIn : null;
  }

  /** The next request whose blocks have come back, in order of arrival; null if there is none. */
  @Nullable Sequence pollSwappedIn() {
    return swappedIn.pollFirst();
  }

  /** Forgets every block; nothing may be on its way. */
  void clear() {
    transfers.clear();
  }
}
