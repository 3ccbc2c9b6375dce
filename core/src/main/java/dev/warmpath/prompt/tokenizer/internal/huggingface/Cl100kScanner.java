package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.internal.unicode.CodePoints;
import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.util.List;

/** The words of GPT-4's cl100k and its kin: Llama 3, Qwen 2 and 3, GLM-4. */
final class Cl100kScanner extends WordScanner {
  private final int letters;
  private final int beforeLetters;
  private final int digits;
  private final int other;

  /**
   * A scanner of the family.
   *
   * @param letters what words consist of: letters, or letters and marks
   * @param digits how many numerals make a word at most
   */
  Cl100kScanner(int letters, int digits) {
    this.letters = letters;
    this.digits = digits;
    beforeLetters = ~(CodePoints.LINE_BREAKS | CodePoints.LETTER | CodePoints.NUMBER);
    other = ~(CodePoints.SPACE | letters | CodePoints.NUMBER);
  }

  @Override
  int next(byte[] utf8, int from, int to) {
    int first = utf8[from];
    int properties = properties(utf8, from);
    if (in(letters, properties)) {
      return skipWord(utf8, from + Utf8.width(utf8[from]), to, letters);
    }
    if (first == '\'') {
      int end = contraction(utf8, from, to);
      if (end > 0) {
        return end;
      }
    }
    int second = from + Utf8.width(utf8[from]);
    if (second < to) {
      int following = properties(utf8, second);
      if (in(letters, following) && in(beforeLetters, properties)) {
        return skipWord(utf8, second + Utf8.width(utf8[second]), to, letters);
      }
      if (first == ' ' && in(other, following)) {
        return skip(utf8, skip(utf8, second, to, other), to, CodePoints.LINE_BREAKS);
      }
    }
    if (in(CodePoints.NUMBER, properties)) {
      return skip(utf8, from, to, CodePoints.NUMBER, digits);
    }
    if (in(other, properties)) {
      return skip(utf8, skip(utf8, second, to, other), to, CodePoints.LINE_BREAKS);
    }
    return skipSpace(utf8, from, to);
  }

  @Override
  List<String> regexes() {
    boolean marks = (letters & CodePoints.MARK) != 0;
    String word = marks ? "[\\p{L}\\p{M}]+" : "\\p{L}+";
    String others = marks ? "[^\\s\\p{L}\\p{M}\\p{N}]+" : "[^\\s\\p{L}\\p{N}]+";
    String numerals = digits == 1 ? "\\p{N}" : "\\p{N}{1," + digits + "}";
    return List.of(
        "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?"
            + word
            + "|"
            + numerals
            + "| ?"
            + others
            + "[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+");
  }
}
