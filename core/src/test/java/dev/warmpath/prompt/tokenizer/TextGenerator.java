package dev.warmpath.prompt.tokenizer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * Makes texts that look for trouble: all scripts, combining marks in any order, emoji sequences,
 * line breaks and white space of every kind, numerals, code, JSON, contractions, invisible and
 * unassigned characters, lone surrogates, and a model's own tokens whole, in part and overlapping.
 */
final class TextGenerator {
  private static final String[] EMOJI = {
    "\uD83D\uDE00",
    "\uD83D\uDC69\u200D\uD83D\uDCBB",
    "\uD83D\uDC4D\uD83C\uDFFD",
    "\uD83C\uDDE9\uD83C\uDDEA",
    "\uD83C\uDFF4\u200D\u2620\uFE0F",
    "1\uFE0F\u20E3",
    "\u2764\uFE0F",
    "\uD83D\uDC68\u200D\uD83D\uDC69\u200D\uD83D\uDC67\u200D\uD83D\uDC66",
    "\uD83E\uDD37\u200D\u2642\uFE0F",
    "\u263A",
    "\u26A0\uFE0E",
    "\uD83C\uDF08"
  };
  private static final String[] WORDS = {
    "the",
    "Hello",
    "world",
    "DON'T",
    "we'll",
    "I'M",
    "they've",
    "it\u2019s",
    "HTTPServer",
    "camelCase",
    "snake_case",
    "naïve",
    "Straße",
    "İstanbul",
    "ΣΊΣΥΦΟΣ",
    "Ünïcödé",
    "ﬁne",
    "ǅungla",
    "東京",
    "你好",
    "こんにちは",
    "カタカナ",
    "안녕하세요",
    "각",
    "नमस्ते",
    "สวัสดี",
    "مرحبا",
    "שלום",
    "Привет",
    "ѲѴ",
    "ᏣᎳᎩ",
    "ᎠᏂ",
    "ꭰꮒ",
    "ﷺ",
    "㎏",
    "Ⅷ",
    "½",
    "𝒳𝓎",
    "𐐔𐐯",
    "ß",
    "ſ",
    "'ſ",
    "'S",
    "'Ll",
    "'rE",
    "'D"
  };
  private static final String[] SPACES = {
    " ",
    "  ",
    "   ",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    "\n\n\n",
    " \n",
    "\n ",
    "\t\t",
    "\u00A0",
    "\u3000",
    "\u2009",
    "\u2028",
    "\u2029",
    "\u0085",
    "\u000B",
    "\f",
    "\u1680",
    "\u180E",
    "\u200B",
    "    \n    ",
    "                ",
    "\u202F",
    "\u205F"
  };
  private static final String[] SIGNS = {
    ".",
    ",",
    "!",
    "?",
    "...",
    "\u2026",
    "\u2014",
    "(",
    ")",
    "[]",
    "{}",
    "//",
    "/*",
    "*/",
    "==",
    "!=",
    "->",
    "=>",
    "::",
    "&&",
    "||",
    "#",
    "$",
    "%",
    "^",
    "~",
    "`",
    "'",
    "\"",
    "''",
    "\u00AB",
    "\u00BB",
    "\u3001",
    "\u3002",
    "\uFF0C",
    "\uFF01",
    "\u30FB",
    "\u300C",
    "</",
    "/>",
    "<",
    ">",
    "\\n",
    "\\",
    "_",
    "@",
    "\u20AC",
    "\u2211",
    "\u2192",
    "\u2581",
    "\u2581\u2581",
    "\u0120",
    "\u010A"
  };
  private static final String[] INVISIBLE = {
    "\u0000",
    "\u0001",
    "\u001F",
    "\u007F",
    "\u009F",
    "\u00AD",
    "\u200C",
    "\u200D",
    "\u200E",
    "\u2060",
    "\uFEFF",
    "\uFFFD",
    "\uFFFF",
    "\uE000",
    "\uF8FF",
    "\uDB80\uDC00",
    "\uDBFF\uDFFD",
    "\uDB40\uDC41",
    "\uFFF9",
    "\u0378",
    "\uD83F\uDFFF"
  };
  private static final String[] LONE_SURROGATES = {
    "\uD800", "\uDBFF", "\uDC00", "\uDFFF", "\uD83Dx"
  };
  private static final String[] CODE = {
    "for (int i = 0; i < n; i++) {\n\tsum += a[i];\n}\n",
    "def f(x):\n    return x ** 2\n",
    "{\"role\": \"user\", \"content\": \"h\\u00e9llo\"}",
    "SELECT * FROM t WHERE id=42;",
    "<div class=\"a\">&nbsp;</div>",
    "#include <stdio.h>\r\nint main(void) { return 0; }\r\n",
    "https://example.com/a/b?c=d&e=%20#f",
    "[1, 2.5e-10, -3, null, true]",
    "0xDEADBEEF",
    "C:\\dir\\file.txt",
    "let s = `a${b}c`;",
    "x\u00B2 + y\u00B2 = r\u00B2",
    "1,234,567.89",
    "2024-01-31T23:59:59Z"
  };

  /** Characters of all kinds. */
  private static final class Characters {
    static final int[][] SCRIPTS;
    static final int[] MARKS;
    static final int[] NUMERALS;

    static {
      int[][] byScript = new int[Character.UnicodeScript.values().length][];
      int[] sizes = new int[byScript.length];
      List<Integer> markList = new ArrayList<>();
      List<Integer> numeralList = new ArrayList<>();
      for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
        int type = Character.getType(c);
        if (type == Character.SURROGATE || type == Character.UNASSIGNED) {
          continue;
        }
        @SuppressWarnings("EnumOrdinal") // an index into a table of scripts of this run
        int script = Character.UnicodeScript.of(c).ordinal();
        if (byScript[script] == null) {
          byScript[script] = new int[16];
        } else if (sizes[script] == byScript[script].length) {
          byScript[script] = Arrays.copyOf(byScript[script], sizes[script] * 2);
        }
        byScript[script][sizes[script]++] = c;
        if (type == Character.NON_SPACING_MARK || type == Character.COMBINING_SPACING_MARK) {
          markList.add(c);
        }
        if (type == Character.DECIMAL_DIGIT_NUMBER
            || type == Character.LETTER_NUMBER
            || type == Character.OTHER_NUMBER) {
          numeralList.add(c);
        }
      }
      List<int[]> present = new ArrayList<>();
      for (int i = 0; i < byScript.length; i++) {
        if (byScript[i] != null) {
          present.add(Arrays.copyOf(byScript[i], sizes[i]));
        }
      }
      SCRIPTS = present.toArray(int[][]::new);
      MARKS = markList.stream().mapToInt(Integer::intValue).toArray();
      NUMERALS = numeralList.stream().mapToInt(Integer::intValue).toArray();
    }

    private Characters() {}
  }

  private final SplittableRandom random;
  private final List<String> tokens;
  private final List<Supplier<String>> kinds;

  /**
   * A generator.
   *
   * @param seed of the random choices
   * @param tokens texts of a model's tokens, to be strewn in
   */
  TextGenerator(long seed, List<String> tokens) {
    random = new SplittableRandom(seed);
    this.tokens = tokens;
    kinds =
        List.of(
            this::words,
            this::words,
            this::script,
            this::anyCodePoints,
            this::combining,
            this::hangul,
            () -> one(EMOJI),
            () -> one(SPACES),
            () -> one(SPACES),
            () -> one(SIGNS),
            () -> one(INVISIBLE),
            () -> one(CODE),
            this::digits,
            this::run,
            this::token,
            this::token,
            this::brokenToken,
            () -> one(LONE_SURROGATES));
  }

  /** A text of up to some twenty parts. */
  String next() {
    StringBuilder text = new StringBuilder();
    for (int parts = 1 + random.nextInt(random.nextInt(1, 21)); parts > 0; parts--) {
      text.append(kinds.get(random.nextInt(kinds.size())).get());
    }
    return text.toString();
  }

  private String one(String[] choices) {
    return choices[random.nextInt(choices.length)];
  }

  private String words() {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(1, 5); i > 0; i--) {
      text.append(one(WORDS));
      if (random.nextInt(4) > 0) {
        text.append(' ');
      }
    }
    return text.toString();
  }

  private String script() {
    int[] script = Characters.SCRIPTS[random.nextInt(Characters.SCRIPTS.length)];
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(1, 7); i > 0; i--) {
      text.appendCodePoint(script[random.nextInt(script.length)]);
    }
    return text.toString();
  }

  private String anyCodePoints() {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(1, 4); i > 0; i--) {
      int c = random.nextInt(random.nextBoolean() ? 0x3000 : Character.MAX_CODE_POINT + 1);
      text.appendCodePoint(c >= 0xD800 && c <= 0xDFFF ? 'x' : c);
    }
    return text.toString();
  }

  private String combining() {
    StringBuilder text = new StringBuilder();
    if (random.nextInt(5) > 0) {
      text.append((char) random.nextInt('A', 'z'));
    }
    for (int i = random.nextInt(1, 5); i > 0; i--) {
      text.appendCodePoint(
          random.nextBoolean()
              ? random.nextInt(0x300, 0x370)
              : Characters.MARKS[random.nextInt(Characters.MARKS.length)]);
    }
    return text.toString();
  }

  private String hangul() {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(1, 6); i > 0; i--) {
      text.append(
          (char)
              (random.nextInt(3) == 0
                  ? random.nextInt(0xAC00, 0xD7A4)
                  : random.nextInt(0x1100, 0x1200)));
    }
    return text.toString();
  }

  private String digits() {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(1, 12); i > 0; i--) {
      text.appendCodePoint(
          random.nextInt(4) == 0
              ? Characters.NUMERALS[random.nextInt(Characters.NUMERALS.length)]
              : random.nextInt('0', '9' + 1));
    }
    return text.toString();
  }

  private String run() {
    String unit =
        switch (random.nextInt(4)) {
          case 0 -> one(SPACES);
          case 1 -> one(SIGNS);
          case 2 -> script();
          default -> String.valueOf((char) random.nextInt(' ', 0x7F));
        };
    return unit.repeat(random.nextInt(1, 40));
  }

  private String token() {
    return tokens.isEmpty() ? "" : tokens.get(random.nextInt(tokens.size()));
  }

  private String brokenToken() {
    String token = token();
    if (token.isEmpty()) {
      return token;
    }
    int cut = random.nextInt(token.length());
    return random.nextBoolean() ? token.substring(0, cut) : token.substring(cut) + token;
  }
}
