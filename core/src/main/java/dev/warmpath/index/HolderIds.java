package dev.warmpath.index;

/**
 * The layout of a holder id: the primitive name under which the index knows one rank of one worker
 * during one life of that worker.
 *
 * <p>The low {@value #SLOT_BITS} bits are a slot, a small dense number that arrays can be indexed
 * by; the bits above are the epoch. Of two ids with the same slot the one with the higher epoch is
 * the newer life, and the older one is dead from the moment the newer is seen.
 */
public final class HolderIds {
  /** Width of the slot, in bits. */
  public static final int SLOT_BITS = 20;

  /** The number of slots there can be. */
  public static final int MAX_SLOTS = 1 << SLOT_BITS;

  private HolderIds() {}

  /**
   * Joins an epoch and a slot.
   *
   * @param epoch the life of the worker, of which the low 44 bits are kept
   * @param slot a number from 0 to {@link #MAX_SLOTS} - 1
   * @return the holder id
   * @throws IllegalArgumentException if the slot is out of range
   */
  public static long of(long epoch, int slot) {
    if (slot < 0 || slot >= MAX_SLOTS) {
      throw new IllegalArgumentException("slot out of range: " + slot);
    }
    return epoch << SLOT_BITS | slot;
  }

  /**
   * Returns the slot of a holder id.
   *
   * @param holderId any holder id
   * @return its slot, from 0 to {@link #MAX_SLOTS} - 1
   */
  public static int slot(long holderId) {
    return (int) holderId & (MAX_SLOTS - 1);
  }

  /**
   * Returns the epoch of a holder id.
   *
   * @param holderId any holder id
   * @return its epoch, never negative
   */
  public static long epoch(long holderId) {
    return holderId >>> SLOT_BITS;
  }
}
