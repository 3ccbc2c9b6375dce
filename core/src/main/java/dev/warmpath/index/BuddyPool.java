package dev.warmpath.index;

/**
 * Runs of longs whose length is a power of two, cut from pages and merged again (a buddy system).
 *
 * <p>Free runs keep their books in their own first long, which is negative: the order, and the
 * neighbours in the list of free runs of that order. The first long of a run in use must not be
 * negative.
 */
final class BuddyPool {
  static final int NO_ROOM = -1;

  private static final int LINK_BITS = 29;
  private static final int LINK_MASK = (1 << LINK_BITS) - 1;
  private static final int ORDER_SHIFT = 2 * LINK_BITS;

  private final PageBudget.Share budget;
  final LongPages pages;
  final int mostOrder;

  /** The first free run of each order, plus one; 0 for none. */
  private final int[] heads;

  BuddyPool(PageBudget.Share budget, int pageShift) {
    this.budget = budget;
    this.pages = new LongPages(pageShift);
    this.mostOrder = pageShift;
    this.heads = new int[pageShift + 1];
  }

  /** The run's address, or {@link #NO_ROOM}. */
  int take(int order) {
    int found = order;
    while (found <= mostOrder && heads[found] == 0) {
      found++;
    }
    if (found > mostOrder) {
      if (!grow()) {
        return NO_ROOM;
      }
      found = mostOrder;
    }
    int address = heads[found] - 1;
    unlink(address, found);
    while (found > order) {
      found--;
      link(address + (1 << found), found);
    }
    pages.set(address, 0);
    return address;
  }

  void give(int address, int order) {
    int merged = address;
    int size = order;
    while (size < mostOrder) {
      int buddy = merged ^ 1 << size;
      long books = pages.get(buddy);
      if (books >= 0 || order(books) != size) {
        break;
      }
      unlink(buddy, size);
      merged &= ~(1 << size);
      size++;
    }
    link(merged, size);
  }

  private boolean grow() {
    int address = pages.size();
    if (address + (1 << pages.shift) > LINK_MASK || !budget.take(pages.pageBytes())) {
      return false;
    }
    pages.grow();
    link(address, mostOrder);
    return true;
  }

  private void link(int address, int order) {
    int next = heads[order];
    pages.set(address, books(order, 0, next));
    if (next != 0) {
      long other = pages.get(next - 1);
      pages.set(next - 1, books(order, address + 1, next(other)));
    }
    heads[order] = address + 1;
  }

  private void unlink(int address, int order) {
    long books = pages.get(address);
    int previous = previous(books);
    int next = next(books);
    if (previous == 0) {
      heads[order] = next;
    } else {
      pages.set(previous - 1, books(order, previous(pages.get(previous - 1)), next));
    }
    if (next != 0) {
      pages.set(next - 1, books(order, previous, next(pages.get(next - 1))));
    }
  }

  private static long books(int order, int previous, int next) {
    return Long.MIN_VALUE | (long) order << ORDER_SHIFT | (long) previous << LINK_BITS | next;
  }

  private static int order(long books) {
    return (int) (books >>> ORDER_SHIFT) & 31;
  }

  private static int previous(long books) {
    return (int) (books >>> LINK_BITS) & LINK_MASK;
  }

  private static int next(long books) {
    return (int) books & LINK_MASK;
  }
}
