package dev.warmpath.config;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How workers are reached over gRPC by a transport that a configuration names.
 *
 * @param keepAlive how long a silent connection goes unchecked, or null to send no pings
 * @param keepAliveTimeout how long a ping may stay unanswered
 * @param pingsWhenIdle whether a connection without calls is pinged too
 * @param maxInboundBytes the largest message that is accepted
 * @param idleTimeout after how long without calls the connection is dropped
 */
public record GrpcSettings(
    @Nullable Duration keepAlive,
    Duration keepAliveTimeout,
    boolean pingsWhenIdle,
    int maxInboundBytes,
    Duration idleTimeout) {
  /** Pings every 30 s, idle or not, answered within 10 s; 256 MiB; 5 min. */
  public static final GrpcSettings DEFAULT =
      new GrpcSettings(
          Duration.ofSeconds(30), Duration.ofSeconds(10), true, 256 << 20, Duration.ofMinutes(5));
}
