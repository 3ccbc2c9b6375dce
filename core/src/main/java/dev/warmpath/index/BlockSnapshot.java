package dev.warmpath.index;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * Takes down what one life holds, the newest use first, up to a number of blocks. For the writer.
 *
 * <p>A block's parent was never used before the block, so that what a stretch follows is taken down
 * before it. Holes, what is below them, and what only dispatches under way claim is left out.
 */
final class BlockSnapshot {
  private static final int ANY_TIER = Holding.HBM | Holding.DRAM | Holding.SSD;

  private final BlockWriter writer;
  private final int life;
  private final int most;
  private final Map<Integer, Integer> places = new HashMap<>();
  private long[] keys = new long[64];
  private int blocks;
  private int[] ends = new int[16];
  private int[] parents = new int[16];
  private byte[] tiers = new byte[16];
  private int stretches;
  private int[] path = new int[64];

  private BlockSnapshot(BlockWriter writer, int life, int most) {
    this.writer = writer;
    this.life = life;
    this.most = most;
  }

  static HeldBlocks take(BlockWriter writer, long holderId, int most) {
    int life = writer.lives.of(holderId);
    if (life == Lives.NONE) {
      return HeldBlocks.NONE;
    }
    BlockSnapshot snapshot = new BlockSnapshot(writer, life, most);
    snapshot.take(writer.lives.hot(life));
    snapshot.take(writer.lives.cold(life));
    return snapshot.taken();
  }

  private HeldBlocks taken() {
    return new HeldBlocks(
        Arrays.copyOf(keys, blocks),
        Arrays.copyOf(ends, stretches),
        Arrays.copyOf(parents, stretches),
        Arrays.copyOf(tiers, stretches));
  }

  private void take(int list) {
    int use = writer.uses.before(list, list);
    while (use != Uses.NONE && blocks < most) {
      takeUse(use);
      use = writer.uses.before(list, use);
    }
  }

  private void takeUse(int use) {
    int length = 0;
    int block = writer.uses.tail(use);
    while (block != BlockTable.NONE && Holding.use(holding(block)) == use) {
      if (length == path.length) {
        path = Arrays.copyOf(path, 2 * length);
      }
      path[length++] = block;
      block = writer.table.parent(block);
    }
    Integer parent =
        block == BlockTable.NONE ? Integer.valueOf(HeldBlocks.ROOT) : places.get(block);
    if (parent == null) {
      return; // below a hole
    }
    int last = parent;
    int before = 0;
    for (int i = length - 1; i >= 0 && blocks < most; i--) {
      int found = Holding.tiers(holding(path[i])) & ANY_TIER;
      if (found == 0) {
        return;
      }
      if (found != before) {
        begin(last, found);
        before = found;
      }
      last = add(path[i]);
    }
  }

  private long holding(int block) {
    return writer.sets.get(block, writer.sets.find(block, life, 0));
  }

  private void begin(int parent, int found) {
    if (stretches == ends.length) {
      ends = Arrays.copyOf(ends, 2 * stretches);
      parents = Arrays.copyOf(parents, 2 * stretches);
      tiers = Arrays.copyOf(tiers, 2 * stretches);
    }
    parents[stretches] = parent;
    tiers[stretches++] = (byte) found;
  }

  private int add(int block) {
    if (blocks == keys.length) {
      keys = Arrays.copyOf(keys, 2 * blocks);
    }
    keys[blocks] = writer.table.key(block);
    places.put(block, blocks);
    ends[stretches - 1] = blocks + 1;
    return blocks++;
  }
}
