package dev.warmpath.fake.study;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Gathers what requests come to: those that arrive in a window count. Every run of a comparison,
 * frozen policy or not, is measured by one of these.
 */
public final class StudyMeter {
  /** Width of a slice of the time series. */
  public static final double SLICE_MS = 10_000;

  private final double fromMs;
  private final double untilMs;
  private final long[] perWorker;
  private final Map<Integer, Integer> lastWorker = new HashMap<>();
  private double[] ttftMs = new double[1_024];
  private int measured;
  private long promptTokens;
  private long cachedTokens;
  private long followUps;
  private long moved;
  private long ended;
  private double lastEndMs;
  private double[][] slices = new double[0][];

  /**
   * Starts with nothing.
   *
   * @param workers how many workers there are
   * @param fromMs arrivals from here count
   * @param untilMs arrivals up to here count
   */
  public StudyMeter(int workers, double fromMs, double untilMs) {
    this.perWorker = new long[workers];
    this.fromMs = fromMs;
    this.untilMs = untilMs;
  }

  private boolean counts(double arrivalMs) {
    return arrivalMs >= fromMs && arrivalMs <= untilMs;
  }

  /**
   * A request was sent.
   *
   * @param family the conversation it belongs to, or what stands for that
   * @param arrivalMs when
   * @param worker where to
   */
  public void sent(int family, double arrivalMs, int worker) {
    Integer before = lastWorker.put(family, worker);
    if (counts(arrivalMs)) {
      perWorker[worker]++;
      if (before != null) {
        followUps++;
        moved += before == worker ? 0 : 1;
      }
    }
  }

  /**
   * A request's first token came.
   *
   * @param arrivalMs when the request was sent
   * @param tookMs the time from then
   * @param prompt prompt tokens
   * @param cached those of them found in the cache
   */
  public void firstToken(double arrivalMs, double tookMs, long prompt, long cached) {
    slice(arrivalMs, tookMs, prompt, cached);
    if (!counts(arrivalMs)) {
      return;
    }
    if (measured == ttftMs.length) {
      ttftMs = Arrays.copyOf(ttftMs, 2 * measured);
    }
    ttftMs[measured++] = tookMs;
    promptTokens += prompt;
    cachedTokens += cached;
  }

  private void slice(double arrivalMs, double tookMs, long prompt, long cached) {
    int at = (int) (arrivalMs / SLICE_MS);
    while (slices.length <= at) {
      slices = Arrays.copyOf(slices, slices.length + 1);
      slices[slices.length - 1] = new double[4];
    }
    slices[at][0]++;
    slices[at][1] += tookMs;
    slices[at][2] += prompt;
    slices[at][3] += cached;
  }

  /**
   * A request's last token came.
   *
   * @param atMs when
   */
  public void finished(double atMs) {
    lastEndMs = Math.max(lastEndMs, atMs);
    if (counts(atMs)) {
      ended++;
    }
  }

  /**
   * Sums up.
   *
   * @param policy the name the result goes under
   * @param failed requests that came to nothing
   * @return the figures
   */
  public StudyResult result(String policy, long failed) {
    double[] sorted = Arrays.copyOf(ttftMs, measured);
    Arrays.sort(sorted);
    double windowMs = Math.max(1, Math.min(untilMs, lastEndMs) - fromMs);
    return new StudyResult(
        policy,
        measured,
        failed,
        promptTokens == 0 ? 0 : (double) cachedTokens / promptTokens,
        Arrays.stream(sorted).average().orElse(0),
        percentile(sorted, 0.5),
        percentile(sorted, 0.99),
        deviation(),
        (double) Arrays.stream(perWorker).max().orElse(0)
            / Math.max(1, Arrays.stream(perWorker).sum()),
        followUps == 0 ? 0 : (double) moved / followUps,
        ended * 1e3 / windowMs,
        Arrays.stream(slices)
            .map(
                slice ->
                    new StudyResult.Slice(
                        (long) slice[0],
                        slice[0] == 0 ? 0 : slice[1] / slice[0],
                        slice[2] == 0 ? 0 : slice[3] / slice[2]))
            .toList());
  }

  private static double percentile(double[] sorted, double share) {
    return sorted.length == 0
        ? 0
        : sorted[(int) Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  }

  private double deviation() {
    double mean = Arrays.stream(perWorker).average().orElse(0);
    double variance =
        Arrays.stream(perWorker).mapToDouble(n -> (n - mean) * (n - mean)).average().orElse(0);
    return mean == 0 ? 0 : Math.sqrt(variance) / mean;
  }
}
