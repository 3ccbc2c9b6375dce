package dev.warmpath.worker;

/**
 * The 64-bit hash by which independent clients agree on where a key belongs. It is fixed for ever:
 * changing it would move every session of every running client.
 *
 * <p>A text's hash is FNV-1a over its UTF-8 bytes (offset basis {@code 0xcbf29ce484222325}, prime
 * {@code 0x100000001b3}; an unpaired surrogate counts as the byte {@code 0x3f}), finished by {@link
 * #mix}. A key's weight at a worker is {@link #pair} of their hashes: the largest weight wins
 * (rendezvous hashing, Thaler and Ravishankar 1998).
 */
public final class StableHash {
  private static final long OFFSET = 0xcbf29ce484222325L;
  private static final long PRIME = 0x100000001b3L;

  private StableHash() {}

  /** The hash of a text. Allocates nothing. */
  public static long of(String text) {
    long hash = OFFSET;
    int length = text.length();
    for (int i = 0; i < length; i++) {
      int point = text.codePointAt(i);
      if (point < 0x80) {
        hash = step(hash, point);
      } else if (point < 0x800) {
        hash = step(hash, 0xc0 | (point >> 6));
        hash = trail(hash, point);
      } else if (point >= 0x10000) {
        hash = step(hash, 0xf0 | (point >> 18));
        hash = trail(trail(trail(hash, point >> 12), point >> 6), point);
        i++;
      } else if (point < Character.MIN_SURROGATE || point > Character.MAX_SURROGATE) {
        hash = step(hash, 0xe0 | (point >> 12));
        hash = trail(trail(hash, point >> 6), point);
      } else {
        hash = step(hash, '?');
      }
    }
    return mix(hash);
  }

  private static long trail(long hash, int bits) {
    return step(hash, 0x80 | (bits & 0x3f));
  }

  private static long step(long hash, int octet) {
    return (hash ^ octet) * PRIME;
  }

  /** How much a key wants a worker, from the hashes of both. */
  public static long pair(long key, long worker) {
    return mix(key ^ worker);
  }

  /**
   * The finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection that spreads every bit.
   */
  public static long mix(long value) {
    long mixed = (value ^ value >>> 30) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
    return mixed ^ mixed >>> 31;
  }
}
