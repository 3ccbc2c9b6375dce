package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.handoff.TransferProtocol;

/**
 * How a prefill or decode worker hands KV over.
 *
 * @param protocol the connector it is configured with
 * @param timeouts how long it waits for the other side
 * @param port of its side channel; 0 picks a free one
 * @param bySocket whether workers of the same process are met by their sockets, as others are
 */
public record HandoffOptions(
    TransferProtocol protocol, HandoffTimeouts timeouts, int port, boolean bySocket) {}
