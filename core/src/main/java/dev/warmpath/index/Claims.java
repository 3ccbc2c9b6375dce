package dev.warmpath.index;

import org.jspecify.annotations.Nullable;

/**
 * The entries of one node that dispatches under way lay claim to, as triples of longs in no order.
 *
 * <p>A triple is the slot above the number of claims, the sequence number of the dispatch that
 * began the triple, and the stamp to fall back to when the last claim is withdrawn: that of the
 * last confirmed use, or {@link #UNCONFIRMED} where there was none. A dispatch holds one of the
 * claims if it is not older than the triple; of an entry that was evicted and made anew by a later
 * dispatch it holds none. Only the writer reads and writes claims. Null stands for none.
 */
final class Claims {
  static final long UNCONFIRMED = -1;

  private static final int WIDTH = 3;

  private Claims() {}

  /** The index of the slot's triple, or -1. */
  static int find(long @Nullable [] claims, int slot) {
    if (claims != null) {
      for (int at = 0; at < claims.length; at += WIDTH) {
        if (claims[at] >>> 32 == slot) {
          return at;
        }
      }
    }
    return -1;
  }

  /** The index of the slot's triple if that dispatch holds one of its claims, or -1. */
  static int findOf(long @Nullable [] claims, int slot, long sequence) {
    int at = find(claims, slot);
    return at >= 0 && claims != null && claims[at + 1] <= sequence ? at : -1;
  }

  /** One more claim, in place where the slot has a triple. */
  static long[] claimed(long @Nullable [] claims, int slot, long sequence, long fallback) {
    int at = find(claims, slot);
    if (at >= 0 && claims != null) {
      claims[at]++;
      return claims;
    }
    int length = claims == null ? 0 : claims.length;
    long[] result = new long[length + WIDTH];
    if (claims != null) {
      System.arraycopy(claims, 0, result, 0, length);
    }
    result[length] = (long) slot << 32 | 1;
    result[length + 1] = sequence;
    result[length + 2] = fallback;
    return result;
  }

  /** One claim less, in place unless it was the last. */
  static long @Nullable [] released(long[] claims, int at) {
    if ((int) --claims[at] > 0) {
      return claims;
    }
    return without(claims, at);
  }

  /** Without the slot's triple, whoever holds claims. */
  static long @Nullable [] forgotten(long @Nullable [] claims, int slot) {
    int at = find(claims, slot);
    return at < 0 || claims == null ? claims : without(claims, at);
  }

  /** Without the triples of slots that have no entry. */
  static long @Nullable [] of(long @Nullable [] claims, long[] entries) {
    long[] kept = claims;
    for (int at = 0; kept != null && at < kept.length; ) {
      if (Entries.find(entries, (int) (kept[at] >>> 32)) < 0) {
        kept = without(kept, at);
      } else {
        at += WIDTH;
      }
    }
    return kept;
  }

  static long fallback(long[] claims, int at) {
    return claims[at + 2];
  }

  static void confirm(long[] claims, int at, long stamp) {
    claims[at + 2] = stamp;
  }

  private static long @Nullable [] without(long[] claims, int at) {
    if (claims.length == WIDTH) {
      return null;
    }
    long[] result = new long[claims.length - WIDTH];
    System.arraycopy(claims, 0, result, 0, at);
    System.arraycopy(claims, at + WIDTH, result, at, result.length - at);
    return result;
  }
}
