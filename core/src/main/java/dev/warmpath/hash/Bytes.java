package dev.warmpath.hash;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Reads and writes integers and text in byte arrays. */
final class Bytes {

  private static final VarHandle INT_LE =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG_LE =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG_BE =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private Bytes() {}

  static int getIntLe(byte[] bytes, int at) {
    return (int) INT_LE.get(bytes, at);
  }

  static void putIntLe(byte[] bytes, int at, int value) {
    INT_LE.set(bytes, at, value);
  }

  static long getLongLe(byte[] bytes, int at) {
    return (long) LONG_LE.get(bytes, at);
  }

  static void putLongLe(byte[] bytes, int at, long value) {
    LONG_LE.set(bytes, at, value);
  }

  static long getLongBe(byte[] bytes, int at) {
    return (long) LONG_BE.get(bytes, at);
  }

  static void putLongBe(byte[] bytes, int at, long value) {
    LONG_BE.set(bytes, at, value);
  }

  /** The eight bytes of a value, most significant first. */
  static byte[] ofLong(long value) {
    byte[] bytes = new byte[Long.BYTES];
    putLongBe(bytes, 0, value);
    return bytes;
  }

  /**
   * UTF-8 of a text. The engines reject unpaired surrogates, so this does too; the message keeps
   * the text to itself because it may be a tenant's salt.
   */
  static byte[] utf8(String text) {
    try {
      ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
      byte[] bytes = new byte[encoded.remaining()];
      encoded.get(bytes);
      return bytes;
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("a hashed text holds an unpaired surrogate", e);
    }
  }

  /** Decodes hexadecimal text and checks its length where {@code length} is not negative. */
  static byte[] fromHex(String what, String hex, int length) {
    byte[] bytes;
    try {
      bytes = HexFormat.of().parseHex(hex);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(what + " is not hexadecimal text", e);
    }
    if (length >= 0 && bytes.length != length) {
      throw new IllegalArgumentException(
          what + " must be " + length + " bytes, not " + bytes.length);
    }
    return bytes;
  }

  /** Reads an unsigned 64-bit decimal number. */
  static long unsigned(String what, String text) {
    try {
      return Long.parseUnsignedLong(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(what + " is not an unsigned 64-bit number", e);
    }
  }
}
