package dev.warmpath.pd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class PdRegistryTest {
  private static final Duration QUARANTINE = Duration.ofMinutes(10);

  private static RoomSource source(long seed) {
    return new RoomSource(new Random(seed)::nextLong, 1);
  }

  @Property
  void i6_a_room_is_in_range_and_congruent_to_the_prefill_rank(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 64) int ranks, @ForAll boolean narrow) {
    long max = narrow ? RoomSource.INT32_MAX : RoomSource.HTTP_MAX;
    RoomSource rooms = source(seed);
    for (int rank = 0; rank < ranks; rank++) {
      long room = rooms.draw(max, rank, ranks);
      assertThat(room).isBetween(1L, max);
      assertThat(room % ranks).isEqualTo(rank);
    }
  }

  @Property
  void i6_a_tiny_range_gives_every_room_of_a_rank_and_none_other(
      @ForAll long seed, @ForAll @LongRange(min = 8, max = 40) long max) {
    RoomSource rooms = source(seed);
    Set<Long> seen = new HashSet<>();
    for (int i = 0; i < 2_000; i++) {
      seen.add(rooms.draw(max, 3, 4));
    }
    assertThat(seen).allMatch(room -> room >= 1 && room <= max && room % 4 == 3);
  }

  @Test
  void i6_a_room_is_not_minted_again_before_its_quarantine_is_over() {
    PdRegistry registry = new PdRegistry(source(1), QUARANTINE, 1_000);
    Set<Long> taken = new HashSet<>();
    for (int i = 0; i < 6; i++) {
      assertThat(taken.add(registry.mint(8, -1, 1, 0))).isTrue();
    }
    taken.forEach(room -> registry.retire(room, 0));
    assertThat(registry.live()).isZero();
    assertThat(registry.resting()).isEqualTo(6);
    taken.add(registry.mint(8, -1, 1, QUARANTINE.toNanos() - 1));
    taken.add(registry.mint(8, -1, 1, QUARANTINE.toNanos() - 1));
    assertThat(taken).hasSize(8);
    assertThatThrownBy(() -> registry.mint(8, -1, 1, QUARANTINE.toNanos() - 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("too many requests");
    assertThat(registry.mint(8, -1, 1, QUARANTINE.toNanos())).isBetween(1L, 8L);
    assertThat(registry.resting()).isZero();
    assertThat(registry.collisions()).isPositive();
  }

  @Test
  void the_registry_is_bounded_by_letting_the_oldest_go_early() {
    PdRegistry registry = new PdRegistry(source(2), QUARANTINE, 100);
    for (int i = 0; i < 10_000; i++) {
      registry.retire(registry.mint(RoomSource.HTTP_MAX, -1, 1, i), i);
      assertThat(registry.resting()).isLessThanOrEqualTo(100);
    }
    assertThat(registry.live()).isZero();
  }

  @Test
  void the_set_of_rooms_behaves_as_a_plain_set_does() {
    PdRegistry registry = new PdRegistry(source(3), Duration.ofNanos(50), 10_000);
    Random random = new Random(4);
    Deque<Long> live = new ArrayDeque<>();
    Set<Long> liveSet = new HashSet<>();
    for (long now = 0; now < 20_000; now++) {
      if (live.size() < 200 && random.nextInt(3) > 0) {
        long room = registry.mint(1_000, -1, 1, now);
        assertThat(liveSet.add(room)).isTrue();
        live.add(room);
      } else if (!live.isEmpty()) {
        long room = live.poll();
        liveSet.remove(room);
        registry.retire(room, now);
      }
      assertThat(registry.live()).isEqualTo(live.size());
    }
  }

  @Test
  void threads_never_share_a_room() throws InterruptedException {
    RoomSource rooms = new RoomSource(new Random(5)::nextLong, 16);
    PdRegistry registry = new PdRegistry(rooms, QUARANTINE, 1_000_000);
    Set<Long> seen = ConcurrentHashMap.newKeySet();
    int threads = 4;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    CountDownLatch done = new CountDownLatch(threads);
    for (int t = 0; t < threads; t++) {
      pool.execute(
          () -> {
            for (int i = 0; i < 5_000; i++) {
              long room = registry.mint(RoomSource.INT32_MAX, i % 8, 8, i);
              if (!seen.add(room)) {
                return;
              }
              registry.retire(room, i);
            }
            done.countDown();
          });
    }
    assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
    pool.shutdown();
    assertThat(seen).hasSize(threads * 5_000);
  }

  @Test
  void equal_seeds_give_equal_rooms() {
    RoomSource one = source(7);
    RoomSource other = source(7);
    for (int i = 0; i < 100; i++) {
      assertThat(one.draw(RoomSource.HTTP_MAX, 1, 4))
          .isEqualTo(other.draw(RoomSource.HTTP_MAX, 1, 4));
    }
  }
}
