package dev.warmpath.fake.scheduler;

/**
 * One scheduler's state at an instant. Counters grow from the scheduler's creation.
 *
 * @param running requests in the running set
 * @param waiting requests in the queue, held ones included
 * @param waitingTokens tokens of the queued requests
 * @param activeBlocks KV blocks held by running requests
 * @param cachedBlocks KV blocks that only the prefix cache holds
 * @param totalBlocks size of the pool
 * @param blockSize tokens in a block
 * @param preempted requests in the queue that had run and lost their blocks
 * @param preemptions how often running requests lost their blocks
 * @param promptTokens prompt tokens of admitted requests
 * @param cachedTokens those of them found in the prefix cache
 * @param generatedTokens tokens generated
 * @param lastPrefillHitRate cached share of the prompts admitted in the last pass that admitted any
 * @param paused whether passes are stopped
 */
public record CoreMetrics(
    int running,
    int waiting,
    long waitingTokens,
    int activeBlocks,
    int cachedBlocks,
    int totalBlocks,
    int blockSize,
    int preempted,
    long preemptions,
    long promptTokens,
    long cachedTokens,
    long generatedTokens,
    double lastPrefillHitRate,
    boolean paused) {

  /**
   * Returns the share of the pool that running requests hold. Blocks that merely stay cached count
   * as free, as in vLLM.
   *
   * @return 0 to 1, and 0 for an empty pool
   */
  public double usage() {
    return totalBlocks == 0 ? 0 : (double) activeBlocks / totalBlocks;
  }

  /**
   * Returns the tokens that the held blocks have room for.
   *
   * @return tokens
   */
  public long usedTokens() {
    return (long) activeBlocks * blockSize;
  }

  /**
   * Returns the capacity of the pool.
   *
   * @return tokens
   */
  public long totalTokens() {
    return (long) totalBlocks * blockSize;
  }
}
