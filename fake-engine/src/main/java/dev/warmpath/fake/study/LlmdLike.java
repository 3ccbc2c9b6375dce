package dev.warmpath.fake.study;

/**
 * llm-d's scorers, weighted: the matched share of the prompt, the queue between the longest and the
 * shortest, and the free share of the cache.
 */
final class LlmdLike implements Baseline {
  private final Holdings holdings;
  private final double prefixWeight;
  private final double queueWeight;
  private final double cacheWeight;
  private final int[] depths;

  LlmdLike(
      Holdings holdings, int workers, double prefixWeight, double queueWeight, double cacheWeight) {
    this.holdings = holdings;
    this.prefixWeight = prefixWeight;
    this.queueWeight = queueWeight;
    this.cacheWeight = cacheWeight;
    this.depths = new int[workers];
  }

  @Override
  public int choose(StudyClient client, StudyPrompt prompt) {
    holdings.depths(prompt, client.nowMs(), depths);
    int least = Integer.MAX_VALUE;
    int most = 0;
    for (int worker = 0; worker < client.workers(); worker++) {
      least = Math.min(least, client.waiting(worker));
      most = Math.max(most, client.waiting(worker));
    }
    int shortest = least;
    int longest = most;
    int chosen =
        Cheapest.of(
            client.workers(),
            client.random(),
            worker -> {
              double queue =
                  longest == shortest
                      ? 1
                      : (double) (longest - client.waiting(worker)) / (longest - shortest);
              double prefix =
                  (double) depths[worker] * prompt.blockTokens() / prompt.promptTokens();
              return -prefixWeight * prefix
                  - queueWeight * queue
                  - cacheWeight * (1 - client.usage(worker));
            });
    holdings.placed(prompt, chosen, client.nowMs());
    return chosen;
  }
}
