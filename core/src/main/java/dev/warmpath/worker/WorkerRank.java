package dev.warmpath.worker;

import java.util.OptionalInt;

/**
 * The smallest thing a request can be sent to: one data-parallel rank of one incarnation of a
 * worker, with a KV cache and a load of its own. Immutable; compared by identity of worker, epoch
 * and rank.
 *
 * <p>A worker whose engine lets no request name a rank, or that has one rank, is a single {@code
 * WorkerRank} whose {@link #rank()} is empty: absent is not rank 0.
 */
public final class WorkerRank {
  /** Bits of a {@link #holderId()} that hold the slot. */
  public static final int SLOT_BITS = 20;

  private final Worker worker;
  private final int rank;
  private final int slot;
  private final String name;
  private final long holderId;
  private final long stableHash;

  WorkerRank(Worker worker, int rank, int slot) {
    if (slot < 0 || slot >= 1 << SLOT_BITS) {
      throw new IllegalArgumentException(
          "slot " + slot + " is not in 0.." + ((1 << SLOT_BITS) - 1));
    }
    this.worker = worker;
    this.rank = rank;
    this.slot = slot;
    this.name = rank < 0 ? worker.id().value() : worker.id().value() + "#" + rank;
    this.holderId = worker.epoch() << SLOT_BITS | slot;
    this.stableHash = StableHash.of(name);
  }

  /** The worker this is a rank of. */
  public Worker worker() {
    return worker;
  }

  /** The data-parallel rank to name in the request; empty lets the engine choose. */
  public OptionalInt rank() {
    return rank < 0 ? OptionalInt.empty() : OptionalInt.of(rank);
  }

  /**
   * A small dense number, unique among the ranks of a {@link Topology} and stable while this rank
   * lives; used to index side tables. It is reused after the rank is gone, so pair it with {@link
   * #holderId()} where that matters.
   */
  public int slot() {
    return slot;
  }

  /**
   * Names this rank of this epoch in indexes: the worker's epoch above {@link #SLOT_BITS} bits of
   * slot.
   */
  public long holderId() {
    return holderId;
  }

  /**
   * The {@link StableHash} of this rank's name ({@link #toString}): the same in every client and
   * across restarts, since no epoch and no slot is part of it.
   */
  public long stableHash() {
    return stableHash;
  }

  /** The slot of a holder id. */
  public static int slotOf(long holderId) {
    return (int) holderId & ((1 << SLOT_BITS) - 1);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof WorkerRank that
        && rank == that.rank
        && worker.epoch() == that.worker.epoch()
        && worker.id().equals(that.worker.id());
  }

  @Override
  public int hashCode() {
    return Long.hashCode(worker.epoch()) * 31 + rank;
  }

  /** The worker's name, with {@code #rank} where a rank is named. */
  @Override
  public String toString() {
    return name;
  }
}
