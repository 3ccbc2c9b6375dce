package dev.warmpath.prompt.tokenizer.internal.unicode;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Reading and writing UTF-8 in byte arrays. */
public final class Utf8 {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final byte[] REPLACEMENT = {(byte) 0xEF, (byte) 0xBF, (byte) 0xBD};

  private Utf8() {}

  /** The length of the sequence that a lead byte begins. */
  public static int width(byte lead) {
    return lead >= 0 ? 1 : lead < (byte) 0xE0 ? 2 : lead < (byte) 0xF0 ? 3 : 4;
  }

  /** The code point of the well-formed sequence at {@code at}. */
  public static int codePointAt(byte[] utf8, int at) {
    int lead = utf8[at];
    if (lead >= 0) {
      return lead;
    }
    if (lead < (byte) 0xE0) {
      return (lead & 0x1F) << 6 | (utf8[at + 1] & 0x3F);
    }
    if (lead < (byte) 0xF0) {
      return (lead & 0xF) << 12 | (utf8[at + 1] & 0x3F) << 6 | (utf8[at + 2] & 0x3F);
    }
    return (lead & 0x7) << 18
        | (utf8[at + 1] & 0x3F) << 12
        | (utf8[at + 2] & 0x3F) << 6
        | (utf8[at + 3] & 0x3F);
  }

  /** The code point of the sequence at {@code at}, or U+FFFD if it is ill-formed. */
  public static int lenientCodePointAt(byte[] utf8, int at, int to) {
    return sequence(utf8, at, to) > 0 ? codePointAt(utf8, at) : 0xFFFD;
  }

  /** Where the sequence that ends before {@code end} begins, but not before {@code from}. */
  public static int previous(byte[] utf8, int from, int end) {
    int at = end - 1;
    while (at > from && utf8[at] < (byte) 0xC0) {
      at--;
    }
    return at;
  }

  /** The first byte in the range that is not ASCII, or {@code to}. */
  public static int firstNonAscii(byte[] utf8, int from, int to) {
    int at = from;
    for (; at <= to - 8; at += 8) {
      long high = (long) LONG.get(utf8, at) & HIGH_BITS;
      if (high != 0) {
        return at + (Long.numberOfTrailingZeros(high) >>> 3);
      }
    }
    while (at < to && utf8[at] >= 0) {
      at++;
    }
    return at;
  }

  /** Whether a byte is an ASCII letter. */
  public static boolean isAsciiLetter(byte b) {
    int lower = b | 0x20;
    return lower >= 'a' && lower <= 'z';
  }

  /** The first byte in the range that is no ASCII letter, or {@code to}. */
  public static int skipAsciiLetters(byte[] utf8, int from, int to) {
    int at = from;
    for (; at <= to - 8; at += 8) {
      long bytes = (long) LONG.get(utf8, at);
      long lower = (bytes | 0x2020202020202020L) & ~HIGH_BITS;
      // The high bit of each sum says whether the byte is at least 'a', or beyond 'z'.
      long letters =
          (lower + 0x1F1F1F1F1F1F1F1FL) & ~(lower + 0x0505050505050505L) & ~bytes & HIGH_BITS;
      if (letters != HIGH_BITS) {
        return at + (Long.numberOfTrailingZeros(letters ^ HIGH_BITS) >>> 3);
      }
    }
    while (at < to && isAsciiLetter(utf8[at])) {
      at++;
    }
    return at;
  }

  /**
   * The length of the well-formed sequence at {@code at}, or the negated length of the ill-formed
   * bytes there that one U+FFFD stands for (the maximal subpart of Unicode, chapter 3.9).
   */
  static int sequence(byte[] utf8, int at, int to) {
    int lead = utf8[at];
    if (lead >= 0) {
      return 1;
    }
    int low = 0x80;
    int high = 0xBF;
    int width;
    int b = lead & 0xFF;
    if (b < 0xC2 || b > 0xF4) {
      return -1;
    } else if (b < 0xE0) {
      width = 2;
    } else if (b < 0xF0) {
      width = 3;
      low = b == 0xE0 ? 0xA0 : 0x80;
      high = b == 0xED ? 0x9F : 0xBF;
    } else {
      width = 4;
      low = b == 0xF0 ? 0x90 : 0x80;
      high = b == 0xF4 ? 0x8F : 0xBF;
    }
    for (int i = 1; i < width; i++) {
      int next = at + i < to ? utf8[at + i] & 0xFF : 0;
      if (next < low || next > high) {
        return -i;
      }
      low = 0x80;
      high = 0xBF;
    }
    return width;
  }

  /** Whether the range ends inside a sequence that more bytes could complete; its length, or 0. */
  public static int incompleteTail(byte[] utf8, int from, int to) {
    for (int back = 1; back <= Math.min(3, to - from); back++) {
      int lead = utf8[to - back] & 0xFF;
      if (lead >= 0xC0) {
        int width = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        boolean possible = lead >= 0xC2 && lead < 0xF5;
        return possible && width > back && sequence(utf8, to - back, to) == -back ? back : 0;
      }
      if (lead < 0x80) {
        return 0;
      }
    }
    return 0;
  }

  /** The first ill-formed byte at or after {@code from}, or {@code to}. */
  public static int firstMalformed(byte[] utf8, int from, int to) {
    int at = from;
    while (true) {
      at = firstNonAscii(utf8, at, to);
      if (at == to) {
        return to;
      }
      do {
        int width = sequence(utf8, at, to);
        if (width < 0) {
          return at;
        }
        at += width;
      } while (at < to && utf8[at] < 0);
    }
  }

  /** The range's bytes with U+FFFD in the place of each ill-formed part. */
  public static byte[] repair(byte[] utf8, int from, int to) {
    byte[] out = new byte[(to - from) * 3];
    int size = 0;
    for (int at = from; at < to; ) {
      int width = sequence(utf8, at, to);
      if (width > 0) {
        System.arraycopy(utf8, at, out, size, width);
        size += width;
        at += width;
      } else {
        System.arraycopy(REPLACEMENT, 0, out, size, 3);
        size += 3;
        at -= width;
      }
    }
    return Arrays.copyOf(out, size);
  }

  /** The range as text, with U+FFFD in the place of each ill-formed part. */
  public static String decode(byte[] utf8, int from, int to) {
    int bad = firstMalformed(utf8, from, to);
    if (bad == to) {
      return new String(utf8, from, to - from, StandardCharsets.UTF_8);
    }
    return new String(repair(utf8, from, to), StandardCharsets.UTF_8);
  }

  /** The text's UTF-8 form, with U+FFFD in the place of each lone surrogate. */
  public static byte[] encode(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    // The JDK writes '?' for a lone surrogate, so only a text with a '?' can hold one.
    for (byte b : utf8) {
      if (b == '?') {
        return hasLoneSurrogate(text)
            ? replaceLoneSurrogates(text).getBytes(StandardCharsets.UTF_8)
            : utf8;
      }
    }
    return utf8;
  }

  private static boolean hasLoneSurrogate(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        if (Character.isLowSurrogate(c)
            || i + 1 == text.length()
            || !Character.isLowSurrogate(text.charAt(i + 1))) {
          return true;
        }
        i++;
      }
    }
    return false;
  }

  private static String replaceLoneSurrogates(String text) {
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints().forEach(c -> out.appendCodePoint(c >= 0xD800 && c <= 0xDFFF ? 0xFFFD : c));
    return out.toString();
  }
}
