package dev.warmpath.prompt.tokenizer.internal.unicode;

import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.function.IntPredicate;

/**
 * The four normalization forms as Hugging Face tokenizers apply them, with the data of Unicode 9.0.
 *
 * <p>Unicode's stability policy fixes the normalized form of every string of characters that a
 * version knows, so the JDK's newer data gives the same result for characters of Unicode 9.0. A
 * later character was inert then (a starter that neither decomposes nor composes): text is cut
 * around it.
 */
public final class Normalization {
  private Normalization() {}

  /** Whether the range is known to be in NFC already; false may be wrong. */
  public static boolean isNfc(byte[] utf8, int from, int to) {
    return firstUnstable(utf8, from, to) == to;
  }

  /**
   * The well-formed range in NFC. Only the surroundings of characters that may change go through
   * the general algorithm.
   */
  public static byte[] nfc(byte[] utf8, int from, int to) {
    Bytes out = new Bytes(to - from + 16);
    int copied = from;
    for (int at = firstUnstable(utf8, from, to); at < to; at = firstUnstable(utf8, at, to)) {
      int start = at;
      if (at > copied) {
        int before = Utf8.previous(utf8, copied, at);
        if (!CodePoints.isLaterThanUnicode9(Utf8.codePointAt(utf8, before))) {
          start = before;
        }
      }
      int end = at;
      while (end < to && CodePoints.isUnstableUnderNfc(Utf8.codePointAt(utf8, end))) {
        end += Utf8.width(utf8[end]);
      }
      out.append(utf8, copied, start);
      String changed = new String(utf8, start, end - start, StandardCharsets.UTF_8);
      out.append(
          Normalizer.normalize(changed, Normalizer.Form.NFC).getBytes(StandardCharsets.UTF_8));
      copied = end;
      at = end;
    }
    out.append(utf8, copied, to);
    return out.toByteArray();
  }

  /** The text in the given form. */
  public static String normalize(String text, Normalizer.Form form) {
    StringBuilder out = new StringBuilder(text.length() + 16);
    int start = 0;
    for (int at = 0; at < text.length(); ) {
      int codePoint = text.codePointAt(at);
      int width = Character.charCount(codePoint);
      if (CodePoints.isLaterThanUnicode9(codePoint)) {
        out.append(Normalizer.normalize(text.substring(start, at), form));
        out.appendCodePoint(codePoint);
        start = at + width;
      }
      at += width;
    }
    return out.append(Normalizer.normalize(text.substring(start), form)).toString();
  }

  /** The text without combining marks, those of Unicode 9.0. */
  public static String stripMarks(String text) {
    return filter(
        text,
        c ->
            !(CodePoints.in(CodePoints.MARK, c)
                ? !CodePoints.isLaterThanUnicode9(c) && c != 0x111C9
                : c == 0x1CF2 || c == 0x1CF3));
  }

  /** The text with each code point in lower case, without regard to its neighbours. */
  public static String toLowerCase(String text) {
    StringBuilder out = new StringBuilder(text.length() + 8);
    text.codePoints()
        .forEach(
            c -> {
              if (c == 0x130) {
                out.append("i\u0307");
              } else {
                out.appendCodePoint(CodePoints.toLowerCase(c));
              }
            });
    return out.toString();
  }

  private static String filter(String text, IntPredicate keep) {
    StringBuilder out = new StringBuilder(text.length());
    text.codePoints().filter(keep).forEach(out::appendCodePoint);
    return out.toString();
  }

  private static int firstUnstable(byte[] utf8, int from, int to) {
    int at = from;
    while (true) {
      at = Utf8.firstNonAscii(utf8, at, to);
      if (at == to) {
        return to;
      }
      do {
        int lead = utf8[at];
        // U+4000 to U+9FFF: nothing there changes.
        if (lead >= (byte) 0xE4 && lead <= (byte) 0xE9) {
          at += 3;
          continue;
        }
        if (CodePoints.isUnstableUnderNfc(Utf8.codePointAt(utf8, at))) {
          return at;
        }
        at += Utf8.width(utf8[at]);
      } while (at < to && utf8[at] < 0);
      if (at == to) {
        return to;
      }
    }
  }
}
