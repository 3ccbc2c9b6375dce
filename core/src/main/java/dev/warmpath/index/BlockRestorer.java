package dev.warmpath.index;

/**
 * Gives a life what was taken down of one, stretch by stretch, the most recently used first. For
 * the writer.
 *
 * <p>Each stretch is a use of its own that is older than all that the life has so far: a block's
 * parent, which comes first, is never used before the block. So it takes a time that depends on the
 * number of blocks only, and what finds no room, of the index or of the holder, is the oldest.
 */
final class BlockRestorer {
  private final BlockWriter writer;
  private final BlockTable table;
  private final HolderSets sets;
  private final Uses uses;
  private final Lives lives;

  BlockRestorer(BlockWriter writer) {
    this.writer = writer;
    this.table = writer.table;
    this.sets = writer.sets;
    this.uses = writer.uses;
    this.lives = writer.lives;
  }

  /**
   * Gives a stretch to a life that has the block that it follows, else nothing.
   *
   * @param most how many of its blocks at most
   */
  void give(int life, HeldBlocks held, int stretch, int most, int now) {
    if (uses.oldest(lives.cold(life)) != Uses.NONE) {
      return; // it has had more than it has room for
    }
    int block = BlockTable.NONE;
    int position = 0;
    int parent = held.parents[stretch];
    if (parent != HeldBlocks.ROOT) {
      block = table.find(held.keys[parent]);
      position = block == BlockTable.NONE ? -1 : sets.find(block, life, 0);
      if (position < 0) {
        return;
      }
    }
    int use = oldestUse(life, now);
    if (use == Uses.NONE) {
      return;
    }
    int from = held.start(stretch);
    int to = Math.min(held.ends[stretch], from + most);
    int tiers = held.tiers[stretch];
    give(life, held.keys, from, to, tiers, block, position, use);
    if (uses.tail(use) == BlockTable.NONE) {
      uses.release(use);
    }
  }

  private int oldestUse(int life, int now) {
    int oldest = uses.oldest(lives.hot(life));
    int use = uses.make(oldest == Uses.NONE ? now : uses.tick(oldest));
    if (use != Uses.NONE) {
      uses.insertBefore(oldest == Uses.NONE ? lives.hot(life) : oldest, use);
    }
    return use;
  }

  private void give(
      int life, long[] keys, int from, int to, int tiers, int parent, int parentAt, int use) {
    int uneven = Holding.uneven(tiers) ? 1 : 0;
    int block = parent;
    int position = parentAt;
    int i = from;
    while (i < to) {
      int room = uneven == 0 ? roomInHbm(life) : to - i;
      int next = table.find(keys[i]);
      if (next == BlockTable.NONE) {
        if (room == 0 || (table.room() == 0 && !table.grow())) {
          return;
        }
        writer.versions.open();
        int end = Math.min(to, i + Math.min(room, table.room()));
        int last = table.addRow(keys, i, end, block, Holding.of(life, tiers, use), uneven);
        if (last == BlockTable.NONE) {
          return;
        }
        writer.addChild(block, position);
        writer.counted(life, table.added(), uneven * table.added());
        uses.setTail(use, last);
        block = last;
        position = 0;
        i += table.added();
        continue;
      }
      if (table.parent(next) != block) {
        return;
      }
      int found = sets.find(next, life, position);
      if (found >= 0) {
        writer.gain(next, found, tiers);
      } else {
        found = ~found;
        if (room == 0) {
          return;
        }
        writer.versions.open();
        if (!sets.insert(next, found, Holding.of(life, tiers, use))) {
          return;
        }
        table.changeUneven(next, uneven);
        writer.addChild(block, position);
        writer.counted(life, 1, uneven);
        uses.setTail(use, next);
      }
      block = next;
      position = found;
      i++;
    }
  }

  private int roomInHbm(int life) {
    int capacity = lives.capacities[life];
    return capacity == 0 ? Integer.MAX_VALUE : Math.max(0, capacity - lives.inHbm[life]);
  }
}
