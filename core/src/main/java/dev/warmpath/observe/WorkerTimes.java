package dev.warmpath.observe;

import java.util.List;

/**
 * How long something took at each worker, as a histogram with the buckets of all request times.
 * Bounded as the metrics of requests are: what is one worker too many counts as {@code other}.
 * Thread safe without a lock; a time costs a look-up and two additions.
 */
public final class WorkerTimes {
  private final Series<Histogram> byWorker;

  /** Nothing took any time yet. */
  public WorkerTimes() {
    byWorker = RequestMetrics.histograms(RequestMetrics.TIMES, "worker");
  }

  Series<Histogram> series() {
    return byWorker;
  }

  /**
   * Counts a time.
   *
   * @param worker the worker's name with its rank
   * @param nanos what it took, in nanoseconds
   */
  public void record(String worker, long nanos) {
    byWorker.of(worker).record(nanos);
  }

  /** The series now, in seconds. */
  public List<MetricSample> samples() {
    return RequestMetrics.samples(byWorker);
  }
}
