package dev.warmpath.hash;

import java.util.List;

/** Canonical CBOR (RFC 8949, section 4.2.1), as far as block hashes need it. */
final class CborEncoder extends BlockEncoder {

  private static final int UNSIGNED = 0;
  private static final int NEGATIVE = 1;
  private static final int BYTES = 2;
  private static final int TEXT = 3;
  private static final int ARRAY = 4;
  private static final int MAP = 5;
  private static final int NULL = 0xF6;

  private static final int LARGEST_INLINE = 23;

  /** By leading zeros of a 32-bit id above 23: initial byte at the top, bytes in all, shift. */
  private static final long[] HEAD = new long[33];

  private static final byte[] SIZE = new byte[33];
  private static final byte[] SHIFT = new byte[33];

  static {
    for (int zeros = 0; zeros <= 32; zeros++) {
      int log = zeros >= 24 ? 0 : zeros >= 16 ? 1 : 2;
      HEAD[zeros] = (long) (0x18 + log) << 56;
      SIZE[zeros] = (byte) (1 + (1 << log));
      SHIFT[zeros] = (byte) (56 - (Byte.SIZE << log));
    }
  }

  private final boolean numericParent;

  /**
   * @param numericParent whether the parent is written as a number, as vLLM did when it chained 64
   *     bits
   */
  CborEncoder(boolean numericParent) {
    this.numericParent = numericParent;
  }

  @Override
  void encodeText(String text) {
    length = 0;
    putText(text);
  }

  @Override
  void putNone() {
    ensure(SLACK);
    put(NULL);
  }

  @Override
  void putKeys(List<ExtraKey> keys) {
    putHead(ARRAY, keys.size());
    for (ExtraKey key : keys) {
      if (key instanceof ExtraKey.Text text) {
        putText(text.text());
      } else if (key instanceof ExtraKey.Placed placed) {
        putHead(ARRAY, 2);
        putText(placed.identifier());
        putInt(placed.offset());
      } else {
        byte[] bytes = Bytes.fromHex("an extra key", ((ExtraKey.Raw) key).hex(), -1);
        putHead(BYTES, bytes.length);
        put(bytes, bytes.length);
      }
    }
  }

  @Override
  void encode(
      byte[] parent, int parentLength, int[] tokens, int from, int count, byte[] extraKeys) {
    begin(parent, parentLength);
    putTokens(tokens, from, count);
    put(extraKeys, extraKeys.length);
  }

  @Override
  void encodeWide(
      byte[] parent, int parentLength, long[] tokens, int from, int count, byte[] extraKeys) {
    begin(parent, parentLength);
    putHead(ARRAY, count);
    for (int i = from; i < from + count; i++) {
      putInt(tokens[i]);
    }
    put(extraKeys, extraKeys.length);
  }

  private void begin(byte[] parent, int parentLength) {
    length = 0;
    putHead(ARRAY, 3);
    if (numericParent) {
      putHead(UNSIGNED, Bytes.getLongBe(parent, 0));
    } else {
      putHead(BYTES, parentLength);
      put(parent, parentLength);
    }
  }

  void putTokens(int[] tokens, int from, int count) {
    putHead(ARRAY, count);
    ensure(count * 5 + SLACK);
    byte[] bytes = buffer;
    int at = length;
    for (int i = from; i < from + count; i++) {
      int token = tokens[i];
      if (Integer.compareUnsigned(token, LARGEST_INLINE) <= 0) {
        bytes[at++] = (byte) token;
        continue;
      }
      int zeros = Integer.numberOfLeadingZeros(token);
      Bytes.putLongBe(bytes, at, HEAD[zeros] | Integer.toUnsignedLong(token) << SHIFT[zeros]);
      at += SIZE[zeros];
    }
    length = at;
  }

  void putArray(int items) {
    putHead(ARRAY, items);
  }

  void putMap(int entries) {
    putHead(MAP, entries);
  }

  void putUnsigned(long value) {
    putHead(UNSIGNED, value);
  }

  void putInt(long value) {
    if (value >= 0) {
      putHead(UNSIGNED, value);
    } else {
      putHead(NEGATIVE, ~value);
    }
  }

  void putText(String text) {
    byte[] utf8 = Bytes.utf8(text);
    putHead(TEXT, utf8.length);
    put(utf8, utf8.length);
  }

  /** A major type with its unsigned argument in the shortest form. */
  private void putHead(int majorType, long argument) {
    ensure(SLACK);
    int major = majorType << 5;
    if (Long.compareUnsigned(argument, LARGEST_INLINE) <= 0) {
      put(major | (int) argument);
      return;
    }
    int zeros = Long.numberOfLeadingZeros(argument);
    int log = zeros >= 56 ? 0 : zeros >= 48 ? 1 : zeros >= 32 ? 2 : 3;
    put(major | (0x18 + log));
    Bytes.putLongBe(buffer, length, argument << (Long.SIZE - (Byte.SIZE << log)));
    length += 1 << log;
  }
}
