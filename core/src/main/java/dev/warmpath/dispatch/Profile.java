package dev.warmpath.dispatch;

import dev.warmpath.policy.RoutingPolicy;
import dev.warmpath.transport.Timeouts;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A named set of options that a request asks for with {@code profile}: null leaves the client's own
 * in place. What the request itself says still wins.
 *
 * @param policy decides in place of the client's policy
 * @param timeouts in place of the client's
 * @param deadline in place of the client's
 * @param priority admission priority where the request gives none
 */
public record Profile(
    @Nullable RoutingPolicy policy,
    @Nullable Timeouts timeouts,
    @Nullable Duration deadline,
    int priority) {}
