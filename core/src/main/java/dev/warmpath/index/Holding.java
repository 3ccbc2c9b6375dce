package dev.warmpath.index;

/**
 * One block held by one life of a holder, as 63 bits: the life above the tiers above the number of
 * its children that the same life holds above the use that last reached it.
 *
 * <p>A holding without a tier is a hole: the life holds something below the block, but not the
 * block. With holes, a life that has a holding of a block has one of every block above it.
 */
final class Holding {
  static final int HBM = Tier.HBM.bit;
  static final int DRAM = Tier.DRAM.bit;
  static final int SSD = Tier.SSD.bit;

  /** A dispatch under way is about to bring the block into HBM. */
  static final int CLAIM = 1 << 3;

  /** What is, or counts as, in HBM. */
  static final int IN_HBM = HBM | CLAIM;

  static final int MOST_LIVES = 1 << 20;
  static final int MOST_USES = 1 << 26;

  private static final int LIFE_SHIFT = 43;
  private static final int TIERS_SHIFT = 39;
  private static final long TIERS_MASK = 15L << TIERS_SHIFT;
  private static final int CHILDREN_SHIFT = 26;

  /** From here on children are no longer counted, and never taken off again. */
  private static final int MANY_CHILDREN = (1 << (TIERS_SHIFT - CHILDREN_SHIFT)) - 1;

  private static final long ONE_CHILD = 1L << CHILDREN_SHIFT;

  private Holding() {}

  static long of(int life, int tiers, int use) {
    return (long) life << LIFE_SHIFT | (long) tiers << TIERS_SHIFT | use;
  }

  static int life(long holding) {
    return (int) (holding >>> LIFE_SHIFT);
  }

  /** The tiers' bits and {@link #CLAIM}. */
  static int tiers(long holding) {
    return (int) (holding >>> TIERS_SHIFT) & 15;
  }

  static int use(long holding) {
    return (int) holding & MOST_USES - 1;
  }

  /** The number of children, exact only where it is zero. */
  static int children(long holding) {
    return (int) (holding >>> CHILDREN_SHIFT) & MANY_CHILDREN;
  }

  static long withTiers(long holding, int tiers) {
    return (holding & ~TIERS_MASK) | (long) tiers << TIERS_SHIFT;
  }

  static long withUse(long holding, int use) {
    return (holding & -(long) MOST_USES) | use;
  }

  static long withChild(long holding) {
    return children(holding) == MANY_CHILDREN ? holding : holding + ONE_CHILD;
  }

  static long withoutChild(long holding) {
    return children(holding) == MANY_CHILDREN ? holding : holding - ONE_CHILD;
  }

  /** Whether readers must look twice: a hole, or a block that is not in HBM. */
  static boolean uneven(int tiers) {
    return (tiers & IN_HBM) == 0;
  }

  /** Where a hole counts as worse than every tier. */
  static boolean hole(int tiers) {
    return tiers == 0;
  }
}
