package dev.warmpath.index;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The holders of one node, as pairs of longs in ascending order of their slot.
 *
 * <p>The first of a pair is the identity: the slot above the generation that the slot had when the
 * entry was made. It never changes within an array. The second is the stamp: the tick of the last
 * use above the tokens that the holder had received by then (in units, modulo 2^32). The writer
 * moves stamps in place under readers' eyes; opaque access keeps each of them whole.
 */
final class Entries {
  static final long[] NONE = {};

  /** A tick later than every tick. */
  static final int NEVER = Integer.MAX_VALUE;

  private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);

  private Entries() {}

  static long identity(int slot, int generation) {
    return (long) slot << 32 | Integer.toUnsignedLong(generation);
  }

  static int slot(long identity) {
    return (int) (identity >>> 32);
  }

  static int generation(long identity) {
    return (int) identity;
  }

  static long stamp(int tick, int units) {
    return (long) tick << 32 | Integer.toUnsignedLong(units);
  }

  static int tick(long stamp) {
    return (int) (stamp >> 32);
  }

  static int units(long stamp) {
    return (int) stamp;
  }

  static long stampAt(long[] entries, int at) {
    return (long) LONGS.getOpaque(entries, at + 1);
  }

  static void setStamp(long[] entries, int at, long stamp) {
    LONGS.setOpaque(entries, at + 1, stamp);
  }

  /** The index of the slot's pair, or the complement of the index where it belongs. */
  static int find(long[] entries, int slot) {
    int low = 0;
    int high = (entries.length >> 1) - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int found = slot(entries[middle << 1]);
      if (found < slot) {
        low = middle + 1;
      } else if (found > slot) {
        high = middle - 1;
      } else {
        return middle << 1;
      }
    }
    return ~(low << 1);
  }

  /** A copy with the pair put where {@link #find} said: over the slot's old pair, or between. */
  static long[] with(long[] entries, int found, long identity, long stamp) {
    long[] result;
    int at;
    if (found >= 0) {
      at = found;
      result = entries.clone();
    } else {
      at = ~found;
      result = new long[entries.length + 2];
      System.arraycopy(entries, 0, result, 0, at);
      System.arraycopy(entries, at, result, at + 2, entries.length - at);
    }
    result[at] = identity;
    result[at + 1] = stamp;
    return result;
  }

  static long[] without(long[] entries, int at) {
    if (entries.length == 2) {
      return NONE;
    }
    long[] result = new long[entries.length - 2];
    System.arraycopy(entries, 0, result, 0, at);
    System.arraycopy(entries, at + 2, result, at, result.length - at);
    return result;
  }

  /** The entries used after a tick; the same array where that is all of them. */
  static long[] usedAfter(long[] entries, int tick) {
    int kept = 0;
    for (int at = 0; at < entries.length; at += 2) {
      if (tick(entries[at + 1]) > tick) {
        kept += 2;
      }
    }
    if (kept == entries.length) {
      return entries;
    }
    if (kept == 0) {
      return NONE;
    }
    long[] result = new long[kept];
    int to = 0;
    for (int at = 0; at < entries.length; at += 2) {
      if (tick(entries[at + 1]) > tick) {
        result[to++] = entries[at];
        result[to++] = entries[at + 1];
      }
    }
    return result;
  }

  static int oldest(long[] entries) {
    int oldest = NEVER;
    for (int at = 0; at < entries.length; at += 2) {
      oldest = Math.min(oldest, tick(entries[at + 1]));
    }
    return oldest;
  }
}
