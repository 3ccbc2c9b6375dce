package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.hash.HashNamespace;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.util.SplittableRandom;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What blocks and holders take up, and what the index counts against what the heap says. */
class BlockIndexMemoryTest {
  private static final MemoryMXBean MEMORY = ManagementFactory.getMemoryMXBean();
  private static final HashNamespace NAMESPACE = Chains.MODEL.namespace();

  @Test
  void takesAtMost64BytesForABlockAnd16ForEachFurtherHolder() {
    assertBytes(1_000_000, 256, new int[] {1, 2, 4, 9});
  }

  /** Short chains, where each use is shared by a few blocks only. */
  @Test
  void takesNoMoreForShortChains() {
    assertBytes(1_000_000, 8, new int[] {1});
  }

  @Test
  @Tag("long")
  void takesAtMost64BytesForABlockAnd16ForEachFurtherHolderAtTenMillionBlocks() {
    assertBytes(10_000_000, 256, new int[] {1, 2, 3});
  }

  private static void assertBytes(int blocks, int length, int[] holders) {
    long before = usedHeap();
    BlockIndex index = BlockIndex.builder().budgetBytes(2L << 30).build();
    int held = 0;
    for (int most : holders) {
      while (held < most) {
        store(index, blocks, length, held++);
      }
      BlockIndex.Stats stats = index.stats();
      long used = usedHeap() - before;
      assertThat(stats.blocks()).isEqualTo(blocks / length * length);
      assertThat(stats.holdings()).isEqualTo((long) stats.blocks() * most);
      assertThat(stats.evicted() + stats.shed() + stats.refused()).isZero();
      assertThat((double) used / stats.blocks())
          .as("bytes per block with %d holders", most)
          .isLessThanOrEqualTo(64 + 16.0 * (most - 1));
      assertThat(stats.bytes()).isCloseTo(used, Percentage.withPercentage(3));
    }
  }

  private static void store(BlockIndex index, int blocks, int length, int slot) {
    SplittableRandom random = new SplittableRandom(1);
    long[] chain = new long[length];
    for (int chains = blocks / length; chains > 0; chains--) {
      for (int i = 0; i < length; i++) {
        chain[i] = random.nextLong();
      }
      index.stored(NAMESPACE, chain, 0, length, HolderIds.of(1, slot), Tier.HBM);
    }
  }

  private static long usedHeap() {
    long used = Long.MAX_VALUE;
    for (int i = 0; i < 4; i++) {
      System.gc();
      used = Math.min(used, MEMORY.getHeapMemoryUsage().getUsed());
    }
    return used;
  }
}
