package dev.warmpath.index;

/**
 * Blocks by tier.
 *
 * @param hbm those in the accelerator's memory
 * @param dram those in the host's
 * @param ssd those below
 */
record TierCounts(int hbm, int dram, int ssd) {
  /** All of them. */
  int blocks() {
    return hbm + dram + ssd;
  }

  int of(Tier tier) {
    return switch (tier) {
      case HBM -> hbm;
      case DRAM -> dram;
      case SSD -> ssd;
    };
  }

  double weighed(TierWeights weights) {
    return weights.hbm() * hbm + weights.dram() * dram + weights.ssd() * ssd;
  }
}
