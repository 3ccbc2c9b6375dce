package dev.warmpath.fake.study;

import java.util.Arrays;

/**
 * One worker's load over time, for clients that look at it now and then. What a client sees is the
 * load at its last poll, which needs no event: it is looked up when somebody asks.
 *
 * <p>{@code running} includes requests whose prompt is still being computed, as engines report it:
 * a worker that chews a long prompt shows nothing waiting.
 */
final class LoadHistory {
  private double[] times = new double[256];
  private int[] running = new int[256];
  private int[] waiting = new int[256];
  private long[] used = new long[256];
  private int size = 1;

  /** Idle from the beginning. */
  LoadHistory() {
    times[0] = Double.NEGATIVE_INFINITY;
  }

  void add(double atMs, int runningNow, int waitingNow, long usedTokens) {
    if (times[size - 1] == atMs) {
      size--;
    } else if (size == times.length) {
      int room = 2 * size;
      times = Arrays.copyOf(times, room);
      running = Arrays.copyOf(running, room);
      waiting = Arrays.copyOf(waiting, room);
      used = Arrays.copyOf(used, room);
    }
    times[size] = atMs;
    running[size] = runningNow;
    waiting[size] = waitingNow;
    used[size] = usedTokens;
    size++;
  }

  /**
   * The entry that holds at a time.
   *
   * @param from an entry that does not lie behind it
   */
  int at(double ms, int from) {
    int entry = from;
    while (entry + 1 < size && times[entry + 1] <= ms) {
      entry++;
    }
    return entry;
  }

  int running(int entry) {
    return running[entry];
  }

  int waiting(int entry) {
    return waiting[entry];
  }

  long usedTokens(int entry) {
    return used[entry];
  }
}
