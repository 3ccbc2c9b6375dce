package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Recounts a {@link RadixPool} from its nodes. */
final class RadixAudit {
  private RadixAudit() {}

  /** Checks the tree's structure and every count that the pool keeps. */
  static void check(RadixPool pool) {
    Map<RadixNode, Integer> children = new HashMap<>();
    Set<RadixNode> nodes = new HashSet<>(pool.nodes());
    int locked = 0;
    int evictable = 0;
    int leaves = 0;
    for (RadixNode node : nodes) {
      assertThat(node.pages).as("pages").isPositive();
      assertThat(node.pages).isLessThanOrEqualTo(node.hashes.length);
      assertThat(node.parent).as("parent").isNotNull();
      assertThat(node.parent == pool.root() || nodes.contains(node.parent))
          .as("parent is in the tree")
          .isTrue();
      assertThat(node.end).isEqualTo(node.parent.end + node.pages);
      if (node.parent != pool.root()) {
        assertThat(node.parent.locks).as("locks of the path").isGreaterThanOrEqualTo(node.locks);
      }
      children.merge(node.parent, 1, Integer::sum);
      if (node.locks > 0) {
        locked += node.pages;
      } else {
        evictable += node.pages;
        leaves += node.children == 0 ? 1 : 0;
      }
      assertThat(node.slot >= 0)
          .as("only unlocked leaves are evictable")
          .isEqualTo(node.locks == 0 && node.children == 0);
    }
    for (RadixNode node : nodes) {
      assertThat(node.children).as("children").isEqualTo(children.getOrDefault(node, 0));
    }
    assertThat(pool.locked()).as("locked").isEqualTo(locked);
    assertThat(pool.evictable()).as("evictable").isEqualTo(evictable);
    assertThat(pool.evictableLeaves()).as("evictable leaves").isEqualTo(leaves);
    assertThat(pool.free()).as("free").isNotNegative();
    assertThat(pool.privatePages()).as("private").isNotNegative();
  }

  /** Checks that the locks are exactly those of the given handles. */
  static void checkLocks(RadixPool pool, Collection<RadixNode> handles) {
    Map<RadixNode, Integer> expected = new HashMap<>();
    for (RadixNode handle : handles) {
      for (RadixNode at = handle; at != null && at != pool.root(); at = at.parent) {
        expected.merge(at, 1, Integer::sum);
      }
    }
    for (RadixNode node : pool.nodes()) {
      assertThat(node.locks).as("locks equal owners").isEqualTo(expected.getOrDefault(node, 0));
    }
  }

  /** Returns the hashes of all pages in the tree. */
  static Set<Long> resident(RadixPool pool) {
    Set<Long> resident = new HashSet<>();
    for (RadixNode node : pool.nodes()) {
      for (int i = 0; i < node.pages; i++) {
        assertThat(resident.add(node.hashes[i])).as("one copy").isTrue();
      }
    }
    return resident;
  }
}
