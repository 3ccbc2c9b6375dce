package dev.warmpath.index;

/**
 * What a cached block is worth in each tier, against one that need not be computed nor fetched.
 *
 * @param hbm in the accelerator's memory
 * @param dram in the host's memory, from where it is copied first
 * @param ssd on a disk, or wherever else below the host's memory
 */
public record TierWeights(double hbm, double dram, double ssd) {
  /** 1, 0.75 and 0.25. */
  public static final TierWeights DEFAULT = new TierWeights(1, 0.75, 0.25);

  /** Refuses what is not between 0 and 1. */
  public TierWeights {
    check("hbm", hbm);
    check("dram", dram);
    check("ssd", ssd);
  }

  private static void check(String tier, double weight) {
    if (!(weight >= 0 && weight <= 1)) {
      throw new IllegalArgumentException(
          "tier weight " + tier + "=" + weight + " must be between 0 and 1");
    }
  }

  /** The weight of a tier. */
  public double of(Tier tier) {
    return switch (tier) {
      case HBM -> hbm;
      case DRAM -> dram;
      case SSD -> ssd;
    };
  }
}
