package dev.warmpath.index;

/**
 * The uses of chains by lives that are still the last use of some block, in lists from the oldest
 * to the newest.
 *
 * <p>A use stands for the blocks that it was the last to reach: these lie one below the other, and
 * the use knows the deepest, its tail. As a use always reaches every block above, a block's
 * children are never used later than the block, and the tail of the oldest use has no children with
 * holdings of the same life. A list is a use too, of which there is one for each life and kind.
 */
final class Uses {
  static final int NONE = 0;

  private static final int SHIFT = 2;
  private static final int TAIL = 0;
  private static final int PREVIOUS = 1;
  private static final int NEXT = 2;
  private static final int TICK = 3;

  private final PageBudget.Share budget;
  private final IntPages pages;
  private int unused = 1;
  private int free;
  private int count;

  Uses(PageBudget.Share budget, int pageShift) {
    this.budget = budget;
    this.pages = new IntPages(pageShift);
  }

  int count() {
    return count;
  }

  /** Whether there is room for so many more, if need be after adding a page. */
  boolean room(int uses) {
    // Number 0 is none.
    return (pages.size() >> SHIFT) - 1 - count >= uses || grow();
  }

  private boolean grow() {
    if (unused >= Holding.MOST_USES - 1 - pages.mask || !budget.take(pages.pageBytes())) {
      return false;
    }
    pages.grow();
    return true;
  }

  /** A use without a list, or {@link #NONE} if there is no room. */
  int make(int tick) {
    int use = free;
    if (use != NONE) {
      free = next(use);
    } else {
      if (unused << SHIFT >= pages.size() && !grow()) {
        return NONE;
      }
      use = unused++;
    }
    count++;
    set(use, TAIL, BlockTable.NONE);
    set(use, PREVIOUS, use);
    set(use, NEXT, use);
    set(use, TICK, tick);
    return use;
  }

  /** Lets a use go that no block names any more. */
  void release(int use) {
    unlink(use);
    count--;
    set(use, TAIL, BlockTable.NONE);
    set(use, NEXT, free);
    free = use;
  }

  /** Moves a use to the end of a list. */
  void append(int list, int use) {
    unlink(use);
    int last = get(list, PREVIOUS);
    set(use, PREVIOUS, last);
    set(use, NEXT, list);
    set(last, NEXT, use);
    set(list, PREVIOUS, use);
  }

  /** Puts a use without a list right before another. */
  void insertBefore(int next, int use) {
    int previous = get(next, PREVIOUS);
    set(use, PREVIOUS, previous);
    set(use, NEXT, next);
    set(previous, NEXT, use);
    set(next, PREVIOUS, use);
  }

  private void unlink(int use) {
    int previous = get(use, PREVIOUS);
    int next = get(use, NEXT);
    set(previous, NEXT, next);
    set(next, PREVIOUS, previous);
    set(use, PREVIOUS, use);
    set(use, NEXT, use);
  }

  /** The oldest use of a list, or {@link #NONE}. */
  int oldest(int list) {
    int first = get(list, NEXT);
    return first == list ? NONE : first;
  }

  /** The use before another in a list, or {@link #NONE}; the newest one before the list itself. */
  int before(int list, int use) {
    int previous = get(use, PREVIOUS);
    return previous == list ? NONE : previous;
  }

  int tail(int use) {
    return get(use, TAIL);
  }

  void setTail(int use, int block) {
    set(use, TAIL, block);
  }

  int tick(int use) {
    return get(use, TICK);
  }

  private int next(int use) {
    return get(use, NEXT);
  }

  private int get(int use, int field) {
    return pages.get((use << SHIFT) + field);
  }

  private void set(int use, int field, int value) {
    pages.set((use << SHIFT) + field, value);
  }
}
