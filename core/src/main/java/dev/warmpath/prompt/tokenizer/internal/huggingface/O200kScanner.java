package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.internal.unicode.CodePoints;
import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.util.List;

/** The words of GPT-4o's o200k and its kin: gpt-oss, Llama 4, Mistral's Tekken. */
final class O200kScanner extends WordScanner {
  private static final int UPPER = CodePoints.UPPER_OR_TITLE | CodePoints.UNCASED | CodePoints.MARK;
  private static final int LOWER = CodePoints.LOWER | CodePoints.UNCASED | CodePoints.MARK;
  private static final int BEFORE_WORD =
      ~(CodePoints.LINE_BREAKS | CodePoints.LETTER | CodePoints.NUMBER);
  private static final int OTHER = ~(CodePoints.SPACE | CodePoints.LETTER | CodePoints.NUMBER);

  private final boolean contractions;
  private final int digits;

  /**
   * A scanner of the family.
   *
   * @param contractions whether endings such as {@code 's} belong to the word before them
   * @param digits how many numerals make a word at most
   */
  O200kScanner(boolean contractions, int digits) {
    this.contractions = contractions;
    this.digits = digits;
  }

  @Override
  int next(byte[] utf8, int from, int to) {
    int properties = properties(utf8, from);
    if (in(UPPER | LOWER, properties)) {
      return word(utf8, from, to);
    }
    int second = from + Utf8.width(utf8[from]);
    if (second < to) {
      int following = properties(utf8, second);
      if (in(UPPER | LOWER, following) && in(BEFORE_WORD, properties)) {
        return word(utf8, second, to);
      }
      if (utf8[from] == ' ' && in(OTHER, following)) {
        return afterOther(utf8, skip(utf8, second, to, OTHER), to);
      }
    }
    if (in(CodePoints.NUMBER, properties)) {
      return skip(utf8, from, to, CodePoints.NUMBER, digits);
    }
    if (in(OTHER, properties)) {
      return afterOther(utf8, skip(utf8, second, to, OTHER), to);
    }
    return skipSpace(utf8, from, to);
  }

  /**
   * The end of {@code [upper]*[lower]+|[upper]+[lower]*} at a letter or mark. Where no lower-case
   * letter follows the capitals, the expression steps back to the last of them that has no case;
   * where there is none, the capitals are the word.
   */
  private int word(byte[] utf8, int from, int to) {
    int at = from;
    int afterUncased = -1;
    while (at < to) {
      int properties = properties(utf8, at);
      if (!in(UPPER, properties)) {
        break;
      }
      at += Utf8.width(utf8[at]);
      if (in(LOWER, properties)) {
        afterUncased = at;
      }
    }
    int end = skip(utf8, at, to, LOWER);
    if (end == at && afterUncased > 0) {
      end = afterUncased;
    }
    if (contractions && end < to && utf8[end] == '\'') {
      int after = contraction(utf8, end, to);
      if (after > 0) {
        return after;
      }
    }
    return end;
  }

  /** {@code [\r\n/]*}. */
  private static int afterOther(byte[] utf8, int from, int to) {
    int at = from;
    while (at < to && (utf8[at] == '\n' || utf8[at] == '\r' || utf8[at] == '/')) {
      at++;
    }
    return at;
  }

  @Override
  List<String> regexes() {
    String upper = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
    String lower = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";
    String before = "[^\\r\\n\\p{L}\\p{N}]?";
    String after = contractions ? "(?i:'s|'t|'re|'ve|'m|'ll|'d)?" : "";
    String numerals = digits == 1 ? "\\p{N}" : "\\p{N}{1," + digits + "}";
    return List.of(
        before
            + upper
            + "*"
            + lower
            + "+"
            + after
            + "|"
            + before
            + upper
            + "+"
            + lower
            + "*"
            + after
            + "|"
            + numerals
            + "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+");
  }
}
