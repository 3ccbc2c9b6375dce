package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.internal.unicode.Bytes;
import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * GPT-2's alphabet: one printable character for each of the 256 bytes. Vocabularies are written in
 * it, so that JSON can hold tokens that are not whole UTF-8 characters.
 */
final class ByteLevel {
  private static final char[] CHARACTERS = new char[256];
  private static final short[] BYTES = new short[0x144];

  static {
    Arrays.fill(BYTES, (short) -1);
    char next = 0x100;
    for (int b = 0; b < 256; b++) {
      boolean printable = (b > 0x20 && b < 0x7F) || (b > 0xA0 && b != 0xAD);
      CHARACTERS[b] = printable ? (char) b : next++;
      BYTES[CHARACTERS[b]] = (short) b;
    }
  }

  private ByteLevel() {}

  /** The character of a byte. */
  static char character(int unsignedByte) {
    return CHARACTERS[unsignedByte];
  }

  /** The byte of a character, or -1. */
  static int byteOf(int codePoint) {
    return codePoint < BYTES.length ? BYTES[codePoint] : -1;
  }

  /** The bytes that a token's UTF-8 form stands for, or null if it leaves the alphabet. */
  static byte @Nullable [] toBytes(byte[] utf8, int from, int to) {
    byte[] out = new byte[to - from];
    int size = 0;
    for (int at = from; at < to; at += Utf8.width(utf8[at])) {
      int b = byteOf(Utf8.codePointAt(utf8, at));
      if (b < 0) {
        return null;
      }
      out[size++] = (byte) b;
    }
    return Arrays.copyOf(out, size);
  }

  /** The UTF-8 form of bytes in the alphabet. */
  static byte[] fromBytes(byte[] bytes, int from, int to) {
    Bytes out = new Bytes((to - from) * 2);
    for (int at = from; at < to; at++) {
      out.appendCodePoint(CHARACTERS[bytes[at] & 0xFF]);
    }
    return out.toByteArray();
  }
}
