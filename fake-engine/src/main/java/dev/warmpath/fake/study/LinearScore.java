package dev.warmpath.fake.study;

import java.util.HashMap;
import java.util.Map;

/**
 * A linear score of load and cache: running requests, twice the waiting ones and those sent since
 * the poll, four times the share of cache in use, less so many times the matched share of the
 * prompt and 4 for the worker that this client used last for the conversation.
 */
final class LinearScore implements Baseline {
  private final Holdings holdings;
  private final double matchWeight;
  private final double waitingWeight;
  private final Map<Integer, Integer> last = new HashMap<>();
  private final int[] depths;

  LinearScore(Holdings holdings, int workers, double matchWeight, double waitingWeight) {
    this.holdings = holdings;
    this.depths = new int[workers];
    this.matchWeight = matchWeight;
    this.waitingWeight = waitingWeight;
  }

  @Override
  public int choose(StudyClient client, StudyPrompt prompt) {
    holdings.depths(prompt, client.nowMs(), depths);
    int before = last.getOrDefault(prompt.family(), -1);
    int chosen =
        Cheapest.of(
            client.workers(),
            client.random(),
            worker ->
                client.running(worker)
                    + waitingWeight * (client.waiting(worker) + client.sentSincePoll(worker))
                    + 4 * client.usage(worker)
                    - matchWeight * depths[worker] * prompt.blockTokens() / prompt.promptTokens()
                    - (worker == before ? 4 : 0));
    last.put(prompt.family(), chosen);
    holdings.placed(prompt, chosen, client.nowMs());
    return chosen;
  }
}
