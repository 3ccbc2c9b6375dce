package dev.warmpath.pd;

import dev.warmpath.dispatch.WorkerClaim;
import org.jspecify.annotations.Nullable;

/**
 * A chosen pair with its places taken.
 *
 * @param pair who
 * @param prefill prefill's part, or null where decode does it all
 * @param decode decode's part
 * @param direct why decode does it all, or null
 * @param uncachedTokens prompt tokens to be computed
 */
record PdChoice(
    PdPair pair,
    @Nullable WorkerClaim prefill,
    WorkerClaim decode,
    @Nullable String direct,
    int uncachedTokens) {}
