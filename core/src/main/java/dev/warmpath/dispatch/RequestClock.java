package dev.warmpath.dispatch;

import dev.warmpath.api.RequestTimings;
import java.time.Duration;

/**
 * Where a request's time goes, in nanoseconds of the client's ticker. Written by whoever drives the
 * request, read by whoever tells of it.
 */
final class RequestClock {
  private final long queueNanos;
  private volatile long lookupNanos;
  private volatile long decisionNanos;
  private volatile long attemptStarted;
  private volatile long firstByteNanos = -1;
  private volatile boolean attempting;

  RequestClock(long queueNanos) {
    this.queueNanos = queueNanos;
  }

  void lookedUp(long nanos) {
    lookupNanos = nanos;
  }

  void decided(long nanos) {
    decisionNanos = nanos;
  }

  void attempt(long now) {
    attemptStarted = now;
    firstByteNanos = -1;
    attempting = true;
  }

  void firstByte(long now) {
    if (firstByteNanos < 0) {
      firstByteNanos = Math.max(0, now - attemptStarted);
    }
  }

  RequestTimings timings(long now) {
    long first = firstByteNanos;
    return new RequestTimings(
        Duration.ofNanos(queueNanos),
        Duration.ofNanos(lookupNanos),
        Duration.ofNanos(decisionNanos),
        attempting ? Duration.ofNanos(now - attemptStarted) : Duration.ZERO,
        first < 0 ? null : Duration.ofNanos(first));
  }
}
