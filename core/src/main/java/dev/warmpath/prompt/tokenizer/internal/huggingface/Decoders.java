package dev.warmpath.prompt.tokenizer.internal.huggingface;

import dev.warmpath.prompt.tokenizer.internal.unicode.Bytes;
import dev.warmpath.prompt.tokenizer.internal.unicode.OnigurumaRegex;
import dev.warmpath.prompt.tokenizer.internal.unicode.Utf8;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;

/** The decoders of {@code tokenizer.json} as steps that work on a stream. */
final class Decoders {
  /** Makes a step that hands its result to the next. */
  @FunctionalInterface
  interface Step {
    TokenSink before(TokenSink next);
  }

  private Decoders() {}

  /** Changes each token by itself; needs it whole. */
  static Step perToken(UnaryOperator<String> change) {
    return next ->
        new WholeTokens() {
          @Override
          void token(String token) {
            next.part(change.apply(token));
            next.endToken();
          }

          @Override
          public void finish() {
            next.finish();
          }
        };
  }

  /** Replaces a literal. */
  static Step replace(String pattern, String content) {
    if (pattern.isEmpty()) {
      throw new IllegalArgumentException("an empty pattern");
    }
    if (pattern.codePointCount(0, pattern.length()) > 1) {
      return perToken(token -> token.replace(pattern, content));
    }
    // A single character is never cut in two, so parts can be changed as they come.
    return next ->
        new TokenSink() {
          @Override
          public void part(String text) {
            next.part(text.replace(pattern, content));
          }

          @Override
          public void endToken() {
            next.endToken();
          }

          @Override
          public void finish() {
            next.finish();
          }
        };
  }

  /** Replaces an expression's matches. */
  static Step replace(OnigurumaRegex pattern, String content) {
    return perToken(
        token -> {
          StringBuilder out = new StringBuilder(token.length());
          int[] copied = {0};
          pattern.forEachMatch(
              token,
              (start, end) -> {
                out.append(token, copied[0], start).append(content);
                copied[0] = end;
              });
          return out.append(token, copied[0], token.length()).toString();
        });
  }

  /**
   * Turns runs of tokens such as {@code <0xE4>} into text: a run that is no well-formed UTF-8 as a
   * whole becomes one U+FFFD a token, so a run is held back up to its end.
   */
  static Step byteFallback() {
    return next ->
        new WholeTokens() {
          private final Bytes run = new Bytes(16);

          @Override
          void token(String token) {
            int value = byteValue(token);
            if (value >= 0) {
              run.append(value);
              return;
            }
            endRun();
            next.part(token);
            next.endToken();
          }

          @Override
          public void finish() {
            endRun();
            next.finish();
          }

          private void endRun() {
            int size = run.size();
            if (size == 0) {
              return;
            }
            if (Utf8.firstMalformed(run.array(), 0, size) == size) {
              next.part(new String(run.array(), 0, size, StandardCharsets.UTF_8));
              next.endToken();
            } else {
              for (int i = 0; i < size; i++) {
                next.part("\uFFFD");
                next.endToken();
              }
            }
            run.truncate(0);
          }
        };
  }

  private static int byteValue(String token) {
    // Upstream parses as Rust's from_str_radix does, which takes a plus sign too.
    if (token.length() != 6 || !token.startsWith("<0x") || !token.endsWith(">")) {
      return -1;
    }
    int high = Character.digit(token.charAt(3), 16);
    int low = token.charAt(4) > 0x7F ? -1 : Character.digit(token.charAt(4), 16);
    if (token.charAt(3) == '+') {
      return low;
    }
    return token.charAt(3) > 0x7F || high < 0 || low < 0 ? -1 : high << 4 | low;
  }

  /** Joins all tokens into one. */
  static Step fuse() {
    return next ->
        new TokenSink() {
          @Override
          public void part(String text) {
            next.part(text);
          }

          @Override
          public void endToken() {}

          @Override
          public void finish() {
            next.endToken();
            next.finish();
          }
        };
  }

  /** Removes up to some occurrences of a character at the start and end of each token. */
  static Step strip(int character, int start, int stop) {
    if (stop > 0) {
      return perToken(token -> strip(token, character, start, stop));
    }
    return next ->
        new TokenSink() {
          private int left = start;

          @Override
          public void part(String text) {
            int from = 0;
            while (left > 0 && from < text.length()) {
              if (text.codePointAt(from) == character) {
                from += Character.charCount(character);
                left--;
              } else {
                left = 0;
              }
            }
            next.part(text.substring(from));
          }

          @Override
          public void endToken() {
            left = start;
            next.endToken();
          }

          @Override
          public void finish() {
            next.finish();
          }
        };
  }

  private static String strip(String token, int character, int start, int stop) {
    int[] points = token.codePoints().toArray();
    int from = 0;
    while (from < Math.min(start, points.length) && points[from] == character) {
      from++;
    }
    int to = points.length;
    while (to > 0 && points.length - to < stop && points[to - 1] == character) {
      to--;
    }
    return from < to ? new String(points, from, to - from) : "";
  }

  /** Writes the mark as a space, and drops it in the first token where one was prepended. */
  static Step metaspace(int mark, boolean dropsFirst) {
    String written = Character.toString(mark);
    return next ->
        new TokenSink() {
          private boolean drops = dropsFirst;

          @Override
          public void part(String text) {
            next.part(text.replace(written, drops ? "" : " "));
          }

          @Override
          public void endToken() {
            drops = false;
            next.endToken();
          }

          @Override
          public void finish() {
            next.finish();
          }
        };
  }

  /** Joins words: the mark that ends a word is a space, but nothing in the last token. */
  static Step wordEnd(String suffix) {
    return next ->
        new WholeTokens() {
          private String held = "";
          private boolean holds;

          @Override
          void token(String token) {
            if (holds) {
              next.part(held.replace(suffix, " "));
              next.endToken();
            }
            held = token;
            holds = true;
          }

          @Override
          public void finish() {
            if (holds) {
              next.part(held.replace(suffix, ""));
              next.endToken();
            }
            next.finish();
          }
        };
  }

  /** Joins WordPiece's pieces. */
  static Step wordPiece(String prefix, boolean cleanup) {
    return next ->
        new WholeTokens() {
          private boolean first = true;

          @Override
          void token(String token) {
            String text = token;
            if (!first) {
              text = token.startsWith(prefix) ? token.substring(prefix.length()) : " " + token;
            }
            first = false;
            next.part(cleanup ? cleanUp(text) : text);
            next.endToken();
          }

          @Override
          public void finish() {
            next.finish();
          }
        };
  }

  private static String cleanUp(String text) {
    return text.replace(" .", ".")
        .replace(" ?", "?")
        .replace(" !", "!")
        .replace(" ,", ",")
        .replace(" ' ", "'")
        .replace(" n't", "n't")
        .replace(" 'm", "'m")
        .replace(" do not", " don't")
        .replace(" 's", "'s")
        .replace(" 've", "'ve")
        .replace(" 're", "'re");
  }

  /** Byte-level tokens to text; joins all tokens into one. */
  static Step byteLevel() {
    return next ->
        new WholeTokens() {
          private final StreamingUtf8 utf8 = new StreamingUtf8();

          @Override
          void token(String token) {
            byte[] written = token.getBytes(StandardCharsets.UTF_8);
            byte[] raw = ByteLevel.toBytes(written, 0, written.length);
            next.part(utf8.append(raw != null ? raw : written));
          }

          @Override
          public void finish() {
            next.part(utf8.finish());
            next.endToken();
            next.finish();
          }
        };
  }

  /** What a tokenizer without a decoder does: tokens with a space between them. */
  static Step spaced() {
    return next ->
        new TokenSink() {
          private boolean first = true;
          private boolean inToken;

          @Override
          public void part(String text) {
            if (!inToken && !first) {
              next.part(" ");
            }
            inToken = true;
            next.part(text);
          }

          @Override
          public void endToken() {
            first = false;
            inToken = false;
            next.endToken();
          }

          @Override
          public void finish() {
            next.finish();
          }
        };
  }

  /** Puts the parts of each token together. */
  private abstract static class WholeTokens implements TokenSink {
    private final StringBuilder parts = new StringBuilder();

    abstract void token(String token);

    @Override
    public final void part(String text) {
      parts.append(text);
    }

    @Override
    public final void endToken() {
      String token = parts.toString();
      parts.setLength(0);
      token(token);
    }
  }
}
