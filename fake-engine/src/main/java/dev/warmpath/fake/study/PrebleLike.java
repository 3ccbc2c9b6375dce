package dev.warmpath.fake.study;

import java.util.ArrayDeque;

/**
 * Preble's rule: who holds more of the prompt than is missing gets it, the least loaded of those
 * that hold most; else the worker with the least sum of its load, this prompt's prefill and what
 * that evicts. Loads are this client's own prefill and answers of the last three minutes; evicting
 * costs as much as computing anew once this client alone has filled the cache.
 */
final class PrebleLike implements Baseline {
  private static final double WINDOW_MS = 180_000;

  /** An answer's token weighs as much as so many of a prompt, since batches share a pass. */
  private static final double ANSWER_WEIGHT = 4;

  private record Sent(double ms, int worker, double tokens) {}

  private final Holdings holdings = new PrivateHoldings();
  private final ArrayDeque<Sent> window = new ArrayDeque<>();
  private final double[] load;
  private final long[] placed;
  private final int[] depths;
  private double answers = 250;

  PrebleLike(int workers) {
    load = new double[workers];
    placed = new long[workers];
    depths = new int[workers];
  }

  @Override
  public int choose(StudyClient client, StudyPrompt prompt) {
    double now = client.nowMs();
    for (Sent old = window.peek(); old != null && old.ms() < now - WINDOW_MS; ) {
      load[old.worker()] -= old.tokens();
      window.remove();
      old = window.peek();
    }
    holdings.depths(prompt, now, depths);
    int deepest = 0;
    for (int depth : depths) {
      deepest = Math.max(deepest, depth);
    }
    long cached = (long) deepest * prompt.blockTokens();
    boolean exploit = cached > prompt.promptTokens() - cached;
    int most = deepest;
    int chosen =
        Cheapest.of(
            client.workers(),
            client.random(),
            worker ->
                exploit
                    ? depths[worker] == most ? load[worker] : Double.POSITIVE_INFINITY
                    : load[worker] + explore(client, prompt, worker));
    long missing = missing(prompt, chosen);
    double cost = missing + ANSWER_WEIGHT * answers;
    window.add(new Sent(now, chosen, cost));
    load[chosen] += cost;
    placed[chosen] += missing;
    answers += 0.02 * (prompt.outputTokens() - answers);
    holdings.placed(prompt, chosen, now);
    return chosen;
  }

  private long missing(StudyPrompt prompt, int worker) {
    return prompt.promptTokens() - (long) depths[worker] * prompt.blockTokens();
  }

  private double explore(StudyClient client, StudyPrompt prompt, int worker) {
    long missing = missing(prompt, worker);
    boolean full = placed[worker] > client.fleet().worker(worker).capacityTokens();
    return full ? 2.0 * missing : missing;
  }
}
