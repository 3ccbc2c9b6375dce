package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KvBlocksTest {
  private static final int CLIENT = 16;

  private final AtomicLong used = new AtomicLong();

  private KvBlocks blocks(long budget) {
    return new KvBlocks(CLIENT, used, budget);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 12, 16, 64})
  void findsWhatIsThereWhileBlocksComeAndGo(int width) {
    KvBlocks blocks = blocks(64 << 20);
    SplittableRandom random = new SplittableRandom(width);
    Map<Long, Integer> ends = new HashMap<>();
    List<Long> there = new ArrayList<>();
    int[] tail = new int[CLIENT];
    int[] found = new int[CLIENT];
    for (int step = 0; step < 40_000; step++) {
      // Few different hashes, and zero among them, so that they come back and meet.
      long hash = random.nextLong(6_000) << (16 * random.nextInt(3));
      if (ends.containsKey(hash)) {
        blocks.remove(blocks.find(hash));
        ends.remove(hash);
        assertThat(blocks.find(hash)).isEqualTo(KvBlocks.NONE);
      } else {
        int end = width * (1 + random.nextInt(100));
        for (int i = 0; i < end % CLIENT; i++) {
          tail[i] = (int) hash + i;
        }
        assertThat(blocks.add(hash, width, end, ~hash, Tier.HBM.bit, tail)).isTrue();
        ends.put(hash, end);
        there.add(hash);
      }
      long one = there.get(random.nextInt(there.size()));
      int at = blocks.find(one);
      Integer end = ends.get(one);
      assertThat(at == KvBlocks.NONE).isEqualTo(end == null);
      if (end != null) {
        assertThat(blocks.end(at)).isEqualTo(end);
        assertThat(blocks.link(at)).isEqualTo(~one);
        assertThat(blocks.tail(at, found)).isEqualTo(end % CLIENT);
        for (int i = 0; i < end % CLIENT; i++) {
          assertThat(found[i]).isEqualTo((int) one + i);
        }
      }
    }
    assertThat(blocks.size()).isEqualTo(ends.size());
    blocks.clear();
    assertThat(used).hasValue(0);
  }

  @Test
  void aBlockTakesUpLittleHoweverManyThereAre() {
    KvBlocks blocks = blocks(64 << 20);
    for (int i = 0; i < 200_000; i++) {
      assertThat(blocks.add(i * 31L, CLIENT, CLIENT, i, Tier.HBM.bit, new int[0])).isTrue();
      if (i >= 1_000) {
        assertThat(used.get()).isLessThan(36L * i);
      }
    }
  }

  @Test
  void whatIsRemovedMakesRoomForAsMuch() {
    KvBlocks blocks = blocks(64 << 20);
    for (int i = 0; i < 10_000; i++) {
      blocks.add(i, CLIENT, CLIENT, i, Tier.HBM.bit, new int[0]);
    }
    long full = used.get();
    for (int i = 0; i < 100_000; i++) {
      blocks.remove(blocks.find(i));
      blocks.add(i + 10_000, CLIENT, CLIENT, i, Tier.HBM.bit, new int[0]);
    }
    assertThat(used).hasValue(full);
  }
}
