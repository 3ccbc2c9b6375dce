package dev.warmpath.index;

import dev.warmpath.hash.BlockHashes;
import java.lang.invoke.VarHandle;

/**
 * How readers find out who holds how much of a chain, without a lock.
 *
 * <p>The holders of a block are among those of the block before, so the number of them says whether
 * they are the same, and the blocks where holders fall away are found by halving what lies between
 * two different numbers. Only where a holder has holes, or blocks that are not in HBM, its run is
 * looked at block by block.
 */
final class BlockReader {
  /** How often a match that updates disturb begins anew. */
  private static final int MOST_TRIES = 16;

  private final Versions versions;
  private final BlockTable table;
  private final HolderSets sets;
  private final Lives lives;
  private final int tries;

  BlockReader(Versions versions, BlockWriter writer) {
    this(versions, writer, MOST_TRIES);
  }

  BlockReader(Versions versions, BlockWriter writer, int tries) {
    this.versions = versions;
    this.table = writer.table;
    this.sets = writer.sets;
    this.lives = writer.lives;
    this.tries = tries;
  }

  void match(BlockHashes hashes, BlockMatches out) {
    long namespace = BlockKeys.namespace(hashes.namespace());
    for (int i = 0; i < tries; i++) {
      long version = versions.begin();
      if ((version & 1) == 0) {
        try {
          matchOnce(namespace, hashes, out);
        } catch (IndexOutOfBoundsException e) {
          // What happens when a number was read before, and an array after, an update.
          if (versions.same(version)) {
            throw e;
          }
          continue;
        }
        if (versions.same(version)) {
          return;
        }
      }
      Thread.onSpinWait();
    }
    walk(namespace, hashes, out);
  }

  private void matchOnce(long namespace, BlockHashes hashes, BlockMatches out) {
    out.begin();
    int last = hashes.size() - 1;
    int first = last < 0 ? BlockTable.NONE : find(namespace, hashes, 0, BlockTable.NONE);
    if (first == BlockTable.NONE) {
      return;
    }
    int end = last == 0 ? first : find(namespace, hashes, last, first + last);
    if (end != BlockTable.NONE) {
      for (int position = sets.count(end) - 1; position >= 0; position--) {
        add(sets.get(end, position), last + 1, out);
      }
    }
    if (last > 0) {
      out.push(0, first, last, end);
    }
    while (out.more()) {
      out.pop();
      int low = out.popped(0);
      int lowBlock = out.popped(1);
      int high = out.popped(2);
      int highBlock = out.popped(3);
      if (holders(lowBlock) == holders(highBlock)) {
        continue;
      }
      if (high - low == 1) {
        addOthers(lowBlock, highBlock, low + 1, out);
        continue;
      }
      int middle = (low + high) >>> 1;
      int middleBlock = find(namespace, hashes, middle, lowBlock + middle - low);
      out.push(low, lowBlock, middle, middleBlock);
      out.push(middle, middleBlock, high, highBlock);
    }
    if (out.doubtful() > 0) {
      lookAtEach(namespace, hashes, out);
    }
  }

  private int find(long namespace, BlockHashes hashes, int block, int guess) {
    return table.find(BlockKeys.key(namespace, hashes.bits(block)), guess);
  }

  private int holders(int block) {
    return block == BlockTable.NONE ? 0 : sets.count(block);
  }

  private void add(long holding, int run, BlockMatches out) {
    int life = Holding.life(holding);
    if (lives.current[life]) {
      out.add(lives.holders[life], run);
      if (lives.uneven[life] > 0) {
        out.doubt(run);
      }
    }
  }

  /**
   * Adds the holders of a block that are not among those of the next. Up to the first of them both
   * sets agree, from there on they don't, so that it is found by halving; likewise for the next.
   */
  private void addOthers(int block, int next, int run, BlockMatches out) {
    int all = sets.count(block);
    int kept = holders(next);
    int agreed = 0;
    for (int others = 0; others < all - kept; others++) {
      int low = agreed;
      int high = kept;
      while (low < high) {
        int middle = (low + high) >>> 1;
        if (Holding.life(sets.get(block, middle + others))
            == Holding.life(sets.get(next, middle))) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      agreed = low;
      add(sets.get(block, agreed + others), run, out);
    }
  }

  private void lookAtEach(long namespace, BlockHashes hashes, BlockMatches out) {
    int block = BlockTable.NONE;
    for (int i = 0; i < out.doubtful(); i++) {
      block = find(namespace, hashes, i, block + 1);
      if (block == BlockTable.NONE) {
        return;
      }
      long links = table.links(block);
      if (BlockTable.unevenOf(links) == 0) {
        continue;
      }
      for (int position = BlockTable.countOf(links) - 1; position >= 0; position--) {
        long holding = sets.get(block, position);
        int tiers = Holding.tiers(holding);
        int life = Holding.life(holding);
        if (Holding.uneven(tiers) && lives.current[life]) {
          out.note(lives.holders[life], i, tiers);
        }
      }
    }
  }

  /**
   * Looks at each block in turn while updates go on: each holding that counts was there when it was
   * looked at, though not all of them may have been at one moment.
   */
  private void walk(long namespace, BlockHashes hashes, BlockMatches out) {
    out.begin();
    int block = BlockTable.NONE;
    boolean reached = true;
    for (int i = 0; i < hashes.size() && reached; i++) {
      try {
        long key = BlockKeys.key(namespace, hashes.bits(i));
        block = table.find(key, block + 1);
        reached = block != BlockTable.NONE && step(key, block, i, out);
      } catch (IndexOutOfBoundsException e) {
        return;
      }
    }
  }

  private boolean step(long key, int block, int at, BlockMatches out) {
    long links = table.links(block);
    int others = table.others(block);
    boolean reached = false;
    for (int position = BlockTable.countOf(links) - 1; position >= 0; position--) {
      long holding = sets.get(block, position);
      VarHandle.acquireFence();
      if (table.key(block) != key
          || table.others(block) != others
          || BlockTable.countOf(table.links(block)) != BlockTable.countOf(links)) {
        return reached;
      }
      int life = Holding.life(holding);
      int tiers = Holding.tiers(holding);
      if (holding > 0 && !Holding.hole(tiers) && lives.current[life]) {
        reached |= out.step(lives.holders[life], at, tiers);
      }
    }
    return reached;
  }
}
