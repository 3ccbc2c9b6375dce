package dev.warmpath.okhttp;

import dev.warmpath.transport.Timeouts;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import okio.Timeout;
import org.jspecify.annotations.Nullable;

/**
 * How long the reads of one response body may take. Until a stream's first event (or to the end of
 * a whole response) one deadline holds, counted from sending, whatever trickles in meanwhile; then
 * the silence between two reads is limited. The request's deadline holds throughout.
 */
final class BodyLimits {
  private static final long NONE = Long.MAX_VALUE;

  private final long firstNanos;
  private final long interNanos;
  private final boolean total;
  private final long totalNanos;

  private BodyLimits(long firstNanos, long interNanos, boolean total, long totalNanos) {
    this.firstNanos = firstNanos;
    this.interNanos = interNanos;
    this.total = total;
    this.totalNanos = totalNanos;
  }

  /** The limits of an exchange that is about to be sent. */
  static BodyLimits from(Timeouts timeouts) {
    long now = System.nanoTime();
    Duration total = timeouts.total();
    long left = total == null ? NONE : nanos(total);
    return new BodyLimits(
        now + Math.min(left, nanos(timeouts.firstToken())),
        nanos(timeouts.interToken()),
        total != null,
        now + (total == null ? 0 : left));
  }

  /** Long enough to mean never, short enough to add to a clock. */
  private static long nanos(@Nullable Duration duration) {
    return duration == null || duration.toDays() > 36_500
        ? TimeUnit.DAYS.toNanos(36_500)
        : duration.toNanos();
  }

  /** Nothing of the body has come yet. */
  void awaitFirst(Timeout timeout) {
    timeout.deadlineNanoTime(firstNanos);
  }

  /** The stream flows. */
  void flowing(Timeout timeout) {
    timeout.timeout(interNanos, TimeUnit.NANOSECONDS);
    if (total) {
      timeout.deadlineNanoTime(totalNanos);
    } else {
      timeout.clearDeadline();
    }
  }
}
