package dev.warmpath.fake.kdn;

/**
 * The link over which a node sends KV, as CacheRoute's network simulator describes it.
 *
 * @param megabytesPerSecond bandwidth, in 2^20 bytes a second
 * @param efficiency the share of it that payload gets, more than 0 and at most 1
 * @param fixedLatencyMillis what every transfer takes on top
 * @param batchWindowMillis how long a batch collects transfers, which then share the bandwidth; at
 *     0 there are no batches and transfers follow each other
 */
public record KdnNetwork(
    double megabytesPerSecond,
    double efficiency,
    double fixedLatencyMillis,
    double batchWindowMillis) {

  /** CacheRoute v0.1.9's: 125 MB/s, of which 80 % are payload, and 10 ms; one after the other. */
  public static final KdnNetwork DEFAULT = new KdnNetwork(125, 0.8, 10, 0);

  /** Refuses what no link can be. */
  public KdnNetwork {
    if (!(megabytesPerSecond > 0 && Double.isFinite(megabytesPerSecond))) {
      throw new IllegalArgumentException("bandwidth " + megabytesPerSecond + " must be above 0");
    }
    if (!(efficiency > 0 && efficiency <= 1)) {
      throw new IllegalArgumentException("efficiency " + efficiency + " must be in (0, 1]");
    }
    if (!(fixedLatencyMillis >= 0) || !(batchWindowMillis >= 0)) {
      throw new IllegalArgumentException("latency and batch window must be 0 or more");
    }
  }

  /**
   * Returns how long bytes take that have the link for themselves.
   *
   * @param bytes how many
   * @return milliseconds, fixed latency included
   */
  public double millis(long bytes) {
    return millis(bytes, 1);
  }

  /** The same where so many transfers share the bandwidth. */
  double millis(long bytes, int sharing) {
    double bytesPerMilli = megabytesPerSecond * 1024 * 1024 * efficiency / 1000;
    return fixedLatencyMillis + bytes * sharing / bytesPerMilli;
  }
}
