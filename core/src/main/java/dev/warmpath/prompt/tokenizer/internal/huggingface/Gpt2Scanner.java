package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.internal.unicode.CodePoints;
import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.util.List;

/** GPT-2's words, which the {@code ByteLevel} pre-tokenizer finds. */
final class Gpt2Scanner extends WordScanner {
  static final Gpt2Scanner INSTANCE = new Gpt2Scanner();

  private static final int OTHER = ~(CodePoints.SPACE | CodePoints.LETTER | CodePoints.NUMBER);

  private Gpt2Scanner() {}

  @Override
  int next(byte[] utf8, int from, int to) {
    int first = utf8[from];
    if (first == '\'' && from + 1 < to) {
      switch (utf8[from + 1]) {
        case 's', 't', 'm', 'd' -> {
          return from + 2;
        }
        case 'r', 'v' -> {
          if (from + 2 < to && utf8[from + 2] == 'e') {
            return from + 3;
          }
        }
        case 'l' -> {
          if (from + 2 < to && utf8[from + 2] == 'l') {
            return from + 3;
          }
        }
        default -> {}
      }
    }
    int start = first == ' ' && from + 1 < to ? from + 1 : from;
    int properties = properties(utf8, start);
    if (in(CodePoints.SPACE, properties)) {
      return skipPlainSpace(utf8, from, to);
    }
    if (in(CodePoints.LETTER, properties)) {
      return skipWord(utf8, start, to, CodePoints.LETTER);
    }
    return skip(utf8, start, to, in(CodePoints.NUMBER, properties) ? CodePoints.NUMBER : OTHER);
  }

  /** {@code \s+(?!\S)|\s+}. */
  private static int skipPlainSpace(byte[] utf8, int from, int to) {
    int end = skip(utf8, from, to, CodePoints.SPACE);
    if (end == to) {
      return end;
    }
    int last = Utf8.previous(utf8, from, end);
    return last == from ? end : last;
  }

  @Override
  List<String> regexes() {
    return List.of(
        "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+");
  }
}
