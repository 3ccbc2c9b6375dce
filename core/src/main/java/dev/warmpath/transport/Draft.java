package dev.warmpath.transport;

import dev.warmpath.api.RouterRequest;
import org.jspecify.annotations.Nullable;

/**
 * A request before it is routed, as a transport looks at it that can't carry every one.
 *
 * @param request what is asked
 * @param tokens its prompt's tokens, or null where there are none
 * @param noTokens why there are none, and what to do about it; null where there are
 */
public record Draft(
    RouterRequest request, @Nullable PromptTokens tokens, @Nullable String noTokens) {}
