package dev.warmpath.index;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/** Checks what must hold of a block index between two updates, and that the books agree with it. */
final class BlockAudit {
  private final BlockWriter writer;
  private final BlockTable table;
  private final HolderSets sets;
  private final Map<Integer, int[]> countsByLife = new HashMap<>();
  private final Map<Long, Integer> children = new HashMap<>();
  private final Set<Integer> usesSeen = new HashSet<>();
  private long holdings;

  private BlockAudit(BlockWriter writer) {
    this.writer = writer;
    this.table = writer.table;
    this.sets = writer.sets;
  }

  static void audit(BlockIndex index) {
    audit(index.core.writer, index.stats());
  }

  static void audit(BlockWriter writer, BlockIndex.Stats stats) {
    new BlockAudit(writer).run(stats);
  }

  private void run(BlockIndex.Stats stats) {
    int blocks = 0;
    for (int block = 1; block < table.end(); block++) {
      if (table.key(block) != 0) {
        blocks++;
        visit(block);
      }
    }
    assertThat(stats.blocks()).as("blocks").isEqualTo(blocks);
    assertThat(stats.holdings()).as("holdings").isEqualTo(holdings);
    assertThat(stats.bytes()).as("bytes").isLessThanOrEqualTo(stats.budgetBytes());
    for (int block = 1; block < table.end(); block++) {
      if (table.key(block) != 0) {
        visitChildren(block);
      }
    }
    visitLives();
  }

  private void visit(int block) {
    assertThat(table.find(table.key(block))).isEqualTo(block);
    int count = sets.count(block);
    assertThat(count).as("holdings of a block").isPositive();
    int parent = table.parent(block);
    int uneven = 0;
    for (int position = 0; position < count; position++) {
      long holding = sets.get(block, position);
      int life = Holding.life(holding);
      int tiers = Holding.tiers(holding);
      holdings++;
      uneven += Holding.uneven(tiers) ? 1 : 0;
      int[] counts = countsByLife.computeIfAbsent(life, l -> new int[3]);
      counts[0]++;
      counts[Holding.uneven(tiers) ? 1 : 2]++;
      usesSeen.add(Holding.use(holding));
      if (position > 0) {
        assertThat(life).as("ascending").isGreaterThan(Holding.life(sets.get(block, position - 1)));
      }
      if (parent != BlockTable.NONE) {
        assertThat(sets.find(parent, life, 0)).as("holds the parent too").isNotNegative();
        children.merge((long) parent << 32 | life, 1, Integer::sum);
      }
    }
    assertThat(table.uneven(block)).as("uneven").isEqualTo(uneven);
  }

  private void visitChildren(int block) {
    for (int position = 0; position < sets.count(block); position++) {
      long holding = sets.get(block, position);
      int known = children.getOrDefault((long) block << 32 | Holding.life(holding), 0);
      assertThat(Holding.children(holding)).as("children").isEqualTo(known);
      if (Holding.hole(Holding.tiers(holding))) {
        assertThat(known).as("children of a hole").isPositive();
      }
    }
  }

  private void visitLives() {
    Lives lives = writer.lives;
    Set<Integer> listed = new HashSet<>();
    for (int life = 1; life < lives.end(); life++) {
      int[] counts = countsByLife.getOrDefault(life, new int[3]);
      assertThat(lives.holdings[life]).as("holdings").isEqualTo(counts[0]);
      assertThat(lives.uneven[life]).as("uneven").isEqualTo(counts[1]);
      assertThat(lives.inHbm[life]).as("in HBM").isEqualTo(counts[2]);
      if (lives.capacities[life] > 0 && lives.current[life]) {
        assertThat(lives.inHbm[life]).isLessThanOrEqualTo(lives.capacities[life]);
      }
      Map<Integer, Integer> order = new HashMap<>();
      visitList(life, lives.cold(life), false, order);
      visitList(life, lives.hot(life), true, order);
      listed.addAll(order.keySet());
      visitOrder(life, order);
    }
    assertThat(listed).as("uses").isEqualTo(usesSeen);
    assertThat(writer.uses.count()).isEqualTo(listed.size() + 2 * (lives.end() - 1));
  }

  private void visitList(int life, int list, boolean hot, Map<Integer, Integer> order) {
    int tick = Integer.MIN_VALUE;
    for (int use = writer.uses.oldest(list); use != list && use != Uses.NONE; ) {
      order.put(use, order.size());
      assertThat(writer.uses.tick(use)).as("oldest first").isGreaterThanOrEqualTo(tick);
      tick = writer.uses.tick(use);
      int tail = writer.uses.tail(use);
      int position = sets.find(tail, life, 0);
      assertThat(position).as("the tail is held").isNotNegative();
      assertThat(Holding.use(sets.get(tail, position))).as("the tail's use").isEqualTo(use);
      if (!hot) {
        for (int block = tail; block != BlockTable.NONE; block = table.parent(block)) {
          long holding = sets.get(block, sets.find(block, life, 0));
          if (Holding.use(holding) == use) {
            assertThat(Holding.tiers(holding) & Holding.IN_HBM).as("cold").isZero();
          }
        }
      }
      use = writer.uses.oldest(use);
    }
  }

  /** A block's use is never newer than its parent's, and reaches down to its tail unbroken. */
  private void visitOrder(int life, Map<Integer, Integer> order) {
    for (int block = 1; block < table.end(); block++) {
      int position = table.key(block) == 0 ? -1 : sets.find(block, life, 0);
      if (position < 0) {
        continue;
      }
      int use = Holding.use(sets.get(block, position));
      int parent = table.parent(block);
      if (parent != BlockTable.NONE) {
        int above = Holding.use(sets.get(parent, sets.find(parent, life, 0)));
        assertThat(order.get(above)).isGreaterThanOrEqualTo(order.get(use));
      }
      int tail = writer.uses.tail(use);
      while (tail != block && tail != BlockTable.NONE) {
        assertThat(Holding.use(sets.get(tail, sets.find(tail, life, 0)))).isEqualTo(use);
        tail = table.parent(tail);
      }
      assertThat(tail).as("above the tail").isEqualTo(block);
    }
  }
}
