package dev.warmpath.fake.study;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class BlockCachePropertyTest {
  /** A cache of single blocks against a set in the order of use. */
  @Property(tries = 200)
  void evictsExactlyWhatWasUsedLeastRecently(
      @ForAll @IntRange(min = 1, max = 20) int capacity,
      @ForAll @Size(max = 200) List<@IntRange(min = 0, max = 40) Integer> uses) {
    Set<Integer> told = new HashSet<>();
    BlockCache cache = new BlockCache(capacity, listener(told));
    LinkedHashSet<Integer> model = new LinkedHashSet<>();
    for (int id : uses) {
      int slot = cache.find(id);
      assertThat(slot >= 0).isEqualTo(model.contains(id));
      if (slot < 0) {
        cache.take(1);
        slot = cache.put(id);
        if (model.size() == capacity) {
          model.remove(model.iterator().next());
        }
      } else {
        cache.hold(slot);
        model.remove(id);
      }
      assertThat(cache.held()).isEqualTo(1);
      cache.release(slot);
      model.add(id);
      assertThat(told).isEqualTo(model);
      assertThat(cache.held()).isZero();
      assertThat(cache.evictable()).isEqualTo(model.size());
    }
  }

  /** Holds, releases, flushes and takes in any order lose no block. */
  @Property(tries = 200)
  void everyBlockIsFreeHeldOrCached(
      @ForAll @Size(max = 120) List<@IntRange(min = 0, max = 299) Integer> steps) {
    int capacity = 12;
    BlockCache cache = new BlockCache(capacity, BlockCache.Listener.NOBODY);
    List<Integer> held = new ArrayList<>();
    int taken = 0;
    for (int step : steps) {
      int id = step % 30;
      switch (step / 30) {
        case 0, 1, 2, 3 -> {
          int slot = cache.find(id);
          if (slot >= 0) {
            cache.hold(slot);
            held.add(slot);
          } else if (cache.available() > 0) {
            cache.take(1);
            held.add(cache.put(id));
          }
        }
        case 4, 5, 6 -> {
          if (!held.isEmpty()) {
            cache.release(held.remove(id % held.size()));
          }
        }
        case 7 -> {
          if (cache.available() > 1) {
            cache.take(2);
            taken += 2;
          }
        }
        case 8 -> {
          cache.giveBack(taken);
          taken = 0;
        }
        default -> cache.flush();
      }
      assertThat(cache.held()).isEqualTo(taken + new HashSet<>(held).size());
      assertThat(cache.available()).isEqualTo(capacity - cache.held());
    }
    held.forEach(cache::release);
    cache.giveBack(taken);
    assertThat(cache.available()).isEqualTo(capacity);
  }

  private static BlockCache.Listener listener(Set<Integer> told) {
    return new BlockCache.Listener() {
      @Override
      public void stored(int block) {
        assertThat(told.add(block)).isTrue();
      }

      @Override
      public void removed(int block) {
        assertThat(told.remove(block)).isTrue();
      }
    };
  }
}
