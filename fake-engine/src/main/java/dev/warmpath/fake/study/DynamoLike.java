package dev.warmpath.fake.study;

/**
 * Dynamo's cost: the client's own outstanding prefill with this request's, and what its own
 * requests under way hold, both in blocks of 16 tokens.
 */
final class DynamoLike implements Baseline {
  private final Holdings holdings;
  private final int[] depths;
  private int believed;

  DynamoLike(Holdings holdings, int workers) {
    this.holdings = holdings;
    this.depths = new int[workers];
  }

  @Override
  public int choose(StudyClient client, StudyPrompt prompt) {
    holdings.depths(prompt, client.nowMs(), depths);
    int chosen =
        Cheapest.of(
            client.workers(),
            client.random(),
            worker ->
                (client.prefillTokens(worker)
                            + prompt.promptTokens()
                            - (double) depths[worker] * prompt.blockTokens())
                        / 16
                    + client.activeBlocks(worker));
    holdings.placed(prompt, chosen, client.nowMs());
    believed = depths[chosen];
    return chosen;
  }

  @Override
  public int believedBlocks() {
    return believed;
  }
}
