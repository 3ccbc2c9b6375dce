package dev.warmpath.index;

/**
 * How the writer takes in what engines tell block by block: changes below or at a block that is
 * known, in a time that does not depend on how deep the block lies.
 *
 * <p>A block that is told to follow another is as old as that one: it joins the other's use where
 * that ends there, and else gets a use right before it. So a block is never younger than its
 * parent, as eviction wants it, and nothing above has to be touched. That is for lives whose engine
 * tells all: what others used last matters, since they lose by it what is beyond their capacity.
 */
final class BlockAppender {
  private final BlockWriter writer;
  private final BlockTable table;
  private final HolderSets sets;
  private final Uses uses;

  /** Whether {@link #useBelow} made its last result, which nothing names yet. */
  private boolean fresh;

  BlockAppender(BlockWriter writer) {
    this.writer = writer;
    this.table = writer.table;
    this.sets = writer.sets;
    this.uses = writer.uses;
  }

  /**
   * Gives a life, whose engine tells all, blocks that follow one that it holds.
   *
   * @param keys the blocks' keys from {@code from} up to {@code to}
   * @return how many were taken in; fewer where one is known to follow another block, or where
   *     there is no room
   */
  int append(int life, int parent, long[] keys, int from, int to, int tiers) {
    long parentKey = table.key(parent);
    int block = parent;
    int position = sets.find(block, life, 0);
    int i = from;
    while (i < to && position >= 0) {
      int next = table.find(keys[i]);
      if (next == BlockTable.NONE) {
        if (table.room() == 0) {
          // What is evicted may be what this is to follow.
          boolean room = writer.makeRoom(to - i);
          position = room && table.key(block) == parentKey ? sets.find(block, life, position) : -1;
          continue;
        }
        int last = addRow(life, block, position, keys, i, to, tiers);
        if (last == BlockTable.NONE) {
          break;
        }
        block = last;
        i += table.added();
        position = 0;
      } else if (table.parent(next) != block) {
        break;
      } else {
        int found = sets.find(next, life, position);
        if (found < 0) {
          found = insert(life, block, position, next, ~found, tiers);
        } else {
          writer.gain(next, found, tiers);
        }
        if (found < 0) {
          break;
        }
        block = next;
        position = found;
        i++;
      }
      parentKey = table.key(block);
    }
    return i - from;
  }

  /** Returns the deepest that was added, or none. */
  private int addRow(int life, int parent, int position, long[] keys, int from, int to, int tiers) {
    int use = useBelow(parent, position);
    if (use == Uses.NONE) {
      return BlockTable.NONE;
    }
    writer.versions.open();
    int end = Math.min(to, from + table.room());
    int uneven = Holding.uneven(tiers) ? 1 : 0;
    int last = table.addRow(keys, from, end, parent, Holding.of(life, tiers, use), uneven);
    if (last == BlockTable.NONE) {
      release(use);
      return BlockTable.NONE;
    }
    uses.setTail(use, last);
    writer.addChild(parent, position);
    writer.counted(life, table.added(), uneven * table.added());
    return last;
  }

  /** Returns where the holding is, or -1 if there was no room for it. */
  private int insert(int life, int parent, int position, int block, int at, int tiers) {
    int use = useBelow(parent, position);
    if (use == Uses.NONE) {
      return -1;
    }
    writer.versions.open();
    if (!sets.insert(block, at, Holding.of(life, tiers, use))) {
      release(use);
      return -1;
    }
    uses.setTail(use, block);
    writer.addChild(parent, position);
    int uneven = Holding.uneven(tiers) ? 1 : 0;
    table.changeUneven(block, uneven);
    writer.counted(life, 1, uneven);
    return at;
  }

  private int useBelow(int block, int position) {
    int above = Holding.use(sets.get(block, position));
    fresh = uses.tail(above) != block;
    if (!fresh) {
      return above;
    }
    int use = uses.make(uses.tick(above));
    if (use != Uses.NONE) {
      uses.insertBefore(above, use);
    }
    return use;
  }

  private void release(int use) {
    if (fresh) {
      uses.release(use);
    }
  }

  /** Gives a life a tier of blocks that it holds: one, and those right above it. */
  void gain(int life, long key, int count, int tiers) {
    int block = table.find(key);
    for (int i = 0; i < count && block != BlockTable.NONE; i++) {
      int position = sets.find(block, life, 0);
      if (position >= 0) {
        writer.gain(block, position, tiers);
      }
      block = table.parent(block);
    }
  }

  /** Takes tiers of blocks from a life: of one, and of those right above it. */
  void lose(int life, long key, int count, int tiers) {
    int block = table.find(key);
    for (int i = 0; i < count && block != BlockTable.NONE && table.count(block) > 0; i++) {
      int parent = table.parent(block);
      int position = sets.find(block, life, 0);
      if (position >= 0) {
        int held = Holding.tiers(sets.get(block, position));
        if ((held & tiers) != 0) {
          writer.lose(block, position, held & ~tiers);
        }
      }
      block = parent;
    }
  }
}
