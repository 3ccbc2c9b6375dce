package dev.warmpath.prompt.tokenizer.internal.huggingface;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.prompt.tokenizer.internal.unicode.OnigurumaRegex;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Compares the hand-written scanners with the expressions that they stand for. */
class WordScannerTest {
  private static final String[] PARTS = {
    "a",
    "B",
    "ab",
    "AB",
    "Ab",
    "é",
    "É",
    "ǅ",
    "ʰ",
    "中",
    "文",
    "あ",
    "ー",
    "゛",
    "・",
    "\u3099",
    "\u3040",
    "\u0301",
    "\u0903",
    "1",
    "23",
    "٣",
    "Ⅷ",
    "½",
    " ",
    "  ",
    "\t",
    "\n",
    "\r",
    "\r\n",
    "\u00A0",
    "\u3000",
    "\u0085",
    "\u000B",
    ".",
    ",",
    "!?",
    "-",
    "/",
    "//",
    "'",
    "'s",
    "'S",
    "'ll",
    "'LL",
    "'re",
    "'ſ",
    "ſ",
    "'t",
    "\u2019s",
    "$",
    "+",
    "€",
    "。",
    "\u200B",
    "\u200D",
    "\u0000",
    "\uE000",
    "\u0378",
    "\uD83D\uDE00",
    "\uD801\uDC00",
    "\uD840\uDC00",
    "_",
    "<",
    "x1y",
    "\\",
    "\"",
    "`",
    "~"
  };

  @Property(tries = 4_000)
  void findsTheWordsOfItsExpressions(@ForAll long seed) {
    String text = text(seed);
    for (WordScanner scanner : WordScanners.ALL) {
      Stream<String> pieces = Stream.of(text);
      for (String regex : scanner.regexes()) {
        pieces = pieces(pieces, regex);
      }
      assertThat(words(scanner, text)).as("%s", scanner.regexes()).isEqualTo(pieces.toList());
    }
  }

  private static String text(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(30); i > 0; i--) {
      String part =
          random.nextInt(8) == 0
              ? Character.toString(random.nextInt(0x20, 0xD800))
              : PARTS[random.nextInt(PARTS.length)];
      text.append(part.repeat(random.nextInt(6) == 0 ? random.nextInt(1, 12) : 1));
    }
    return text.toString();
  }

  private static List<String> words(WordScanner scanner, String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    List<String> words = new ArrayList<>();
    for (int at = 0; at < utf8.length; ) {
      int end = scanner.next(utf8, at, utf8.length);
      assertThat(end).isGreaterThan(at);
      words.add(new String(utf8, at, end - at, StandardCharsets.UTF_8));
      at = end;
    }
    return words;
  }

  /** The matches, and what lies between them. */
  private static Stream<String> pieces(Stream<String> texts, String regex) {
    OnigurumaRegex compiled = OnigurumaRegex.compile(regex);
    return texts.flatMap(
        text -> {
          List<String> pieces = new ArrayList<>();
          int[] last = {0};
          compiled.forEachMatch(
              text,
              (start, end) -> {
                pieces.add(text.substring(last[0], start));
                pieces.add(text.substring(start, end));
                last[0] = end;
              });
          pieces.add(text.substring(last[0]));
          return pieces.stream().filter(piece -> !piece.isEmpty());
        });
  }
}
