package dev.warmpath.fake.scheduler;

/**
 * Cache tiers below the accelerator's memory. A block that is evicted from one goes to the host's
 * memory, and is copied from there to the disk if there is one.
 *
 * @param hostBlocks blocks in the host's memory
 * @param diskBlocks blocks on the disk, 0 for none
 * @param hostGigabytesPerSecond bandwidth between accelerator and host, each way, in 10^9 bytes a
 *     second; 0 or less for no delay
 * @param diskGigabytesPerSecond bandwidth between host and disk, each way
 * @param batchBlocks most blocks that are moved to the host as one transfer
 */
public record OffloadOptions(
    int hostBlocks,
    int diskBlocks,
    double hostGigabytesPerSecond,
    double diskGigabytesPerSecond,
    int batchBlocks) {

  /** Checks the ranges. */
  public OffloadOptions {
    if (hostBlocks < 1) {
      throw new IllegalArgumentException("hostBlocks must be at least 1, was " + hostBlocks);
    }
    if (diskBlocks < 0) {
      throw new IllegalArgumentException("diskBlocks must be 0 or more, was " + diskBlocks);
    }
    if (batchBlocks < 1) {
      throw new IllegalArgumentException("batchBlocks must be at least 1, was " + batchBlocks);
    }
  }

  /**
   * Creates tiers with the mocker's default bandwidths, 14 and 7 GB/s, and batches of 32 blocks.
   *
   * @param hostBlocks blocks in the host's memory
   * @param diskBlocks blocks on the disk, 0 for none
   * @return the options
   */
  public static OffloadOptions of(int hostBlocks, int diskBlocks) {
    return new OffloadOptions(hostBlocks, diskBlocks, 14, 7, 32);
  }
}
