package dev.warmpath.prompt.tokenizer.internal.unicode;

import java.util.Arrays;

/** A growing byte array. Not for use by several threads. */
public final class Bytes {
  private byte[] array;
  private int size;

  /** An empty array with room for {@code capacity} bytes. */
  public Bytes(int capacity) {
    array = new byte[Math.max(16, capacity)];
  }

  /** Appends one byte. */
  public void append(int value) {
    if (size == array.length) {
      grow(1);
    }
    array[size++] = (byte) value;
  }

  /** Appends a range. */
  public void append(byte[] bytes, int from, int to) {
    int length = to - from;
    if (array.length - size < length) {
      grow(length);
    }
    System.arraycopy(bytes, from, array, size, length);
    size += length;
  }

  /** Appends a whole array. */
  public void append(byte[] bytes) {
    append(bytes, 0, bytes.length);
  }

  /** Appends a code point in UTF-8. */
  public void appendCodePoint(int codePoint) {
    if (codePoint < 0x80) {
      append(codePoint);
    } else if (codePoint < 0x800) {
      append(0xC0 | codePoint >>> 6);
      append(0x80 | (codePoint & 0x3F));
    } else if (codePoint < 0x10000) {
      append(0xE0 | codePoint >>> 12);
      append(0x80 | (codePoint >>> 6 & 0x3F));
      append(0x80 | (codePoint & 0x3F));
    } else {
      append(0xF0 | codePoint >>> 18);
      append(0x80 | (codePoint >>> 12 & 0x3F));
      append(0x80 | (codePoint >>> 6 & 0x3F));
      append(0x80 | (codePoint & 0x3F));
    }
  }

  /** Number of bytes. */
  public int size() {
    return size;
  }

  /** Shortens to {@code newSize} bytes. */
  public void truncate(int newSize) {
    size = newSize;
  }

  /** The backing array, valid up to {@link #size()} until the next append. */
  public byte[] array() {
    return array;
  }

  /** A copy. */
  public byte[] toByteArray() {
    return Arrays.copyOf(array, size);
  }

  private void grow(int more) {
    array = Arrays.copyOf(array, Math.max(array.length + (array.length >> 1), size + more));
  }
}
