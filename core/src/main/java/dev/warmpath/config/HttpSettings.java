package dev.warmpath.config;

import java.time.Duration;

/**
 * How workers are reached over HTTP by a transport that a configuration names.
 *
 * @param keepAlive how long an idle connection is kept; shorter than the 5 s after which engines
 *     close one
 * @param maxIdleConnections how many are kept over all workers
 * @param http2PriorKnowledge whether {@code http} workers are spoken to in HTTP/2 without TLS
 */
public record HttpSettings(
    Duration keepAlive, int maxIdleConnections, boolean http2PriorKnowledge) {
  /** 4 s, 1,024, HTTP/1.1. */
  public static final HttpSettings DEFAULT = new HttpSettings(Duration.ofSeconds(4), 1_024, false);
}
