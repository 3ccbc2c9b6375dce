package dev.warmpath.index;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The dispatches under way to each life, and those that a life's engine must tell of soon or they
 * count no longer. Only the writer's.
 */
final class Dispatches {
  /** How many dispatches to one life are told apart while they are under way. */
  static final int MOST_PENDING = 1 << 12;

  /** How many dispatches may wait for what engines tell; beyond that the oldest end early. */
  static final int MOST_EXPIRING = 1 << 16;

  /** How long what was sent counts where the engine tells of its cache itself: 2 s. */
  static final int EXPIRY_TICKS = (int) (2_000_000_000L >>> RadixCore.TICK_BITS) + 1;

  static final int NEVER = Integer.MAX_VALUE;

  private final Lives lives;
  private final ArrayDeque<BlockSpeculation> expiring = new ArrayDeque<>();
  private volatile int nextExpiry = NEVER;

  Dispatches(Lives lives) {
    this.lives = lives;
  }

  /** Whether the life that a dispatch went to goes on. */
  boolean current(BlockSpeculation speculation) {
    int life = speculation.life;
    return life != Lives.NONE && lives.current[life] && lives.serials[life] == speculation.serial;
  }

  /** Takes in a dispatch to a life. */
  void add(BlockSpeculation speculation, int life) {
    speculation.life = life;
    speculation.serial = lives.serials[life];
    BlockSpeculation head = lives.newest[life];
    speculation.older = head;
    if (head != null) {
      head.newer = speculation;
    }
    lives.newest[life] = speculation;
    speculation.listed = true;
    if (head == null) {
      lives.oldest[life] = speculation;
    }
    BlockSpeculation oldest = lives.oldest[life];
    if (++lives.pending[life] > MOST_PENDING && oldest != null) {
      remove(oldest);
    }
  }

  void remove(BlockSpeculation speculation) {
    if (!speculation.listed) {
      return;
    }
    speculation.listed = false;
    BlockSpeculation older = speculation.older;
    BlockSpeculation newer = speculation.newer;
    if (older != null) {
      older.newer = newer;
    } else {
      lives.oldest[speculation.life] = newer;
    }
    if (newer != null) {
      newer.older = older;
    } else {
      lives.newest[speculation.life] = older;
    }
    speculation.older = null;
    speculation.newer = null;
    lives.pending[speculation.life]--;
  }

  /** How many leading blocks of a dispatch others under way to the same life claim too. */
  int shared(BlockSpeculation speculation) {
    int shared = 0;
    BlockSpeculation other = lives.newest[speculation.life];
    while (other != null) {
      if (other.hashes.namespace().comparableWith(speculation.hashes.namespace())) {
        shared = Math.max(shared, other.hashes.commonPrefix(speculation.hashes));
      }
      other = other.older;
    }
    return shared;
  }

  /** Lets a dispatch end by itself. */
  void expire(BlockSpeculation speculation, int now) {
    speculation.expiry = now + EXPIRY_TICKS;
    expiring.addLast(speculation);
    if (expiring.size() == 1) {
      nextExpiry = speculation.expiry;
    }
  }

  /** Takes out the next dispatch whose time is over, or of which there are too many. */
  @Nullable BlockSpeculation nextExpired(int now) {
    BlockSpeculation first = expiring.peekFirst();
    if (first == null || (first.expiry > now && expiring.size() <= MOST_EXPIRING)) {
      return null;
    }
    expiring.removeFirst();
    BlockSpeculation next = expiring.peekFirst();
    nextExpiry = next == null ? NEVER : next.expiry;
    return first;
  }

  /** Anybody's: when the next dispatch ends by itself. */
  int nextExpiry() {
    return nextExpiry;
  }
}
