package dev.warmpath.fake.study;

import org.jspecify.annotations.Nullable;

/**
 * SGLang's router as it was published: the worker that was last sent the longest matching prefix,
 * if that is more than a share of the prompt; else, and while the loads are too far apart, the
 * worker with the least load.
 *
 * @param threshold share of the prompt that must match
 * @param absolute how far apart the loads must be to count as unequal
 * @param relative how many times the least load the greatest must be, too
 */
record CacheAwareTree(
    LongMap lastHolder, boolean polled, double threshold, int absolute, double relative)
    implements Baseline {

  @Override
  public int choose(StudyClient client, StudyPrompt prompt) {
    int worker = pick(client, prompt);
    for (int block : prompt.blocks()) {
      lastHolder.put(block, worker);
    }
    return worker;
  }

  private int pick(StudyClient client, StudyPrompt prompt) {
    int least = Integer.MAX_VALUE;
    int most = 0;
    for (int worker = 0; worker < client.workers(); worker++) {
      least = Math.min(least, load(client, worker));
      most = Math.max(most, load(client, worker));
    }
    boolean unequal = most - least > absolute && most > relative * least;
    Integer holder = unequal ? null : holder(prompt);
    return holder != null
        ? holder
        : Cheapest.of(client.workers(), client.random(), worker -> load(client, worker));
  }

  private int load(StudyClient client, int worker) {
    return polled ? client.load(worker) : client.inFlight(worker);
  }

  private @Nullable Integer holder(StudyPrompt prompt) {
    int[] blocks = prompt.blocks();
    int depth = 0;
    long holder = -1;
    for (; depth < blocks.length; depth++) {
      long next = lastHolder.get(blocks[depth], -1);
      if (next < 0) {
        break;
      }
      holder = next;
    }
    double matched = (double) depth * prompt.blockTokens() / prompt.promptTokens();
    return matched > threshold ? (Integer) (int) holder : null;
  }
}
