package dev.warmpath.transport;

/**
 * What a worker's telemetry says of one rank at one moment. {@link Double#NaN} is "not reported":
 * missing is unknown, never zero.
 *
 * @param rank the data-parallel rank, or -1 where the telemetry names none (it then speaks for the
 *     whole worker)
 * @param runningRequests requests being computed
 * @param waitingRequests requests queued in the engine
 * @param usedTokens KV tokens held by live requests
 * @param tokenUsage {@code usedTokens} over capacity, 0..1
 * @param kvCapacityTokens KV capacity in tokens
 * @param maxRunningRequests running requests the engine admits
 * @param cacheHitRate recent prefix cache hit rate, 0..1
 * @param generationTokensPerSecond recent decode throughput
 * @param waitingUncachedTokens prefill tokens queued, as far as the engine knows them
 */
public record RankLoad(
    int rank,
    double runningRequests,
    double waitingRequests,
    double usedTokens,
    double tokenUsage,
    double kvCapacityTokens,
    double maxRunningRequests,
    double cacheHitRate,
    double generationTokensPerSecond,
    double waitingUncachedTokens) {}
