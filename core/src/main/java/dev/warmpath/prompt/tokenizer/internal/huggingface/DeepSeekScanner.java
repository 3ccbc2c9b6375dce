package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.internal.unicode.CodePoints;
import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.util.List;

/**
 * DeepSeek V3's words. Three expressions run one after another there: the first cuts out numerals,
 * the second runs of CJK characters, the third finds words in each of the pieces. Here it is one
 * pass in which a numeral, or a change between CJK and others, counts as the end of the text.
 */
final class DeepSeekScanner extends WordScanner {
  static final DeepSeekScanner INSTANCE = new DeepSeekScanner();

  private static final List<String> REGEXES =
      List.of(
          "\\p{N}{1,3}",
          "[一-龥\u3040-ゟ゠-ヿ]+",
          "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
              + "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
              + "| ?[\\p{P}\\p{S}]+[\r\n]*"
              + "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+");

  private static final int WORD = CodePoints.LETTER | CodePoints.MARK;
  private static final int SIGN = CodePoints.PUNCTUATION | CodePoints.SYMBOL;
  private static final int BEFORE_WORD = ~(CodePoints.LINE_BREAKS | CodePoints.LETTER | SIGN);

  private DeepSeekScanner() {}

  @Override
  int next(byte[] utf8, int from, int to) {
    int codePoint = Utf8.codePointAt(utf8, from);
    int properties = CodePoints.properties(codePoint);
    if (in(CodePoints.NUMBER, properties)) {
      return skip(utf8, from, to, CodePoints.NUMBER, 3);
    }
    boolean cjk = isCjk(codePoint);
    int second = from + Utf8.width(utf8[from]);
    boolean more = second < to && isInside(utf8, second, cjk);
    int following = more ? properties(utf8, second) : 0;
    if (more && codePoint < 0x80 && in(SIGN, properties) && Utf8.isAsciiLetter(utf8[second])) {
      return Utf8.skipAsciiLetters(utf8, second, to);
    }
    if (in(WORD, properties)) {
      return skip(utf8, second, to, WORD, cjk);
    }
    if (more && in(WORD, following) && in(BEFORE_WORD, properties)) {
      return skip(utf8, second, to, WORD, cjk);
    }
    if (in(SIGN, properties) || (more && codePoint == ' ' && in(SIGN, following))) {
      int at = skip(utf8, second, to, SIGN, cjk);
      return cjk ? at : skip(utf8, at, to, CodePoints.LINE_BREAKS);
    }
    if (in(CodePoints.SPACE, properties)) {
      return skipSpaceOfPiece(utf8, from, to);
    }
    return skipUnmatched(utf8, second, to, cjk);
  }

  /** As {@link #skipSpace}, but a numeral or CJK character that follows is no part of the piece. */
  private static int skipSpaceOfPiece(byte[] utf8, int from, int to) {
    int end = skip(utf8, from, to, CodePoints.SPACE);
    return skipSpace(utf8, from, end < to && !isInside(utf8, end, false) ? end : to);
  }

  /** What no alternative matches stays together up to where one does. */
  private static int skipUnmatched(byte[] utf8, int from, int to, boolean cjk) {
    int at = from;
    while (at < to && isInside(utf8, at, cjk)) {
      int properties = properties(utf8, at);
      if (in(WORD | SIGN | CodePoints.SPACE, properties)) {
        return at;
      }
      int second = at + Utf8.width(utf8[at]);
      if (second < to && isInside(utf8, second, cjk) && in(WORD, properties(utf8, second))) {
        return at;
      }
      at = second;
    }
    return at;
  }

  private static int skip(byte[] utf8, int from, int to, int set, boolean cjk) {
    int at = cjk || set != WORD ? from : Utf8.skipAsciiLetters(utf8, from, to);
    while (at < to) {
      int codePoint = Utf8.codePointAt(utf8, at);
      if (!in(set, CodePoints.properties(codePoint)) || isCjk(codePoint) != cjk) {
        break;
      }
      at += Utf8.width(utf8[at]);
    }
    return at;
  }

  /** Whether the character belongs to the same piece: no numeral, and CJK like the rest. */
  private static boolean isInside(byte[] utf8, int at, boolean cjk) {
    int codePoint = Utf8.codePointAt(utf8, at);
    return isCjk(codePoint) == cjk && !CodePoints.in(CodePoints.NUMBER, codePoint);
  }

  private static boolean isCjk(int codePoint) {
    return codePoint >= 0x3040
        && (codePoint <= 0x30FF || (codePoint >= 0x4E00 && codePoint <= 0x9FA5));
  }

  @Override
  List<String> regexes() {
    return REGEXES;
  }
}
