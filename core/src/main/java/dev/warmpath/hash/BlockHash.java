package dev.warmpath.hash;

import java.util.Objects;

/**
 * A block hash that knows where it comes from: hashes of different namespaces are never equal.
 *
 * @param namespace where the hash may be compared
 * @param bits the 64 reported bits
 */
public record BlockHash(HashNamespace namespace, long bits) {

  /** Checks for null. */
  public BlockHash {
    Objects.requireNonNull(namespace, "namespace");
  }

  /**
   * Whether both name the same block.
   *
   * @throws NamespaceMismatchException if they can't be compared
   */
  public boolean sameBlock(BlockHash other) {
    namespace.requireComparable(other.namespace);
    return bits == other.bits;
  }

  @Override
  public String toString() {
    return namespace + ":" + Long.toHexString(bits);
  }
}
