package dev.warmpath.fake.scheduler;

/**
 * What one forward pass computed and what it left in the queues. Variances are those of the
 * population. Requests that end with the pass are counted; tokens that it emits are not.
 *
 * @param prefillRequests sequences that computed prompt tokens
 * @param prefillTokens prompt tokens computed
 * @param prefillVariance variance of those sequences' whole prompt lengths
 * @param prefixTokens tokens in front of the computed ones, already in the KV cache
 * @param decodeRequests sequences that computed generated tokens
 * @param decodeTokens those sequences' lengths, summed
 * @param decodeVariance variance of those lengths
 * @param queuedPrefillRequests sequences whose prompt waits
 * @param queuedPrefillTokens those sequences' lengths, summed
 * @param queuedPrefillVariance variance of those lengths
 * @param queuedDecodeRequests sequences that wait to go on generating: preempted ones, arrived ones
 *     and destinations in every phase
 * @param queuedDecodeTokens those sequences' lengths, summed
 * @param queuedDecodeVariance variance of those lengths
 * @param wallMs modelled time of the pass, in milliseconds
 */
public record ForwardPassMetrics(
    int prefillRequests,
    int prefillTokens,
    double prefillVariance,
    long prefixTokens,
    int decodeRequests,
    long decodeTokens,
    double decodeVariance,
    int queuedPrefillRequests,
    long queuedPrefillTokens,
    double queuedPrefillVariance,
    int queuedDecodeRequests,
    long queuedDecodeTokens,
    double queuedDecodeVariance,
    double wallMs) {}
