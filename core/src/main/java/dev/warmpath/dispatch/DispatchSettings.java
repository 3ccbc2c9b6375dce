package dev.warmpath.dispatch;

import dev.warmpath.transport.Timeouts;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How requests are carried out.
 *
 * @param timeouts how long an attempt may take, part by part
 * @param deadline how long a request may take in all, unless it says so itself; null for no limit
 *     beyond the parts
 * @param retry when a failed attempt is followed by another
 * @param breaker when a failing worker is set aside
 * @param admission how many requests are out at once and who waits
 * @param noWorkerWait how long a request waits for the first worker to be discovered
 */
public record DispatchSettings(
    Timeouts timeouts,
    @Nullable Duration deadline,
    RetrySettings retry,
    BreakerSettings breaker,
    AdmissionSettings admission,
    Duration noWorkerWait) {

  /** The defaults of the parts, no deadline, and up to 5 s for the first worker to appear. */
  public static final DispatchSettings DEFAULT =
      new DispatchSettings(
          Timeouts.DEFAULT,
          null,
          RetrySettings.DEFAULT,
          BreakerSettings.DEFAULT,
          AdmissionSettings.DEFAULT,
          Duration.ofSeconds(5));
}
