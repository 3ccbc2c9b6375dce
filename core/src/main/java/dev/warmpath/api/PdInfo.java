package dev.warmpath.api;

import org.jspecify.annotations.Nullable;

/**
 * How a request was split between a prefill and a decode worker, or would be.
 *
 * @param prefill the prefill worker, or null where decode computes the prompt itself
 * @param prefillRank its data-parallel rank, or null where none is named
 * @param decode the decode worker
 * @param decodeRank its data-parallel rank, or null where none is named
 * @param protocol how the two pass the KV on, such as {@code sglang} or {@code nixl}
 * @param room where the two met, or 0 where the protocol has no rooms; no secret
 * @param requestId the last attempt's id, as both workers know and log it ({@code rid} or {@code
 *     X-Request-Id}); the ids of transfers are made of it. Null where nothing is sent
 * @param attempts pairs tried so far
 * @param direct why decode computes the prompt itself, or null where it does not
 * @param uncachedTokens prompt tokens that had to be computed, as far as was known
 * @param prefillMillis from sending prefill to its end; NaN while that has not come, as below
 * @param handOffMillis from prefill's end to decode's first payload
 * @param firstPayloadMillis from the attempt's begin to decode's first payload
 * @param decodeMillis from decode's first payload to its end
 * @param prefillUsage the prefill worker's own token counts, whose cached tokens are those of the
 *     prompt that it need not compute (decode's are those whose KV it need not fetch); null until
 *     the request has ended, and where it reports none
 */
public record PdInfo(
    @Nullable String prefill,
    @Nullable Integer prefillRank,
    String decode,
    @Nullable Integer decodeRank,
    String protocol,
    long room,
    @Nullable String requestId,
    int attempts,
    @Nullable String direct,
    int uncachedTokens,
    double prefillMillis,
    double handOffMillis,
    double firstPayloadMillis,
    double decodeMillis,
    @Nullable Usage prefillUsage) {}
