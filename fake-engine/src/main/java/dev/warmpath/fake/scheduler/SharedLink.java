package dev.warmpath.fake.scheduler;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;

/**
 * A link whose bandwidth is shared equally by everything that is on its way (processor sharing): of
 * N transfers each gets one Nth.
 *
 * <p>Time is given by the caller and never runs backwards: an earlier time than the latest one
 * counts as the latest. One thread at a time may use an instance.
 *
 * @param <T> what a transfer is known by
 */
public final class SharedLink<T> {

  /** Times closer than this are the same, in milliseconds. */
  static final double EPSILON_MS = 1e-9;

  private record Transfer<T>(double endsAtService, long number, T what) {}

  private final double bytesPerMs;
  private final PriorityQueue<Transfer<T>> transfers =
      new PriorityQueue<>(
          (a, b) -> {
            int order = Double.compare(a.endsAtService(), b.endsAtService());
            return order != 0 ? order : Long.compare(a.number(), b.number());
          });

  /** Bytes that a transfer has got which was there since the link was last idle. */
  private double service;

  private double now = Double.NEGATIVE_INFINITY;
  private long started;

  /**
   * Creates an idle link.
   *
   * @param gigabytesPerSecond bandwidth in 10^9 bytes a second; 0 or less for a link without delay
   */
  public SharedLink(double gigabytesPerSecond) {
    this.bytesPerMs = gigabytesPerSecond > 0 ? gigabytesPerSecond * 1e6 : Double.POSITIVE_INFINITY;
  }

  /**
   * Starts a transfer.
   *
   * @param nowMs when
   * @param bytes its size, 0 or more
   * @param what what {@link #advance} returns at its end
   */
  public void start(double nowMs, double bytes, T what) {
    if (!(bytes >= 0)) {
      throw new IllegalArgumentException("bytes must be 0 or more, was " + bytes);
    }
    serve(nowMs);
    if (transfers.isEmpty()) {
      service = 0;
    }
    double need = Double.isInfinite(bytesPerMs) ? 0 : bytes;
    transfers.add(new Transfer<>(service + need, started++, what));
  }

  /**
   * Lets time go by.
   *
   * @param nowMs up to when
   * @return what has arrived, in order of arrival
   */
  public List<T> advance(double nowMs) {
    List<T> arrived = List.of();
    while (!transfers.isEmpty() && nextEndMs() <= nowMs + EPSILON_MS) {
      Transfer<T> first = transfers.peek();
      now = nextEndMs();
      service = Math.max(service, first.endsAtService());
      transfers.remove();
      if (arrived.isEmpty()) {
        arrived = new ArrayList<>();
      }
      arrived.add(first.what());
    }
    serve(nowMs);
    return arrived;
  }

  private void serve(double nowMs) {
    if (nowMs > now) {
      if (!transfers.isEmpty() && !Double.isInfinite(bytesPerMs)) {
        service += (nowMs - now) * bytesPerMs / transfers.size();
      }
      now = nowMs;
    }
  }

  /**
   * Returns when the next transfer ends if none is added.
   *
   * @return the time in milliseconds, or {@link Double#POSITIVE_INFINITY} if the link is idle
   */
  public double nextEndMs() {
    Transfer<T> first = transfers.peek();
    if (first == null) {
      return Double.POSITIVE_INFINITY;
    }
    double missing = first.endsAtService() - service;
    return missing <= 0 ? now : now + missing * transfers.size() / bytesPerMs;
  }

  /**
   * Tells whether nothing is on its way.
   *
   * @return true if idle
   */
  public boolean isIdle() {
    return transfers.isEmpty();
  }
}
