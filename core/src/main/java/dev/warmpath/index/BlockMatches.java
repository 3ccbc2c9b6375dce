package dev.warmpath.index;

import java.util.Arrays;

/**
 * Which holders hold how many leading blocks of one prompt: the reusable scratch that {@link
 * BlockIndex#match} writes its answer into.
 *
 * <p>It grows with the fleet and is otherwise written without allocation; resetting it costs what
 * the last answer wrote. Not safe for use by several threads: give each its own.
 */
public final class BlockMatches {
  private static final int ROW = 3;
  private static final int DETAIL = 4;
  private static final int IN_HBM = 0;
  private static final int TO_DRAM = 1;
  private static final int DRAM = 2;
  private static final int SSD = 3;

  private long[] ids = {};
  private int[] blocks = {};

  /** Where what is known of the tiers is, or 0 if all blocks are in HBM. */
  private int[] details = {};

  /** Rows of numbers of blocks: leading ones in HBM, leading ones down to DRAM, in DRAM, in SSD. */
  private int[] tiers = new int[DETAIL];

  private int detailed;
  private int[] touched = {};
  private int size;

  /** The blocks of the prompt as rows of numbers, from the deepest up. */
  private int[] rows = new int[16 * ROW];

  private int depth;

  /** How far a holder may reach that has holes or blocks out of HBM somewhere. */
  private int uneven;

  /** Creates an empty answer. */
  public BlockMatches() {}

  /**
   * Returns how many holders hold some of the prompt.
   *
   * @return the number of holders, for {@link #holderAt} in no order
   */
  public int size() {
    return size;
  }

  /**
   * Returns the id of one of the holders.
   *
   * @param index from 0 to {@link #size} - 1
   * @return the holder id
   */
  public long holderAt(int index) {
    return ids[touched[index]];
  }

  /**
   * Returns how many leading blocks a holder holds in any tier.
   *
   * @param holderId any holder
   * @return the number of blocks, 0 where nothing is known, also of another life of the same slot
   */
  public int blocks(long holderId) {
    return known(holderId) ? blocks[HolderIds.slot(holderId)] : 0;
  }

  /**
   * Returns how many leading blocks a holder holds in a tier or a better one: the run up to the
   * first block that is missing or further away.
   *
   * @param holderId any holder
   * @param worst the worst tier that counts
   * @return the number of blocks, at most {@link #blocks(long)}
   */
  public int blocks(long holderId, Tier worst) {
    if (!known(holderId)) {
      return 0;
    }
    int slot = HolderIds.slot(holderId);
    int detail = details[slot];
    if (detail == 0) {
      return blocks[slot];
    }
    return switch (worst) {
      case HBM -> tiers[detail + IN_HBM];
      case DRAM -> tiers[detail + TO_DRAM];
      case SSD -> blocks[slot];
    };
  }

  /**
   * Returns how many of the {@link #blocks(long)} are in a tier and in no better one.
   *
   * @param holderId any holder
   * @param tier the tier
   * @return the number of blocks
   */
  public int blocksIn(long holderId, Tier tier) {
    if (!known(holderId)) {
      return 0;
    }
    int slot = HolderIds.slot(holderId);
    int detail = details[slot];
    if (detail == 0) {
      return tier == Tier.HBM ? blocks[slot] : 0;
    }
    return switch (tier) {
      case HBM -> blocks[slot] - tiers[detail + DRAM] - tiers[detail + SSD];
      case DRAM -> tiers[detail + DRAM];
      case SSD -> tiers[detail + SSD];
    };
  }

  /**
   * Returns how many leading blocks the holder has that has the most.
   *
   * @return the number of blocks, 0 if there is no holder
   */
  public int longest() {
    int longest = 0;
    for (int i = 0; i < size; i++) {
      longest = Math.max(longest, blocks[touched[i]]);
    }
    return longest;
  }

  private boolean known(long holderId) {
    int slot = HolderIds.slot(holderId);
    return slot < blocks.length && blocks[slot] > 0 && ids[slot] == holderId;
  }

  /** Forgets the last answer. */
  void begin() {
    for (int i = 0; i < size; i++) {
      blocks[touched[i]] = 0;
    }
    size = 0;
    depth = 0;
    uneven = 0;
    detailed = 0;
  }

  /** Notes that a holder, of whom nothing was noted yet, may reach so far, all in HBM. */
  void add(long holderId, int run) {
    int slot = HolderIds.slot(holderId);
    if (slot >= blocks.length) {
      grow(slot);
    }
    if (blocks[slot] == 0) {
      touched[size++] = slot;
    }
    ids[slot] = holderId;
    blocks[slot] = run;
    details[slot] = 0;
  }

  private void grow(int slot) {
    int length = Math.max(slot + 1, blocks.length + (blocks.length >> 1) + 8);
    ids = Arrays.copyOf(ids, length);
    blocks = Arrays.copyOf(blocks, length);
    details = Arrays.copyOf(details, length);
    touched = Arrays.copyOf(touched, length);
  }

  /** Notes that not all blocks of a run may be there or in HBM. */
  void doubt(int run) {
    uneven = Math.max(uneven, run);
  }

  /** How many blocks must be looked at one by one. */
  int doubtful() {
    return uneven;
  }

  /** Notes what tiers an uneven block is in; blocks come in order. */
  void note(long holderId, int block, int found) {
    int slot = HolderIds.slot(holderId);
    if (!known(holderId) || block >= blocks[slot]) {
      return;
    }
    int detail = detail(slot);
    tiers[detail + IN_HBM] = Math.min(tiers[detail + IN_HBM], block);
    if (Holding.hole(found)) {
      blocks[slot] = block;
      tiers[detail + TO_DRAM] = Math.min(tiers[detail + TO_DRAM], block);
      if (block == 0) {
        forget(slot);
      }
    } else if ((found & Holding.DRAM) != 0) {
      tiers[detail + DRAM]++;
    } else {
      tiers[detail + SSD]++;
      tiers[detail + TO_DRAM] = Math.min(tiers[detail + TO_DRAM], block);
    }
  }

  private int detail(int slot) {
    if (details[slot] == 0) {
      int row = ++detailed * DETAIL;
      if (row == tiers.length) {
        tiers = Arrays.copyOf(tiers, 2 * row);
      }
      details[slot] = row;
      tiers[row + IN_HBM] = blocks[slot];
      tiers[row + TO_DRAM] = blocks[slot];
      tiers[row + DRAM] = 0;
      tiers[row + SSD] = 0;
    }
    return details[slot];
  }

  private void forget(int slot) {
    for (int i = 0; i < size; i++) {
      if (touched[i] == slot) {
        touched[i] = touched[--size];
        return;
      }
    }
  }

  /**
   * Notes a block that a holder holds, in the order of the blocks.
   *
   * @return whether the holder's run reaches the block
   */
  boolean step(long holderId, int block, int found) {
    if (blocks(holderId) != block) {
      return false;
    }
    if (block == 0) {
      add(holderId, 1);
    }
    int slot = HolderIds.slot(holderId);
    blocks[slot] = block + 1;
    int detail = details[slot];
    if (detail != 0 && tiers[detail + IN_HBM] == block && !Holding.uneven(found)) {
      tiers[detail + IN_HBM]++;
    }
    if (detail != 0
        && tiers[detail + TO_DRAM] == block
        && (found & (Holding.IN_HBM | Holding.DRAM)) != 0) {
      tiers[detail + TO_DRAM]++;
    }
    if (Holding.uneven(found)) {
      note(holderId, block, found);
    }
    return true;
  }

  boolean more() {
    return depth > 0;
  }

  /** Notes a row of blocks. */
  void push(int firstBlock, int position, int length) {
    int at = depth * ROW;
    if (at == rows.length) {
      rows = Arrays.copyOf(rows, 2 * at);
    }
    depth++;
    rows[at] = firstBlock;
    rows[at + 1] = position;
    rows[at + 2] = length;
  }

  /** Takes the last row off; its fields are then read by {@link #popped}. */
  void pop() {
    depth--;
  }

  int popped(int field) {
    return rows[depth * ROW + field];
  }
}
