package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.internal.unicode.OnigurumaRegex;
import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * What splits a text: a literal, an expression or a kind of character. Matches are given as byte
 * offsets.
 */
interface Splits {
  /** Finds the successive matches in a stretch of well-formed UTF-8. */
  void find(byte[] utf8, int from, int to, OnigurumaRegex.MatchConsumer consumer);

  /** Each occurrence of some bytes. */
  static Splits literal(byte[] wanted) {
    if (wanted.length == 0) {
      throw new IllegalArgumentException("an empty pattern");
    }
    return (utf8, from, to, consumer) -> {
      for (int at = from; at <= to - wanted.length; ) {
        if (utf8[at] == wanted[0]
            && Arrays.equals(utf8, at, at + wanted.length, wanted, 0, wanted.length)) {
          consumer.match(at, at + wanted.length);
          at += wanted.length;
        } else {
          at++;
        }
      }
    };
  }

  /** Each character of a kind. */
  static Splits character(IntPredicate kind) {
    return (utf8, from, to, consumer) -> {
      for (int at = from; at < to; ) {
        int end = at + Utf8.width(utf8[at]);
        if (kind.test(Utf8.codePointAt(utf8, at))) {
          consumer.match(at, end);
        }
        at = end;
      }
    };
  }

  /** Each match of an expression. */
  static Splits regex(OnigurumaRegex regex) {
    return (utf8, from, to, consumer) -> {
      String text = new Slice(utf8, from, to).text();
      // Matches come in order, so that one walk over the text finds all byte offsets.
      int[] place = {0, from};
      regex.forEachMatch(
          text,
          (start, end) -> {
            advance(text, place, start);
            int first = place[1];
            advance(text, place, end);
            consumer.match(first, place[1]);
          });
    };
  }

  private static void advance(String text, int[] place, int target) {
    while (place[0] < target) {
      char c = text.charAt(place[0]);
      if (Character.isHighSurrogate(c)) {
        place[0] += 2;
        place[1] += 4;
      } else {
        place[0]++;
        place[1] += c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
      }
    }
  }
}
