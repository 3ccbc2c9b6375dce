package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.internal.unicode.CodePoints;
import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.util.List;

/**
 * Finds word boundaries in UTF-8 as a pre-tokenizer's regular expressions would, by hand: one
 * forward pass without backtracking. Each scanner names the expressions it stands for, and tests
 * compare the two. Stateless.
 */
abstract class WordScanner {
  /**
   * Where the word ends that begins at {@code from}.
   *
   * @param utf8 well-formed UTF-8
   * @param from offset of a character
   * @param to the end of the text, greater than {@code from}
   */
  abstract int next(byte[] utf8, int from, int to);

  /**
   * The expressions that it stands for, in the order in which they split, in Oniguruma's syntax.
   */
  abstract List<String> regexes();

  /** The property byte of the character at {@code at}. */
  static int properties(byte[] utf8, int at) {
    int lead = utf8[at];
    return lead >= 0
        ? CodePoints.asciiProperties(lead)
        : CodePoints.properties(Utf8.codePointAt(utf8, at));
  }

  static boolean in(int set, int properties) {
    return (set >>> properties & 1) != 0;
  }

  /** The end of the longest run of characters in {@code set} from {@code from}. */
  static int skip(byte[] utf8, int from, int to, int set) {
    int at = from;
    while (at < to) {
      int lead = utf8[at];
      if (lead >= 0) {
        if (!in(set, CodePoints.asciiProperties(lead))) {
          return at;
        }
        at++;
      } else if (lead >= (byte) 0xE5 && lead <= (byte) 0xE9) {
        // U+5000 to U+9FFF: CJK ideographs all of them.
        if (!in(set, CodePoints.LO)) {
          return at;
        }
        at += 3;
      } else {
        if (!in(set, CodePoints.properties(Utf8.codePointAt(utf8, at)))) {
          return at;
        }
        at += Utf8.width(utf8[at]);
      }
    }
    return at;
  }

  /** As {@link #skip} for a set with all letters: runs of ASCII letters go by eight at a time. */
  static int skipWord(byte[] utf8, int from, int to, int set) {
    int at = Utf8.skipAsciiLetters(utf8, from, to);
    return at < to && utf8[at] < 0 ? skip(utf8, at, to, set) : at;
  }

  /** The end of a run of at most {@code most} characters in {@code set}. */
  static int skip(byte[] utf8, int from, int to, int set, int most) {
    int at = from;
    for (int i = 0; i < most && at < to && in(set, properties(utf8, at)); i++) {
      at += Utf8.width(utf8[at]);
    }
    return at;
  }

  /**
   * The end of {@code \s*[\r\n]+|\s+(?!\S)|\s+} at white space: up to the last line break of the
   * run; else the run but for the last character if something follows.
   */
  static int skipSpace(byte[] utf8, int from, int to) {
    int at = from;
    int lastStart = from;
    int afterBreak = -1;
    while (at < to) {
      int properties = properties(utf8, at);
      if (!in(CodePoints.SPACE, properties)) {
        break;
      }
      lastStart = at;
      at += Utf8.width(utf8[at]);
      if (in(CodePoints.LINE_BREAKS, properties)) {
        afterBreak = at;
      }
    }
    if (afterBreak >= 0) {
      return afterBreak;
    }
    return at == to || lastStart == from ? at : lastStart;
  }

  /**
   * The end of {@code (?i:'s|'t|'re|'ve|'m|'ll|'d)} whose apostrophe is at {@code from}, or -1.
   * Where case is ignored, U+017F is an s.
   */
  static int contraction(byte[] utf8, int from, int to) {
    if (from + 1 >= to) {
      return -1;
    }
    switch (utf8[from + 1] | 0x20) {
      case 's', 't', 'm', 'd' -> {
        return from + 2;
      }
      case 'r', 'v' -> {
        return from + 2 < to && (utf8[from + 2] | 0x20) == 'e' ? from + 3 : -1;
      }
      case 'l' -> {
        return from + 2 < to && (utf8[from + 2] | 0x20) == 'l' ? from + 3 : -1;
      }
      default -> {
        return utf8[from + 1] == (byte) 0xC5 && utf8[from + 2] == (byte) 0xBF ? from + 3 : -1;
      }
    }
  }
}
