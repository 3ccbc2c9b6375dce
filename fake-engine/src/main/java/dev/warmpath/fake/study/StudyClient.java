package dev.warmpath.fake.study;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * What one client knows by itself: each worker's load as of its last poll, and its own requests.
 * Its policy decides by this.
 */
final class StudyClient {
  private final StudyFleet fleet;
  private final double pollMs;
  private final double[] phaseMs;
  private final int[] entry;
  private final Sends[] sends;
  private final int[] inFlight;
  private final long[] prefillTokens;
  private final long[] activeBlocks;
  private final SplittableRandom random;

  /** When this client sent requests to one worker, as far as it has not polled it since. */
  private static final class Sends {
    private double[] times = new double[8];
    private int from;
    private int to;

    void add(double ms) {
      if (to == times.length) {
        int kept = to - from;
        times = Arrays.copyOfRange(times, from, from + Math.max(8, 2 * kept));
        from = 0;
        to = kept;
      }
      times[to++] = ms;
    }

    int after(double ms) {
      while (from < to && times[from] <= ms) {
        from++;
      }
      return to - from;
    }
  }

  StudyClient(StudyFleet fleet, double pollMs, SplittableRandom random) {
    this.fleet = fleet;
    this.pollMs = pollMs;
    this.random = random;
    int workers = fleet.size();
    phaseMs = new double[workers];
    entry = new int[workers];
    sends = new Sends[workers];
    inFlight = new int[workers];
    prefillTokens = new long[workers];
    activeBlocks = new long[workers];
    for (int i = 0; i < workers; i++) {
      phaseMs[i] = random.nextDouble() * pollMs;
      sends[i] = new Sends();
    }
  }

  StudyFleet fleet() {
    return fleet;
  }

  int workers() {
    return phaseMs.length;
  }

  double nowMs() {
    return fleet.nowMs();
  }

  SplittableRandom random() {
    return random;
  }

  private double lastPollMs(int worker) {
    return phaseMs[worker] + Math.floor((nowMs() - phaseMs[worker]) / pollMs) * pollMs;
  }

  /** Brings what is known of a worker up to its last poll. */
  private int poll(int worker) {
    entry[worker] = fleet.history(worker).at(lastPollMs(worker), entry[worker]);
    return entry[worker];
  }

  int running(int worker) {
    return fleet.history(worker).running(poll(worker));
  }

  int waiting(int worker) {
    return fleet.history(worker).waiting(poll(worker));
  }

  /** Share of the cache that running requests hold. */
  double usage(int worker) {
    return (double) fleet.history(worker).usedTokens(poll(worker))
        / fleet.worker(worker).capacityTokens();
  }

  /** Own requests sent since the last poll. */
  int sentSincePoll(int worker) {
    return sends[worker].after(lastPollMs(worker));
  }

  /** Requests on a worker as far as this client knows. */
  int load(int worker) {
    return running(worker) + waiting(worker) + sentSincePoll(worker);
  }

  /** Own requests without an end. */
  int inFlight(int worker) {
    return inFlight[worker];
  }

  /** Uncomputed prompt tokens, as estimated, of own requests without a first token. */
  long prefillTokens(int worker) {
    return prefillTokens[worker];
  }

  /** Blocks of 16 tokens of own requests without an end. */
  long activeBlocks(int worker) {
    return activeBlocks[worker];
  }

  void sent(int worker, long uncachedTokens, StudyPrompt prompt) {
    sends[worker].add(nowMs());
    inFlight[worker]++;
    prefillTokens[worker] += uncachedTokens;
    activeBlocks[worker] += smallBlocks(prompt);
  }

  void firstToken(int worker, long uncachedTokens) {
    prefillTokens[worker] -= uncachedTokens;
  }

  void finished(int worker, StudyPrompt prompt) {
    inFlight[worker]--;
    activeBlocks[worker] -= smallBlocks(prompt);
  }

  private static long smallBlocks(StudyPrompt prompt) {
    return ((long) prompt.promptTokens() + prompt.outputTokens() + 15) / 16;
  }
}
