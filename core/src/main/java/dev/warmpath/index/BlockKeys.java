package dev.warmpath.index;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashNamespace;

/**
 * What blocks go by in one table for all namespaces: the hash, mixed with where it comes from.
 *
 * <p>For one hash the mixing is one to one in the namespace, and for one namespace one to one in
 * the hash: the same hash of two namespaces never gives the same key. Two different hashes of two
 * namespaces do so as rarely as two 64-bit hashes of one.
 */
final class BlockKeys {
  private BlockKeys() {}

  /**
   * The number of a namespace. Keys of a request that the hashes cover are left out, as engines do
   * where they publish hashes: the hashes themselves keep them apart.
   */
  static long namespace(HashNamespace namespace) {
    long number = mix(((long) namespace.scheme().hashCode() << 32) + namespace.blockTokens());
    number = mix(number ^ namespace.engine());
    return mix(number + namespace.unhashed());
  }

  static long key(long namespace, long hash) {
    long key = mix(hash ^ namespace);
    return key == 0 ? 1 : key;
  }

  /** Puts the keys of a chain's first blocks into an array. */
  static void fill(BlockHashes hashes, int count, long[] keys) {
    long namespace = namespace(hashes.namespace());
    hashes.copyBits(0, count, keys, 0);
    fill(namespace, keys, 0, count);
  }

  /** Makes keys of hashes, in place. */
  static void fill(long namespace, long[] hashes, int from, int to) {
    for (int i = from; i < to; i++) {
      hashes[i] = key(namespace, hashes[i]);
    }
  }

  /** Steele and others' mix13 of SplitMix64, which is one to one. */
  private static long mix(long value) {
    long mixed = (value ^ value >>> 30) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ mixed >>> 27) * 0x94D049BB133111EBL;
    return mixed ^ mixed >>> 31;
  }
}
