package dev.warmpath.index;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Who the holders are, by small numbers: a life is what a holder is from its first block, or from
 * being emptied, until it is emptied or ends.
 *
 * <p>To end a life is to mark it as over. Its holdings are invisible from then on, and its number
 * is used again once all of them are gone. Readers read {@link #holders}, {@link #current} and
 * {@link #uneven}.
 */
final class Lives {
  static final int NONE = 0;

  private static final long BYTES_PER_LIFE = 5L * Long.BYTES + 8L * Integer.BYTES + 1;
  private static final long BYTES_PER_SLOT = 3L * Long.BYTES + Integer.BYTES;
  private static final int NEVER_SEEN = -1;

  private final PageBudget.Share budget;
  private final Uses uses;

  // By slot.
  private long[] ids = {};
  private int[] lifeOfSlot = {};

  // By life.
  long[] holders = new long[1];
  boolean[] current = new boolean[1];
  int[] uneven = new int[1];
  int[] holdings = new int[1];
  int[] inHbm = new int[1];
  int[] capacities = new int[1];
  int[] pending = new int[1];
  long[] serials = new long[1];

  /** The namespace in which all is told of what a life has, or 0; see {@link #authority}. */
  long[] authorities = new long[1];

  @Nullable BlockSpeculation[] newest = new BlockSpeculation[1];
  @Nullable BlockSpeculation[] oldest = new BlockSpeculation[1];
  private int[] hot = new int[1];
  private int[] cold = new int[1];

  /** The next life that is over and has holdings, or the next free number. */
  private int[] next = new int[1];

  private int unused = 1;
  private int free;
  private int over;
  private int living;
  private int authoritative;
  private long serial;

  /** Pairs of a holder and a namespace by slot; replaced whole. */
  private volatile long[] toldBySlot = {};

  Lives(PageBudget.Share budget, Uses uses) {
    this.budget = budget;
    this.uses = uses;
  }

  int living() {
    return living;
  }

  /** Whether there was ever one of which all is told; any thread may ask. */
  boolean anyTold() {
    return toldBySlot.length > 0;
  }

  /** How many lives there are of which all is told. */
  int authoritative() {
    return authoritative;
  }

  /**
   * Notes that all is told of what a life has in a namespace.
   *
   * @param namespace the namespace's number, or 0 to no longer believe it
   */
  void authority(int life, long namespace) {
    long before = authorities[life];
    if (before == namespace) {
      return;
    }
    authorities[life] = namespace;
    authoritative += (namespace == 0 ? 0 : 1) - (before == 0 ? 0 : 1);
    int at = 2 * HolderIds.slot(holders[life]);
    long[] told = Arrays.copyOf(toldBySlot, Math.max(toldBySlot.length, at + 2));
    told[at] = holders[life];
    told[at + 1] = namespace;
    toldBySlot = told;
  }

  /** Anybody's: whether all is told of what a holder has in a namespace. */
  boolean told(long holderId, long namespace) {
    long[] told = toldBySlot;
    int at = 2 * HolderIds.slot(holderId);
    return at < told.length && told[at] == holderId && told[at + 1] == namespace;
  }

  /** One more than the largest life there is. */
  int end() {
    return unused;
  }

  /** The holder's life, or {@link #NONE} if the holder is not known or not alive. */
  int of(long holderId) {
    int slot = HolderIds.slot(holderId);
    return slot < ids.length && ids[slot] == holderId ? Math.max(NONE, lifeOfSlot[slot]) : NONE;
  }

  /** Whether the slot has never had this holder nor a newer one. */
  boolean unseen(long holderId) {
    int slot = HolderIds.slot(holderId);
    return slot >= ids.length
        || lifeOfSlot[slot] == NEVER_SEEN
        || HolderIds.epoch(holderId) > HolderIds.epoch(ids[slot]);
  }

  /** Ends the slot's life and begins one of the holder, or returns {@link #NONE} for no room. */
  int begin(long holderId, int tick) {
    if (!reserve(holderId)) {
      return NONE;
    }
    end(HolderIds.slot(holderId));
    int life = number(tick);
    ids[HolderIds.slot(holderId)] = holderId;
    lifeOfSlot[HolderIds.slot(holderId)] = life == NONE ? NEVER_SEEN : life;
    if (life != NONE) {
      holders[life] = holderId;
      current[life] = true;
      capacities[life] = 0;
      serials[life] = ++serial;
      living++;
    }
    return life;
  }

  /** Ends the slot's life, of this holder or an older one, and lets neither come back. */
  void bury(long holderId) {
    if (reserve(holderId)) {
      int slot = HolderIds.slot(holderId);
      end(slot);
      ids[slot] = holderId;
      lifeOfSlot[slot] = NONE;
    }
  }

  /** Gives a holder's life to another holder, whose own, or an older one of its slot, ends. */
  void rename(long from, long to) {
    int life = of(from);
    if (life == NONE || !reserve(to)) {
      return;
    }
    long authority = authorities[life];
    authority(life, 0);
    lifeOfSlot[HolderIds.slot(from)] = NONE;
    int slot = HolderIds.slot(to);
    end(slot);
    ids[slot] = to;
    lifeOfSlot[slot] = life;
    holders[life] = to;
    authority(life, authority);
  }

  private void end(int slot) {
    int life = lifeOfSlot[slot];
    if (life <= NONE) {
      return;
    }
    lifeOfSlot[slot] = NONE;
    authority(life, 0);
    current[life] = false;
    newest[life] = null;
    oldest[life] = null;
    pending[life] = 0;
    living--;
    if (holdings[life] == 0) {
      release(life);
    } else {
      next[life] = over;
      over = life;
    }
  }

  /** A life that is over and has holdings left, or {@link #NONE}. */
  int over() {
    return over;
  }

  /** Lets go of the number that {@link #over()} returned, which has no holdings any more. */
  void releaseOver() {
    int life = over;
    over = next[life];
    release(life);
  }

  private void release(int life) {
    next[life] = free;
    free = life;
  }

  /** The list of uses that reached blocks in HBM. */
  int hot(int life) {
    return hot[life];
  }

  /** The list of older uses, none of whose blocks is in HBM any more. */
  int cold(int life) {
    return cold[life];
  }

  /** The oldest use of a life, or {@link Uses#NONE}. */
  int oldestUse(int life) {
    int use = uses.oldest(cold[life]);
    return use == Uses.NONE ? uses.oldest(hot[life]) : use;
  }

  private boolean reserve(long holderId) {
    int slot = HolderIds.slot(holderId);
    if (slot < ids.length) {
      return true;
    }
    int length = Math.max(slot + 1, ids.length + (ids.length >> 1) + 8);
    if (!budget.take((length - ids.length) * BYTES_PER_SLOT)) {
      return false;
    }
    int known = ids.length;
    ids = Arrays.copyOf(ids, length);
    lifeOfSlot = Arrays.copyOf(lifeOfSlot, length);
    Arrays.fill(lifeOfSlot, known, length, NEVER_SEEN);
    return true;
  }

  private int number(int tick) {
    if (free == NONE && unused == holders.length && !grow()) {
      return NONE;
    }
    int life = free == NONE ? unused : free;
    if (hot[life] == Uses.NONE) {
      hot[life] = uses.make(tick);
    }
    if (cold[life] == Uses.NONE) {
      cold[life] = uses.make(tick);
    }
    if (hot[life] == Uses.NONE || cold[life] == Uses.NONE) {
      return NONE;
    }
    if (free == NONE) {
      unused++;
    } else {
      free = next[life];
    }
    return life;
  }

  private boolean grow() {
    int length = Math.min(Holding.MOST_LIVES, unused + (unused >> 1) + 8);
    if (length == unused || !budget.take((length - unused) * BYTES_PER_LIFE)) {
      return false;
    }
    holders = Arrays.copyOf(holders, length);
    current = Arrays.copyOf(current, length);
    uneven = Arrays.copyOf(uneven, length);
    holdings = Arrays.copyOf(holdings, length);
    inHbm = Arrays.copyOf(inHbm, length);
    capacities = Arrays.copyOf(capacities, length);
    pending = Arrays.copyOf(pending, length);
    serials = Arrays.copyOf(serials, length);
    authorities = Arrays.copyOf(authorities, length);
    newest = Arrays.copyOf(newest, length);
    oldest = Arrays.copyOf(oldest, length);
    hot = Arrays.copyOf(hot, length);
    cold = Arrays.copyOf(cold, length);
    next = Arrays.copyOf(next, length);
    return true;
  }
}
