package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.util.Random;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** What the tree counts against what the heap says. */
class ByteRadixTreeMemoryTest {
  private static final MemoryMXBean MEMORY = ManagementFactory.getMemoryMXBean();

  @Test
  void countsWhatSmallNodesOfManyHoldersTakeUp() {
    // Short prompts over few letters: many branches, wide ones too, many holders of each.
    assertCountedRight(120_000, 12, 12, 200);
  }

  @Test
  void countsWhatLongPromptsTakeUp() {
    assertCountedRight(6_000, 6_000, 120, 8);
  }

  private static void assertCountedRight(int prompts, int length, int letters, int slots) {
    ByteRadixTree tree = ByteRadixTree.builder().budgetBytes(1L << 30).build();
    PrefixNamespace namespace = PrefixNamespace.of("m");
    Random random = new Random(1);
    long before = usedHeap();
    long emptyBytes = tree.stats().bytes();
    for (int i = 0; i < prompts; i++) {
      byte[] prompt = new byte[1 + random.nextInt(length)];
      for (int at = 0; at < prompt.length; at++) {
        prompt[at] = (byte) (60 + random.nextInt(letters));
      }
      long holder = HolderIds.of(1, random.nextInt(slots));
      if (i % 3 == 0) {
        tree.dispatch(namespace, prompt, 0, prompt.length, holder, 0);
      } else {
        tree.insert(namespace, prompt, 0, prompt.length, holder);
      }
    }
    long used = usedHeap() - before;
    long counted = tree.stats().bytes() - emptyBytes;

    assertThat(counted).isGreaterThan(10 << 20);
    assertThat(counted).isCloseTo(used, Percentage.withPercentage(15));
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
