package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RadixPoolTest {
  private final RadixPool pool = new RadixPool(10);
  private final List<Long> removed = new ArrayList<>();
  private final List<String> stored = new ArrayList<>();

  /** Brings a sequence into the tree, locked. */
  private RadixNode bring(long... hashes) {
    RadixNode prefix = pool.match(hashes, hashes.length);
    pool.lock(prefix);
    assertThat(pool.take(hashes.length - prefix.end, removed::add)).isTrue();
    return pool.extend(prefix, hashes, hashes.length, (from, to) -> stored.add(from + ".." + to));
  }

  private RadixNode leave(long... hashes) {
    RadixNode node = bring(hashes);
    pool.unlock(node);
    return node;
  }

  @AfterEach
  void countsAreRight() {
    RadixAudit.check(pool);
  }

  @Test
  void newPathsForkWhereTheyDiffer() {
    leave(1, 2, 3, 4);
    leave(1, 2, 5);

    assertThat(stored).containsExactly("0..4", "2..3");
    assertThat(pool.nodes()).hasSize(3);
    assertThat(pool.evictable()).isEqualTo(5);
    assertThat(pool.free()).isEqualTo(5);
    assertThat(pool.look(new long[] {1, 2, 3, 9}, 4).pages()).isEqualTo(3);
    assertThat(pool.look(new long[] {1, 2, 5, 9}, 4).pages()).isEqualTo(3);
    assertThat(pool.look(new long[] {7}, 1).pages()).isZero();
    assertThat(pool.look(new long[] {1, 2, 3, 4}, 2).pages()).isEqualTo(2);
  }

  @Test
  void aLeafThatNobodyElseHoldsGrowsInPlace() {
    RadixNode node = bring(1, 2);
    assertThat(pool.take(1, removed::add)).isTrue();

    assertThat(pool.extend(node, new long[] {1, 2, 3}, 3, (from, to) -> {})).isSameAs(node);

    assertThat(node.end).isEqualTo(3);
    assertThat(pool.nodes()).hasSize(1);
    assertThat(pool.locked()).isEqualTo(3);
    pool.unlock(node);
  }

  @Test
  void aLeafThatTwoHoldGetsAChild() {
    RadixNode node = bring(1, 2);
    pool.lock(node);
    assertThat(pool.take(1, removed::add)).isTrue();

    RadixNode longer = pool.extend(node, new long[] {1, 2, 3}, 3, (from, to) -> {});

    assertThat(longer.parent).isSameAs(node);
    RadixAudit.checkLocks(pool, List.of(node, longer));
    pool.unlock(longer);
    pool.unlock(node);
    RadixAudit.checkLocks(pool, List.of());
  }

  @Test
  void oldestLeafGoesFirstAndFromItsEnd() {
    leave(1, 2, 3);
    leave(10, 20);
    pool.match(new long[] {1, 2, 3}, 3);

    assertThat(pool.take(8, removed::add)).isTrue();

    assertThat(removed).containsExactly(20L, 10L, 3L);
    pool.give(8);
  }

  @Test
  void aForkIsOlderThanItsBranchesAndIsEvictedAfterThem() {
    leave(1, 2, 3);
    leave(1, 2, 4);

    assertThat(pool.take(10, removed::add)).isTrue();

    assertThat(removed).containsExactly(3L, 4L, 2L, 1L);
    assertThat(pool.nodes()).isEmpty();
    pool.give(10);
  }

  @Test
  void lockedPathsStayAndTakingIsAllOrNothing() {
    RadixNode node = bring(1, 2, 3);
    leave(1, 9);

    assertThat(pool.take(8, removed::add)).isFalse();
    assertThat(removed).isEmpty();
    assertThat(pool.take(7, removed::add)).isTrue();

    assertThat(removed).containsExactly(9L);
    assertThat(pool.locked()).isEqualTo(3);
    pool.give(7);
    pool.unlock(node);
  }

  @Test
  void pagesThatAreThereAlreadyAreGivenBack() {
    RadixNode nothing = pool.root();
    long[] hashes = {1, 2, 3};
    assertThat(pool.take(3, removed::add)).isTrue();
    leave(1, 2);

    RadixNode node = pool.extend(nothing, hashes, 3, (from, to) -> stored.add(from + ".." + to));

    assertThat(stored).containsExactly("0..2", "2..3");
    assertThat(pool.free()).isEqualTo(7);
    assertThat(pool.privatePages()).isZero();
    pool.unlock(node);
  }

  @Test
  void aHandleSurvivesTheCutAboveIt() {
    RadixNode node = bring(1, 2, 3, 4);

    RadixNode upper = pool.match(new long[] {1, 2, 8}, 3);

    assertThat(upper.end).isEqualTo(2);
    assertThat(node.end).isEqualTo(4);
    assertThat(node.parent).isSameAs(upper);
    RadixAudit.checkLocks(pool, List.of(node));
    pool.unlock(node);
    assertThat(pool.evictable()).isEqualTo(4);
  }

  @Test
  void lookingTellsWhatIsLockedAndLeavesNoTrace() {
    RadixNode node = bring(1, 2);
    leave(1, 2, 3, 4);
    leave(9);
    long version = pool.version();

    assertThat(pool.look(new long[] {1, 2, 3, 8}, 4)).isEqualTo(new RadixPool.Prefix(3, 1));
    assertThat(pool.look(new long[] {1, 8}, 2)).isEqualTo(new RadixPool.Prefix(1, 0));
    assertThat(pool.look(new long[] {9}, 1)).isEqualTo(new RadixPool.Prefix(1, 1));

    assertThat(pool.version()).isEqualTo(version);
    assertThat(pool.nodes()).hasSize(3);
    pool.unlock(node);
    assertThat(pool.version()).isNotEqualTo(version);
    assertThat(pool.look(new long[] {1, 2, 3, 8}, 4)).isEqualTo(new RadixPool.Prefix(3, 3));
  }

  @Test
  void dropsWhatNobodyHolds() {
    RadixNode node = bring(1, 2);
    leave(1, 2, 3);
    leave(5);

    pool.dropEvictable();

    assertThat(RadixAudit.resident(pool)).containsExactlyInAnyOrder(1L, 2L);
    pool.unlock(node);
    pool.dropEvictable();
    assertThat(pool.free()).isEqualTo(10);
  }
}
