package dev.warmpath.hash;

import java.util.HexFormat;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The hashes of a prompt's full blocks, first block first. Immutable; a view that shares memory
 * with the chain it came from.
 */
public final class BlockHashes {

  private final HashScheme scheme;
  private final Retention retention;
  private final HashStore store;
  private final int size;

  BlockHashes(HashScheme scheme, Retention retention, HashStore store, int size) {
    this.scheme = scheme;
    this.retention = retention;
    this.store = store;
    this.size = size;
  }

  /** The scheme that made the hashes. */
  public HashScheme scheme() {
    return scheme;
  }

  /** Where the hashes may be compared. */
  public HashNamespace namespace() {
    return scheme.namespace();
  }

  /** Number of blocks. */
  public int size() {
    return size;
  }

  /**
   * The 64 reported bits of a block; for HiCache keys the first 64. Only for code that has checked
   * the namespace, as {@link #in} does; print them with {@link #reported}.
   */
  public long bits(int block) {
    return store.get(Objects.checkIndex(block, size), 0);
  }

  /** A block's hash together with its namespace. */
  public BlockHash get(int block) {
    return new BlockHash(namespace(), bits(block));
  }

  /**
   * A block's hash as the engine reports it: a decimal number in its signedness, or hexadecimal.
   */
  public String reported(int block) {
    long bits = bits(block);
    return switch (scheme.reportedForm()) {
      case FIRST_64_SIGNED -> Decimal.signed(bits);
      case LAST_64_UNSIGNED, WHOLE_64_UNSIGNED -> Decimal.unsigned(bits);
      case HEX -> Objects.requireNonNull(digestHex(block));
    };
  }

  /**
   * A block's position-independent hash.
   *
   * @throws IllegalStateException if the scheme has none
   */
  public long local(int block) {
    if (!scheme.hasLocalHashes()) {
      throw new IllegalStateException(scheme.name() + " has no local hashes");
    }
    return store.get(Objects.checkIndex(block, size), 1);
  }

  /**
   * A block's whole digest as hexadecimal text, or null where the scheme has none.
   *
   * @throws IllegalStateException if the chain was opened without {@link Retention#DIGESTS}
   */
  public @Nullable String digestHex(int block) {
    Objects.checkIndex(block, size);
    int bytes = scheme.digestBytes();
    if (bytes == 0) {
      return null;
    }
    HexFormat hex = HexFormat.of();
    if (bytes == Long.BYTES) {
      return hex.toHexDigits(store.get(block, 0));
    }
    if (retention != Retention.DIGESTS) {
      throw new IllegalStateException("the chain keeps no digests");
    }
    StringBuilder text = new StringBuilder(2 * bytes);
    for (int word = 0; word < bytes / Long.BYTES; word++) {
      text.append(hex.toHexDigits(store.get(block, 1 + word)));
    }
    return text.toString();
  }

  /**
   * These hashes, after checking that they may be looked up among hashes of {@code other}.
   *
   * @throws NamespaceMismatchException if they may not
   */
  public BlockHashes in(HashNamespace other) {
    other.requireComparable(namespace());
    return this;
  }

  /** The first {@code blocks} hashes. */
  public BlockHashes prefix(int blocks) {
    return new BlockHashes(scheme, retention, store, Objects.checkIndex(blocks, size + 1));
  }

  /** Copies the reported bits of {@code count} blocks from {@code from} on to {@code target}. */
  public void copyBits(int from, int count, long[] target, int at) {
    Objects.checkFromIndexSize(from, count, size);
    if (store.width == 1) {
      System.arraycopy(store.words, from, target, at, count);
      return;
    }
    for (int i = 0; i < count; i++) {
      target[at + i] = store.get(from + i, 0);
    }
  }

  /**
   * Number of leading blocks that both prompts share.
   *
   * @throws NamespaceMismatchException if the hashes can't be compared
   */
  public int commonPrefix(BlockHashes other) {
    namespace().requireComparable(other.namespace());
    return store.commonPrefix(size, other.store, other.size);
  }

  /** Memory that the hashes keep reachable, in bytes; shared memory counts in full. */
  public long retainedBytes() {
    return 80L + store.reachable() * Long.BYTES;
  }

  @Override
  public String toString() {
    return size + " blocks of " + namespace();
  }

  HashStore store() {
    return store;
  }

  Retention retention() {
    return retention;
  }
}
