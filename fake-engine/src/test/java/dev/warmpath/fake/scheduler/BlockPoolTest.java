package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.scheduler.BlockPool.Acquired;
import dev.warmpath.fake.scheduler.BlockPool.Block;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class BlockPoolTest {
  private final List<EngineEffect> effects = new ArrayList<>();

  private List<Block> cached(BlockPool pool, long... hashes) {
    List<Block> blocks = new ArrayList<>();
    assertThat(pool.acquire(hashes, 0, hashes.length, blocks, effects)).isEqualTo(Acquired.DONE);
    for (int i = 0; i < hashes.length; i++) {
      pool.publish(blocks.get(i), hashes, i);
    }
    return blocks;
  }

  @Test
  void attemptThatFailsChangesNothing() {
    BlockPool pool = new BlockPool(4, true);
    pool.release(cached(pool, 1, 2));
    List<Block> blocks = new ArrayList<>();

    assertThat(pool.acquire(new long[] {1, 2}, 2, 3, blocks, effects)).isEqualTo(Acquired.NO_SPACE);

    assertThat(blocks).isEmpty();
    assertThat(effects).isEmpty();
    assertThat(pool.inactive()).isEqualTo(2);
    assertThat(pool.acquire(new long[] {1, 2}, 2, 2, blocks, effects)).isEqualTo(Acquired.DONE);
    assertThat(pool.active()).isEqualTo(4);
  }

  @Test
  void hashIsRemovedWithItsLastCopy() {
    BlockPool pool = new BlockPool(2, true);
    List<Block> first = cached(pool, 7);
    List<Block> second = cached(pool, 7);
    pool.release(first);
    pool.release(second);
    List<Block> other = new ArrayList<>();

    pool.acquire(new long[0], 0, 1, other, effects);
    assertThat(effects).isEmpty();
    assertThat(pool.isResident(7)).isTrue();
    pool.acquire(new long[0], 0, 1, other, effects);

    assertThat(effects).containsExactly(new EngineEffect.BlockRemoved(StorageTier.DEVICE, 7));
    assertThat(pool.isResident(7)).isFalse();
  }

  @Test
  void oldestCopyServesHits() {
    BlockPool pool = new BlockPool(3, true);
    List<Block> first = cached(pool, 7);
    cached(pool, 7);
    List<Block> hit = new ArrayList<>();

    pool.acquire(new long[] {7}, 1, 0, hit, effects);

    assertThat(hit.get(0)).isSameAs(first.get(0));
    assertThat(hit.get(0).refs()).isEqualTo(2);
  }

  @Test
  void leafIsEvictedBeforeItsParent() {
    BlockPool pool = new BlockPool(3, true);
    pool.release(cached(pool, 1, 2, 3));

    pool.acquire(new long[0], 0, 2, new ArrayList<>(), effects);

    assertThat(effects)
        .containsExactly(
            new EngineEffect.BlockRemoved(StorageTier.DEVICE, 3),
            new EngineEffect.BlockRemoved(StorageTier.DEVICE, 2));
  }

  @Property(tries = 100, seed = "16")
  void indexIsASetOfHashes(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    BlockIndex index = new BlockIndex();
    Map<Long, Block> expected = new HashMap<>();
    for (int i = 0; i < 2000; i++) {
      // few different high bits, so that neighbours collide
      long hash = random.nextInt(300) * (random.nextBoolean() ? 1L : 1L << 40);
      Block block = cached(new BlockPool(1, false), hash).get(0);
      if (random.nextInt(3) > 0) {
        assertThat(index.putIfAbsent(block)).isSameAs(expected.putIfAbsent(hash, block));
      } else {
        assertThat(index.removeOnly(block)).isFalse();
        Block resident = expected.remove(hash);
        assertThat(resident == null || index.removeOnly(resident)).isTrue();
      }
      assertThat(index.size()).isEqualTo(expected.size());
      assertThat(index.get(hash)).isSameAs(expected.get(hash));
    }
    for (long hash : expected.keySet()) {
      assertThat(index.get(hash)).isNotNull();
    }
  }
}
