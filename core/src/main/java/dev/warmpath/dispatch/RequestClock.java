package dev.warmpath.dispatch;

import dev.warmpath.api.RequestTimings;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Where a request's time goes, by the client's ticker. Written by whoever drives the request, read
 * by whoever tells of it; keeps durations, because every event of the request tells the same ones.
 */
final class RequestClock {
  private final Duration queue;
  private volatile Duration lookup = Duration.ZERO;
  private volatile Duration decision = Duration.ZERO;
  private volatile long attemptStarted;
  private volatile @Nullable Duration firstByte;
  private volatile boolean attempting;

  RequestClock(long queueNanos) {
    this.queue = Duration.ofNanos(queueNanos);
  }

  void lookedUp(long nanos) {
    lookup = Duration.ofNanos(nanos);
  }

  void decided(long nanos) {
    decision = Duration.ofNanos(nanos);
  }

  void attempt(long now) {
    attemptStarted = now;
    firstByte = null;
    attempting = true;
  }

  void firstByte(long now) {
    if (firstByte == null) {
      firstByte = Duration.ofNanos(Math.max(0, now - attemptStarted));
    }
  }

  @Nullable Duration firstByte() {
    return firstByte;
  }

  RequestTimings timings(long now) {
    return new RequestTimings(
        queue,
        lookup,
        decision,
        attempting ? Duration.ofNanos(now - attemptStarted) : Duration.ZERO,
        firstByte);
  }
}
