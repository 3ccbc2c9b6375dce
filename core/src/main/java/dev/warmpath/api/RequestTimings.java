package dev.warmpath.api;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Where a request's time went, as far as it has come.
 *
 * @param queue the wait for admission; zero where there was none
 * @param lookup the wait for an index outside of the client; zero where there is none
 * @param decision the policy's time for the plan that the request goes by
 * @param attempt since the last attempt began; zero before the first
 * @param firstByte from that attempt's beginning to the first byte of its answer (TTFT where the
 *     answer is streamed); null before it came
 */
public record RequestTimings(
    Duration queue,
    Duration lookup,
    Duration decision,
    Duration attempt,
    @Nullable Duration firstByte) {}
