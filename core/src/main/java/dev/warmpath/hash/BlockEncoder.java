package dev.warmpath.hash;

import java.util.Arrays;
import java.util.List;

/**
 * Serializes vLLM's (parent, tokens, extra keys) tuples into a buffer that is used again for every
 * block.
 */
abstract class BlockEncoder {

  /** Bytes that a token, a length or a marker may take, and one wide store past the end. */
  static final int SLACK = 32;

  byte[] buffer = new byte[256];
  int length;

  /** Encodes a text alone, as the seed of the chain is. */
  abstract void encodeText(String text);

  /** Encodes a list of extra keys as {@link #encode} takes it; null where there are none. */
  byte[] extraKeys(List<ExtraKey> keys) {
    length = 0;
    if (keys.isEmpty()) {
      putNone();
    } else {
      putKeys(keys);
    }
    return Arrays.copyOf(buffer, length);
  }

  abstract void putNone();

  abstract void putKeys(List<ExtraKey> keys);

  /**
   * Encodes a block.
   *
   * @param parent the parent's digest in its first {@code parentLength} bytes
   * @param extraKeys the encoded extra keys
   */
  abstract void encode(
      byte[] parent, int parentLength, int[] tokens, int from, int count, byte[] extraKeys);

  /** Encodes a block with ids beyond 32 bits. */
  abstract void encodeWide(
      byte[] parent, int parentLength, long[] tokens, int from, int count, byte[] extraKeys);

  final void ensure(int more) {
    if (buffer.length < length + more) {
      buffer = Arrays.copyOf(buffer, Math.max(2 * buffer.length, length + more));
    }
  }

  final void put(int value) {
    buffer[length++] = (byte) value;
  }

  final void put(byte[] bytes, int count) {
    ensure(count + SLACK);
    System.arraycopy(bytes, 0, buffer, length, count);
    length += count;
  }
}
