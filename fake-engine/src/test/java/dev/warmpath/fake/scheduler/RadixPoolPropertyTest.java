package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class RadixPoolPropertyTest {

  /** What a sequence in the making holds. */
  private static final class Owner {
    final long[] hashes;
    RadixNode prefix;
    int own;

    Owner(long[] hashes, RadixNode prefix) {
      this.hashes = hashes;
      this.prefix = prefix;
    }
  }

  /** A path of a binary tree; a hash stands for its whole prefix. */
  private static long[] path(SplittableRandom random) {
    long[] hashes = new long[1 + random.nextInt(8)];
    long hash = 1;
    for (int i = 0; i < hashes.length; i++) {
      hash = hash * 2 + random.nextInt(2);
      hashes[i] = hash;
    }
    return hashes;
  }

  @Property(tries = 300, seed = "21")
  void pagesAreConservedAndLocksEqualOwners(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 30) int capacity) {
    SplittableRandom random = new SplittableRandom(seed);
    RadixPool pool = new RadixPool(capacity);
    List<Owner> owners = new ArrayList<>();
    Set<Long> resident = new HashSet<>();
    for (int step = 0; step < 150; step++) {
      int what = random.nextInt(8);
      if (what < 4 || owners.isEmpty()) {
        long[] hashes = path(random);
        RadixNode prefix = pool.match(hashes, random.nextInt(hashes.length + 1));
        assertThat(resident).as("a hit is resident").containsAll(first(hashes, prefix.end));
        pool.lock(prefix);
        Owner owner = new Owner(hashes, prefix);
        int wanted = hashes.length - prefix.end;
        if (pool.take(wanted, hash -> assertThat(resident.remove(hash)).isTrue())) {
          owner.own = wanted;
          owners.add(owner);
        } else {
          assertThat(wanted).isGreaterThan(pool.free() + pool.evictable());
          pool.unlock(prefix);
        }
      } else {
        Owner owner = owners.get(random.nextInt(owners.size()));
        if (what < 6) {
          int to = owner.prefix.end + random.nextInt(owner.own + 1);
          int before = owner.prefix.end;
          owner.prefix =
              pool.extend(
                  owner.prefix,
                  owner.hashes,
                  to,
                  (from, end) -> {
                    for (int i = from; i < end; i++) {
                      assertThat(i == 0 || resident.contains(owner.hashes[i - 1])).isTrue();
                      assertThat(resident.add(owner.hashes[i])).as("stored once").isTrue();
                    }
                  });
          assertThat(owner.prefix.end).isEqualTo(to);
          owner.own -= to - before;
        } else {
          owners.remove(owner);
          pool.give(owner.own);
          pool.unlock(owner.prefix);
        }
      }
      RadixAudit.check(pool);
      RadixAudit.checkLocks(pool, owners.stream().map(owner -> owner.prefix).toList());
      assertThat(pool.privatePages()).isEqualTo(owners.stream().mapToInt(o -> o.own).sum());
      assertThat(RadixAudit.resident(pool)).as("event stream").isEqualTo(resident);
    }
  }

  private static List<Long> first(long[] hashes, int count) {
    List<Long> first = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      first.add(hashes[i]);
    }
    return first;
  }

  /** Against a model that keeps every page by itself with the time of its last use. */
  @Property(tries = 200, seed = "22")
  void evictsTheLeastRecentlyUsedChains(@ForAll long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    RadixPool pool = new RadixPool(64);
    Map<Long, Integer> uses = new LinkedHashMap<>();
    for (int step = 1; step <= 12; step++) {
      // chains without common pages, so that a use is a use of the whole chain
      long chain = random.nextInt(6);
      long[] hashes = new long[1 + (int) chain];
      for (int i = 0; i < hashes.length; i++) {
        hashes[i] = chain * 100 + i;
      }
      RadixNode prefix = pool.match(hashes, hashes.length);
      pool.lock(prefix);
      assertThat(pool.take(hashes.length - prefix.end, hash -> {})).isTrue();
      pool.unlock(pool.extend(prefix, hashes, hashes.length, (from, to) -> {}));
      uses.remove(chain);
      uses.put(chain, step);
    }
    List<Long> expected = new ArrayList<>();
    for (long chain : uses.keySet()) {
      for (long i = chain; i >= 0; i--) {
        expected.add(chain * 100 + i);
      }
    }
    List<Long> removed = new ArrayList<>();

    assertThat(pool.take(64, removed::add)).isTrue();

    assertThat(removed).isEqualTo(expected);
  }
}
