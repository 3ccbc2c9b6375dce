package dev.warmpath.index;

import java.util.ArrayList;
import java.util.List;

/**
 * One budget in bytes over several kinds of memory, none of which is ever given back. Each kind has
 * a floor that the others leave to it, so that a workload that comes later still finds room.
 */
final class PageBudget {
  private final long limit;
  private final List<Share> shares = new ArrayList<>();
  private long used;

  PageBudget(long limit) {
    this.limit = limit;
  }

  long limit() {
    return limit;
  }

  long used() {
    return used;
  }

  /** A kind of memory with its floor. */
  Share share(long floor) {
    Share share = new Share(floor);
    shares.add(share);
    return share;
  }

  /** What one kind of memory takes. */
  final class Share {
    private final long floor;
    private long taken;

    private Share(long floor) {
      this.floor = floor;
    }

    /** Takes a part of the budget, if it may. */
    boolean take(long bytes) {
      long promised = 0;
      for (Share other : shares) {
        promised += other == this ? 0 : Math.max(0, other.floor - other.taken);
      }
      if (used + bytes + promised > limit) {
        return false;
      }
      taken += bytes;
      used += bytes;
      return true;
    }
  }
}
