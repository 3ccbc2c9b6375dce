package dev.warmpath.fake.kdn;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * A node's link and the transfers that wait for it, without a clock: whoever drives it tells the
 * time, real or virtual, in milliseconds that never go back.
 *
 * <p>Source: CacheRoute's {@code NetworkSimulator} ({@code kdn_server/kdn_api.py}). Without a batch
 * window one transfer is under way at a time, as in v0.1.9. With one, as in the revisions before, a
 * batch collects what is ready until the window that its first transfer opens is over, its
 * transfers share the bandwidth equally, and the next batch opens when the slowest of them has
 * ended. Not thread safe.
 */
public final class TransferQueue {

  /** Weight of the latest wait in the smoothed one, which time alone doesn't lower. */
  private static final double EMA_WEIGHT = 0.2;

  private final KdnNetwork network;
  private final ArrayDeque<Transfer> pending = new ArrayDeque<>();
  private final ArrayDeque<Transfer> active = new ArrayDeque<>();
  private double freeAtMs = Double.NEGATIVE_INFINITY;
  private double queueMillis;

  /** Bytes on their way. */
  public static final class Transfer {
    private final long bytes;
    private final double readyMs;
    private double startMs = Double.NaN;
    private double endMs = Double.NaN;

    private Transfer(long bytes, double readyMs) {
      this.bytes = bytes;
      this.readyMs = readyMs;
    }

    /**
     * Returns its size.
     *
     * @return bytes
     */
    public long bytes() {
      return bytes;
    }

    /**
     * Returns how long it waited for the link.
     *
     * @return milliseconds, NaN as long as it waits
     */
    public double queuedMillis() {
      return startMs - readyMs;
    }

    /**
     * Returns when it ends.
     *
     * @return milliseconds, NaN as long as it waits
     */
    public double endMs() {
      return endMs;
    }
  }

  /**
   * Creates an idle link.
   *
   * @param network what it is like
   */
  public TransferQueue(KdnNetwork network) {
    this.network = network;
  }

  /**
   * Adds a transfer.
   *
   * @param bytes its size, 0 or more
   * @param nowMs when it is ready
   * @return the transfer; {@link #advance} hands it back when it has ended
   */
  public Transfer offer(long bytes, double nowMs) {
    Transfer transfer = new Transfer(bytes, nowMs);
    pending.addLast(transfer);
    return transfer;
  }

  /**
   * Lets time pass.
   *
   * @param nowMs until when
   * @return what has ended, first ends first
   */
  public List<Transfer> advance(double nowMs) {
    List<Transfer> ended = new ArrayList<>();
    while (true) {
      while (!active.isEmpty() && active.getFirst().endMs <= nowMs) {
        Transfer next = active.removeFirst();
        freeAtMs = next.endMs;
        ended.add(next);
      }
      if (!active.isEmpty() || pending.isEmpty() || startsMs() > nowMs) {
        return ended;
      }
      start(startsMs());
    }
  }

  /** When the batch of the first pending transfer begins to move. */
  private double startsMs() {
    return Math.max(freeAtMs, pending.getFirst().readyMs) + network.batchWindowMillis();
  }

  private void start(double atMs) {
    List<Transfer> batch = new ArrayList<>();
    do {
      batch.add(pending.removeFirst());
    } while (network.batchWindowMillis() > 0
        && !pending.isEmpty()
        && pending.getFirst().readyMs <= atMs);
    for (Transfer transfer : batch) {
      transfer.startMs = atMs;
      transfer.endMs = atMs + network.millis(transfer.bytes, batch.size());
      queueMillis += EMA_WEIGHT * (transfer.queuedMillis() - queueMillis);
    }
    batch.sort(Comparator.comparingDouble(Transfer::endMs));
    active.addAll(batch);
  }

  /**
   * Returns when {@link #advance} has something to do next.
   *
   * @return the time, or {@link Double#POSITIVE_INFINITY} where nothing waits or moves
   */
  public double nextDeadlineMs() {
    if (!active.isEmpty()) {
      return active.getFirst().endMs;
    }
    return pending.isEmpty() ? Double.POSITIVE_INFINITY : startsMs();
  }

  /**
   * Returns how many transfers wait.
   *
   * @return transfers
   */
  public int pending() {
    return pending.size();
  }

  /**
   * Returns how many transfers are under way.
   *
   * @return transfers
   */
  public int active() {
    return active.size();
  }

  /**
   * Returns the smoothed wait of the transfers so far ({@code network_queue_ms_ema}).
   *
   * @return milliseconds, to three decimals
   */
  public double queueMillis() {
    return Math.round(queueMillis * 1000) / 1000.0;
  }
}
