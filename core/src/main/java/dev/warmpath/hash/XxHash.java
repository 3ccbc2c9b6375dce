package dev.warmpath.hash;

import com.dynatrace.hash4j.hashing.Hasher128;
import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;

/**
 * The xxHash family: XXH3 with 64 and 128 bits through hash4j, and XXH64, which hash4j does not
 * have, after the xxHash specification (Cyan4973/xxHash, doc/xxhash_spec.md).
 */
final class XxHash {

  private static final Hasher64 XXH3_64 = Hashing.xxh3_64();
  private static final Hasher128 XXH3_128 = Hashing.xxh3_128();

  private static final long PRIME_1 = 0x9E3779B185EBCA87L;
  private static final long PRIME_2 = 0xC2B2AE3D27D4EB4FL;
  private static final long PRIME_3 = 0x165667B19E3779F9L;
  private static final long PRIME_4 = 0x85EBCA77C2B2AE63L;
  private static final long PRIME_5 = 0x27D4EB2F165667C5L;

  /** The first two primes added modulo 2^64. */
  private static final long PRIME_1_AND_2 = 0x60EA27EEADC0B5D6L;

  private XxHash() {}

  /** XXH3-64 without a seed. */
  static Hasher64 xxh3() {
    return XXH3_64;
  }

  /** XXH3-64 with a seed. Keep the result: making one derives a secret. */
  static Hasher64 xxh3(long seed) {
    return seed == 0 ? XXH3_64 : Hashing.xxh3_64(seed);
  }

  /** XXH3-128 without a seed. */
  static Hasher128 xxh3Wide() {
    return XXH3_128;
  }

  /** XXH64 with seed 0. */
  static long xxh64(byte[] input, int from, int length) {
    int at = from;
    int end = from + length;
    long hash;
    if (length >= 32) {
      long lane1 = PRIME_1_AND_2;
      long lane2 = PRIME_2;
      long lane3 = 0;
      long lane4 = -PRIME_1;
      for (int last = end - 32; at <= last; at += 32) {
        lane1 = round(lane1, Bytes.getLongLe(input, at));
        lane2 = round(lane2, Bytes.getLongLe(input, at + 8));
        lane3 = round(lane3, Bytes.getLongLe(input, at + 16));
        lane4 = round(lane4, Bytes.getLongLe(input, at + 24));
      }
      hash =
          Long.rotateLeft(lane1, 1)
              + Long.rotateLeft(lane2, 7)
              + Long.rotateLeft(lane3, 12)
              + Long.rotateLeft(lane4, 18);
      hash = merge(hash, lane1);
      hash = merge(hash, lane2);
      hash = merge(hash, lane3);
      hash = merge(hash, lane4);
    } else {
      hash = PRIME_5;
    }
    hash += length;
    for (; at + 8 <= end; at += 8) {
      hash ^= round(0, Bytes.getLongLe(input, at));
      hash = Long.rotateLeft(hash, 27) * PRIME_1 + PRIME_4;
    }
    if (at + 4 <= end) {
      hash ^= (Bytes.getIntLe(input, at) & 0xFFFFFFFFL) * PRIME_1;
      hash = Long.rotateLeft(hash, 23) * PRIME_2 + PRIME_3;
      at += 4;
    }
    for (; at < end; at++) {
      hash ^= (input[at] & 0xFF) * PRIME_5;
      hash = Long.rotateLeft(hash, 11) * PRIME_1;
    }
    hash ^= hash >>> 33;
    hash *= PRIME_2;
    hash ^= hash >>> 29;
    hash *= PRIME_3;
    return hash ^ (hash >>> 32);
  }

  private static long round(long lane, long input) {
    return Long.rotateLeft(lane + input * PRIME_2, 31) * PRIME_1;
  }

  private static long merge(long hash, long lane) {
    return (hash ^ round(0, lane)) * PRIME_1 + PRIME_4;
  }
}
