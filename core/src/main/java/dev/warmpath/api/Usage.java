package dev.warmpath.api;

import org.jspecify.annotations.Nullable;

/**
 * What the engine says a request cost, in tokens. Null is "not reported", never zero.
 *
 * @param promptTokens tokens of the prompt
 * @param cachedTokens tokens of the prompt found in the KV cache
 * @param completionTokens tokens generated
 */
public record Usage(
    @Nullable Integer promptTokens,
    @Nullable Integer cachedTokens,
    @Nullable Integer completionTokens) {}
