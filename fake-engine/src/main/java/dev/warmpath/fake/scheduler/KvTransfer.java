package dev.warmpath.fake.scheduler;

/**
 * How long KV takes from a source to a destination.
 *
 * @param bytesPerToken size of one token's KV over all layers; 0 if unknown
 * @param gigabytesPerSecond bandwidth in 10^9 bytes a second; 0 or less for transfers without delay
 */
public record KvTransfer(long bytesPerToken, double gigabytesPerSecond) {

  /** No delay. */
  public static final KvTransfer INSTANT = new KvTransfer(0, 0);

  /** Checks the size. */
  public KvTransfer {
    if (bytesPerToken < 0) {
      throw new IllegalArgumentException("bytesPerToken must be 0 or more, was " + bytesPerToken);
    }
  }

  /**
   * Returns the time that some tokens take.
   *
   * @param tokens how many
   * @return milliseconds, 0 if size or bandwidth isn't known
   */
  public double delayMs(long tokens) {
    if (!(gigabytesPerSecond > 0)) {
      return 0;
    }
    return tokens * (double) bytesPerToken / (gigabytesPerSecond * 1e9) * 1e3;
  }
}
