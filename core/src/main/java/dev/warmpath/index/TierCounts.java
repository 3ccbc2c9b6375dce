package dev.warmpath.index;

/**
 * Blocks by tier.
 *
 * @param hbm those in the accelerator's memory
 * @param dram those in the host's
 * @param ssd those below
 */
record TierCounts(int hbm, int dram, int ssd) {
  /** The blocks of a leading run, each in its best tier. */
  static TierCounts ofRun(BlockTiers blocks) {
    return new TierCounts(blocks.run(Tier.HBM), blocks.run(Tier.DRAM), blocks.run(Tier.SSD));
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
