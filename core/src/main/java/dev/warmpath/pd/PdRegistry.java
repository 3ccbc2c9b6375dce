package dev.warmpath.pd;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The rooms that must not be minted: those of attempts that last, and those that ended less than
 * the quarantine ago, which engines may still remember. Bounded: at the limit the oldest in
 * quarantine leave early. Thread safe; its lock guards a few array accesses.
 */
final class PdRegistry {
  private static final int MAX_DRAWS = 64;

  private final RoomSource rooms;
  private long quarantineNanos;
  private int limit;
  private final ReentrantLock lock = new ReentrantLock();
  private final RoomSet taken = new RoomSet();

  /** Rooms in quarantine and when they leave it, oldest first: a ring. */
  private long[] ended = new long[16];

  private long[] leaves = new long[16];
  private int first;
  private int resting;
  private int live;
  private long collisions;

  PdRegistry(RoomSource rooms, Duration quarantine, int limit) {
    this.rooms = rooms;
    this.quarantineNanos = quarantine.toNanos();
    this.limit = limit;
  }

  /**
   * Mints a room that no attempt has or had lately; it is live until {@link #retire}.
   *
   * @throws IllegalStateException when none is found, which takes a range that is nearly full
   */
  long mint(long max, int rank, int ranks, long now) {
    lock.lock();
    try {
      expire(now);
      for (int i = 0; i < MAX_DRAWS; i++) {
        long room = rooms.draw(max, rank, ranks);
        if (taken.add(room)) {
          live++;
          return room;
        }
        collisions++;
      }
    } finally {
      lock.unlock();
    }
    throw new IllegalStateException("no free room was found: too many requests are out");
  }

  /**
   * Sets both bounds for rooms that retire from now on; those in quarantine stay as long as told.
   */
  void change(Duration quarantine, int most) {
    lock.lock();
    try {
      quarantineNanos = quarantine.toNanos();
      limit = most;
    } finally {
      lock.unlock();
    }
  }

  /** The attempt of a room is over; once per room. */
  void retire(long room, long now) {
    lock.lock();
    try {
      live--;
      expire(now);
      if (quarantineNanos == 0) {
        taken.remove(room);
        return;
      }
      while (resting > 0 && live + resting >= limit) {
        leave();
      }
      if (resting == ended.length) {
        grow();
      }
      int at = (first + resting) % ended.length;
      ended[at] = room;
      leaves[at] = now + quarantineNanos;
      resting++;
    } finally {
      lock.unlock();
    }
  }

  private void expire(long now) {
    while (resting > 0 && now - leaves[first] >= 0) {
      leave();
    }
  }

  private void leave() {
    taken.remove(ended[first]);
    first = (first + 1) % ended.length;
    resting--;
  }

  private void grow() {
    long[] moreEnded = new long[2 * ended.length];
    long[] moreLeaves = new long[2 * ended.length];
    for (int i = 0; i < resting; i++) {
      moreEnded[i] = ended[(first + i) % ended.length];
      moreLeaves[i] = leaves[(first + i) % ended.length];
    }
    ended = moreEnded;
    leaves = moreLeaves;
    first = 0;
  }

  /** Rooms of attempts that last. */
  int live() {
    lock.lock();
    try {
      return live;
    } finally {
      lock.unlock();
    }
  }

  /** Rooms in quarantine. */
  int resting() {
    lock.lock();
    try {
      return resting;
    } finally {
      lock.unlock();
    }
  }

  /** Draws that met a room which was taken. */
  long collisions() {
    lock.lock();
    try {
      return collisions;
    } finally {
      lock.unlock();
    }
  }

  /** A set of positive numbers by open addressing; 16 bytes or less each. */
  private static final class RoomSet {
    private long[] table = new long[32];
    private int size;

    boolean add(long room) {
      int at = find(room);
      if (table[at] == room) {
        return false;
      }
      table[at] = room;
      if (++size > table.length / 2) {
        long[] old = table;
        table = new long[2 * old.length];
        for (long each : old) {
          if (each != 0) {
            table[find(each)] = each;
          }
        }
      }
      return true;
    }

    void remove(long room) {
      int hole = find(room);
      if (table[hole] != room) {
        return;
      }
      size--;
      int mask = table.length - 1;
      int at = hole;
      while (true) {
        at = at + 1 & mask;
        long each = table[at];
        if (each == 0) {
          break;
        }
        // What was pushed past the hole moves back into it.
        int home = home(each);
        if ((at - home & mask) >= (at - hole & mask)) {
          table[hole] = each;
          hole = at;
        }
      }
      table[hole] = 0;
    }

    private int home(long room) {
      return (int) ((room * 0x9e3779b97f4a7c15L) >>> 40) & table.length - 1;
    }

    private int find(long room) {
      int mask = table.length - 1;
      int at = home(room);
      while (table[at] != 0 && table[at] != room) {
        at = at + 1 & mask;
      }
      return at;
    }
  }
}
