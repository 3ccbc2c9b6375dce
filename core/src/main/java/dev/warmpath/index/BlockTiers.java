package dev.warmpath.index;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Which blocks of one prompt somebody holds, each in the best tier it was told of. Not thread safe;
 * not to be changed once it is part of a {@link BlockAnswer}.
 */
public final class BlockTiers {
  private static final Tier[] TIERS = Tier.values();
  private static final byte NONE = Byte.MAX_VALUE;

  /** By block: the bit of the best tier, which is the smallest, or {@link #NONE}. */
  private final byte[] best;

  /**
   * Starts with none of the blocks.
   *
   * @param blocks how many the prompt has
   */
  public BlockTiers(int blocks) {
    this.best = new byte[blocks];
    Arrays.fill(best, NONE);
  }

  private BlockTiers(byte[] best) {
    this.best = best;
  }

  /** Adds a block in a tier; a better one that is known of it stays. */
  public void add(int block, Tier tier) {
    best[block] = (byte) Math.min(best[block], tier.bit);
  }

  /** The best tier that a block is in, or null where it is in none. */
  public @Nullable Tier tier(int block) {
    return best[block] == NONE ? null : TIERS[Integer.numberOfTrailingZeros(best[block])];
  }

  /**
   * How many of the prompt's first blocks are there without a gap: what an engine can go on from.
   */
  public int run() {
    int run = 0;
    while (run < best.length && best[run] != NONE) {
      run++;
    }
    return run;
  }

  /** The blocks of the leading run, each in its best tier. */
  TierCounts ofRun() {
    int run = 0;
    int dram = 0;
    int ssd = 0;
    for (byte tier : best) {
      if (tier == NONE) {
        break;
      }
      run++;
      dram += tier >> 1 & 1;
      ssd += tier >> 2;
    }
    return new TierCounts(run - dram - ssd, dram, ssd);
  }

  /** All blocks of both, each in the better tier; these stay as they are. */
  BlockTiers with(BlockTiers other) {
    byte[] both = Arrays.copyOf(best, Math.max(best.length, other.best.length));
    Arrays.fill(both, best.length, both.length, NONE);
    for (int i = 0; i < other.best.length; i++) {
      both[i] = (byte) Math.min(both[i], other.best[i]);
    }
    return new BlockTiers(both);
  }

  @Override
  public String toString() {
    return run() + " leading blocks of " + best.length;
  }
}
