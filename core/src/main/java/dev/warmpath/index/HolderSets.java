package dev.warmpath.index;

import java.lang.invoke.VarHandle;

/**
 * The holdings of each block, in ascending order of their life: the first in the block's record,
 * the others in a run of the pool of at most twice their number.
 */
final class HolderSets {
  private final BlockTable table;
  private final BuddyPool pool;

  HolderSets(BlockTable table, BuddyPool pool) {
    this.table = table;
    this.pool = pool;
  }

  int count(int block) {
    return table.count(block);
  }

  long get(int block, int position) {
    long[] page = table.page(block);
    int at = table.at(block);
    return position == 0
        ? page[at + BlockTable.FIRST]
        : pool.pages.get((int) (page[at + BlockTable.CHAIN] >>> 32) + position - 1);
  }

  /** The page with a block's holdings but the first. */
  long[] othersPage(int block) {
    return pool.pages.page(table.others(block));
  }

  /** Where in its page the second of a block's holdings is. */
  int othersStart(int block) {
    return table.others(block) & pool.pages.mask;
  }

  void set(int block, int position, long holding) {
    if (position == 0) {
      table.page(block)[table.at(block) + BlockTable.FIRST] = holding;
    } else {
      pool.pages.set(table.others(block) + position - 1, holding);
    }
  }

  /** The life's position, or the complement of where it belongs; a right guess saves the search. */
  int find(int block, int life, int guess) {
    int count = count(block);
    if (guess < count && Holding.life(get(block, guess)) == life) {
      return guess;
    }
    int low = 0;
    int high = count - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int found = Holding.life(get(block, middle));
      if (found < life) {
        low = middle + 1;
      } else if (found > life) {
        high = middle - 1;
      } else {
        return middle;
      }
    }
    return ~low;
  }

  /** Adds a holding at a position, and returns whether there was room for it. */
  boolean insert(int block, int position, long holding) {
    int others = table.count(block) - 1;
    if (others >= 0) {
      if (!makeRoom(block, others)) {
        return false;
      }
      int run = table.others(block);
      long[] page = pool.pages.page(run);
      int start = run & pool.pages.mask;
      if (position == 0) {
        System.arraycopy(page, start, page, start + 1, others);
        page[start] = get(block, 0);
      } else {
        int at = start + position - 1;
        System.arraycopy(page, at, page, at + 1, others - (position - 1));
      }
    }
    set(block, position, holding);
    // A reader who counts it in must find it, and not what another block left in its place.
    VarHandle.storeStoreFence();
    table.changeCount(block, 1);
    return true;
  }

  private boolean makeRoom(int block, int others) {
    if (others == 0) {
      int run = pool.take(0);
      if (run == BuddyPool.NO_ROOM) {
        return false;
      }
      table.setOthers(block, run);
    } else if (Integer.bitCount(others) == 1) {
      int order = Integer.numberOfTrailingZeros(others);
      if (order == pool.mostOrder) {
        return false;
      }
      int run = pool.take(order + 1);
      if (run == BuddyPool.NO_ROOM) {
        return false;
      }
      int old = table.others(block);
      System.arraycopy(
          pool.pages.page(old),
          old & pool.pages.mask,
          pool.pages.page(run),
          run & pool.pages.mask,
          others);
      table.setOthers(block, run);
      table.nextGeneration();
      pool.give(old, order);
    }
    return true;
  }

  /** Takes a holding away; the block itself stays. */
  void remove(int block, int position) {
    int others = table.count(block) - 1;
    if (others > 0) {
      int run = table.others(block);
      long[] page = pool.pages.page(run);
      int start = run & pool.pages.mask;
      int at = start;
      if (position == 0) {
        set(block, 0, page[start]);
      } else {
        at += position - 1;
      }
      System.arraycopy(page, at + 1, page, at, start + others - 1 - at);
      shrink(run, others - 1);
    }
    table.changeCount(block, -1);
  }

  /** Gives back the half of a run that is no longer needed. */
  private void shrink(int run, int others) {
    if (others == 0) {
      table.nextGeneration();
      pool.give(run, 0);
    } else if (Integer.bitCount(others) == 1) {
      table.nextGeneration();
      pool.give(run + others, Integer.numberOfTrailingZeros(others));
    }
  }
}
