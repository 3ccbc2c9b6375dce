package dev.warmpath.index;

import dev.warmpath.hash.BlockHashes;
import java.lang.invoke.VarHandle;

/**
 * How readers find out who holds how much of a chain, without a lock.
 *
 * <p>From the deepest block of the chain that anybody holds the way leads up. The holders of a
 * block are among those of the block above, so the number of them says whether they are the same,
 * and the blocks where holders fall away are found by galloping over the numbers. Only where a
 * holder has holes, or blocks that are not in HBM, its run is looked at block by block.
 */
final class BlockReader {
  /** How often a match that updates disturb begins anew. */
  private static final int MOST_TRIES = 16;

  private static final long[] NO_KEYS = {};

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
    long deepest = table.deepest(hashes, namespace, NO_KEYS, hashes.size());
    int block = (int) deepest;
    if (block == BlockTable.NONE) {
      return;
    }
    int position = (int) (deepest >>> 32);
    addAll(block, position + 1, out);
    while (true) {
      int run = Math.min(position, table.run(block));
      out.push(block - run, position - run, run + 1);
      addAbove(block, position, run, out);
      position -= run + 1;
      if (position < 0) {
        break;
      }
      int parent = table.parent(block - run);
      if (table.count(parent) > table.count(block - run)) {
        addOthers(parent, block - run, position + 1, out);
      }
      block = parent;
    }
    if (out.doubtful() > 0) {
      lookAtEach(out);
    }
  }

  private void addAll(int block, int run, BlockMatches out) {
    for (int position = sets.count(block) - 1; position >= 0; position--) {
      add(sets.get(block, position), run, out);
    }
  }

  /** Adds the holders that fall away among the blocks in a row above a block. */
  private void addAbove(int block, int position, int run, BlockMatches out) {
    int at = block;
    int left = run;
    while (left > 0) {
      int more = table.moreHoldings(at, left);
      if (more < 0) {
        return;
      }
      left -= at - more;
      addOthers(more, more + 1, position - (block - more) + 1, out);
      at = more;
    }
  }

  private void add(long holding, int run, BlockMatches out) {
    int life = Holding.life(holding);
    if (lives.current[life]) {
      out.add(lives.holders[life], run);
      if (lives.uneven[life] != 0) {
        out.doubt(run);
      }
    }
  }

  /**
   * Adds the holders of a block that are not among those of the next. Up to the first of them both
   * sets agree, from there on they don't, so that it is found by halving; likewise for the next.
   */
  private void addOthers(int block, int next, int run, BlockMatches out) {
    int all = table.count(block);
    int kept = table.count(next);
    if (kept == 0 || all == 1) {
      addAll(block, run, out);
      return;
    }
    long first = sets.get(block, 0);
    long[] page = sets.othersPage(block);
    int start = sets.othersStart(block) - 1;
    long nextFirst = sets.get(next, 0);
    // Of a single holder there are no others; its own page then stands in for theirs.
    long[] nextPage = kept == 1 ? page : sets.othersPage(next);
    int nextStart = kept == 1 ? start : sets.othersStart(next) - 1;
    int agreed = 0;
    for (int others = 0; others < all - kept; others++) {
      int left = kept - agreed;
      while (left > 0) {
        int half = (left + 1) >>> 1;
        int at = agreed + half - 1;
        long here = at + others == 0 ? first : page[start + at + others];
        long there = at == 0 ? nextFirst : nextPage[nextStart + at];
        boolean same = Holding.life(here) == Holding.life(there);
        agreed = same ? agreed + half : agreed;
        left = same ? left - half : half - 1;
      }
      int at = agreed + others;
      add(at == 0 ? first : page[start + at], run, out);
    }
  }

  private void lookAtEach(BlockMatches out) {
    while (out.more()) {
      out.pop();
      int first = out.popped(0);
      int position = out.popped(1);
      int end = Math.min(out.popped(2), out.doubtful() - position);
      for (int i = 0; i < end; i++) {
        if (table.uneven(first + i) > 0) {
          lookAt(first + i, position + i, out);
        }
      }
    }
  }

  private void lookAt(int block, int position, BlockMatches out) {
    for (int i = table.count(block) - 1; i >= 0; i--) {
      long holding = sets.get(block, i);
      int tiers = Holding.tiers(holding);
      int life = Holding.life(holding);
      if (Holding.uneven(tiers) && lives.current[life]) {
        out.note(lives.holders[life], position, tiers);
      }
    }
  }

  /**
   * Looks at each block in turn while updates go on: each holding that counts was there when it was
   * looked at, though not all of them may have been at one moment. Where a place was used anew
   * meanwhile, by this or another block, the walk ends: that it looks the same proves nothing.
   */
  private void walk(long namespace, BlockHashes hashes, BlockMatches out) {
    out.begin();
    int block = BlockTable.NONE;
    boolean reached = true;
    for (int i = 0; i < hashes.size() && reached; i++) {
      try {
        long key = BlockKeys.key(namespace, hashes.bits(i));
        block = table.find(key);
        reached = block != BlockTable.NONE && step(key, block, i, out);
      } catch (IndexOutOfBoundsException e) {
        return;
      }
    }
  }

  private boolean step(long key, int block, int at, BlockMatches out) {
    int generation = table.generation();
    int count = table.count(block);
    int others = table.others(block);
    boolean reached = false;
    for (int position = count - 1; position >= 0; position--) {
      long holding = sets.get(block, position);
      VarHandle.acquireFence();
      if (table.key(block) != key
          || table.others(block) != others
          || table.count(block) != count
          || table.generation() != generation) {
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
