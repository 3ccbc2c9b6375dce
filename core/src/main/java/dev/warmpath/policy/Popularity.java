package dev.warmpath.policy;

/**
 * How many workers a part of the traffic deserves: in proportion to its share of the latest
 * requests, with a standard deviation taken off so that a few requests by chance make none.
 */
final class Popularity {
  /** The share of a worker's requests that one replica of something should not exceed. */
  private static final double SHARE_PER_REPLICA = 0.5;

  private static final double DEVIATIONS = 1;

  private Popularity() {}

  /**
   * How many, from 0 up.
   *
   * @param count requests for it of late
   * @param total all requests of late
   * @param workers the workers there are
   */
  static double deserved(double count, double total, int workers) {
    double sure = count - DEVIATIONS * Math.sqrt(count);
    return sure <= 0 ? 0 : sure / total * workers / SHARE_PER_REPLICA;
  }

  /** How many replicas there should be: from one to all workers. */
  static int replicas(double count, double total, int workers) {
    double deserved = deserved(count, total, workers);
    return deserved <= 1 ? 1 : (int) Math.min(workers, Math.ceil(deserved));
  }
}
