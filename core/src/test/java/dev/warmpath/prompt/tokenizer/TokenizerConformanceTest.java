package dev.warmpath.prompt.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares ids and texts with Hugging Face's own tokenizers, bound by DJL, for the tokenizers of
 * real models. They are too large to be kept here: {@code src/test/scripts/fetch-tokenizers.sh}
 * puts them into a folder, whose name the environment variable {@code WARMPATH_TOKENIZERS} (or the
 * system property {@code warmpath.tokenizers}) gives.
 */
@Tag("conformance")
class TokenizerConformanceTest {
  private static final int GENERATED = Integer.getInteger("warmpath.conformance.texts", 200_000);
  private static final int DECODED = GENERATED / 4;

  static Stream<Path> models() throws IOException {
    String folder = System.getProperty("warmpath.tokenizers", System.getenv("WARMPATH_TOKENIZERS"));
    assumeTrue(
        folder != null && Files.isDirectory(Path.of(folder)),
        "WARMPATH_TOKENIZERS names no folder with tokenizers of real models");
    try (Stream<Path> folders = Files.list(Path.of(folder))) {
      return folders
          .map(model -> model.resolve("tokenizer.json"))
          .filter(Files::isRegularFile)
          .sorted()
          .toList()
          .stream();
    }
  }

  @ParameterizedTest
  @MethodSource("models")
  void givesTheIdsAndTextsOfTheReference(Path file) throws IOException {
    Tokenizer tokenizer = Tokenizers.load(file);
    try (HuggingFaceTokenizer reference = reference(file)) {
      Comparison comparison = new Comparison(tokenizer, reference);
      longTexts().forEach(comparison::check);
      everyCodePoint().forEach(comparison::check);
      realTexts().forEach(comparison::check);
      TextGenerator generator = new TextGenerator(20_240_601, tokensOf(tokenizer));
      for (int i = 0; i < GENERATED; i++) {
        comparison.check(generator.next());
      }
      SplittableRandom random = new SplittableRandom(77);
      for (int i = 0; i < DECODED; i++) {
        comparison.checkDecoding(randomIds(random, tokenizer.vocabularySize()));
      }
      assertThat(comparison.differences).as("of %d texts", comparison.count.get()).isEmpty();
      assertThat(comparison.count.get()).isGreaterThanOrEqualTo(GENERATED + DECODED);
    }
  }

  private static HuggingFaceTokenizer reference(Path file) throws IOException {
    return HuggingFaceTokenizer.builder()
        .optTokenizerPath(file)
        .optTruncation(false)
        .optPadding(false)
        .build();
  }

  private static List<String> tokensOf(Tokenizer tokenizer) {
    List<String> tokens = new ArrayList<>();
    SplittableRandom random = new SplittableRandom(1);
    for (AddedToken token : tokenizer.addedTokens()) {
      if (tokenizer.addedTokens().size() < 300 || random.nextInt(20) == 0) {
        tokens.add(token.content());
        tokens.add(" " + token.content() + " ");
      }
    }
    int added = tokens.size();
    for (int i = 0; i < 4 * added + 2_000; i++) {
      tokens.add(tokenizer.decode(new int[] {random.nextInt(tokenizer.vocabularySize())}, false));
    }
    return tokens;
  }

  private static int[] randomIds(SplittableRandom random, int size) {
    int[] ids = new int[random.nextInt(1, 30)];
    for (int i = 0; i < ids.length; i++) {
      // Low ids are bytes and short tokens in most vocabularies.
      ids[i] = random.nextInt(random.nextInt(3) == 0 ? Math.min(size, 600) : size);
    }
    return ids;
  }

  /** Texts where an algorithm of quadratic time would not come to an end. */
  private static Stream<String> longTexts() {
    int million = 1 << 20;
    return Stream.of(
        "a".repeat(million),
        " ".repeat(million) + "x",
        "\n".repeat(million),
        "ab".repeat(million / 2),
        "7".repeat(million),
        "!".repeat(million),
        "中".repeat(million / 3),
        "\u0301".repeat(10_000),
        "a \r\n".repeat(million / 4),
        "<|".repeat(million / 2));
  }

  /** All code points, assigned or not, some in a text, each between other characters. */
  private static Stream<String> everyCodePoint() {
    List<String> texts = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    int held = 0;
    for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
      int type = Character.getType(c);
      boolean dull =
          (type == Character.UNASSIGNED && c % 97 != 0)
              || (type == Character.PRIVATE_USE && c % 97 != 0)
              || (Character.UnicodeScript.of(c) == Character.UnicodeScript.HAN
                  && c > 0x20000
                  && c % 13 != 0);
      if (dull || type == Character.SURROGATE) {
        continue;
      }
      String s = Character.toString(c);
      text.append(s).append('a').append(s).append(' ').append(s).append('1').append(s).append(s);
      text.append("'").append(s).append('.').append(s).append('\n').append(s).append("É ");
      if (++held == 16) {
        texts.add(text.toString());
        text.setLength(0);
        held = 0;
      }
    }
    texts.add(text.toString());
    return texts.stream();
  }

  /** The lines and the whole of this module's sources. */
  private static Stream<String> realTexts() throws IOException {
    List<String> texts = new ArrayList<>();
    try (Stream<Path> files = Files.walk(Path.of("src"))) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        if (file.toString().endsWith(".java") || file.toString().endsWith(".txt")) {
          String whole = Files.readString(file);
          texts.add(whole);
          texts.addAll(whole.lines().limit(400).toList());
        }
      }
    }
    return texts.stream();
  }

  /** Counts texts and keeps the first differences. */
  private static final class Comparison {
    private final Tokenizer tokenizer;
    private final HuggingFaceTokenizer reference;
    private final AtomicInteger count = new AtomicInteger();
    private final List<String> differences = new ArrayList<>();

    Comparison(Tokenizer tokenizer, HuggingFaceTokenizer reference) {
      this.tokenizer = tokenizer;
      this.reference = reference;
    }

    void check(String text) {
      count.incrementAndGet();
      int[] ids = tokenizer.encode(text, true);
      int[] expected = toInts(reference.encode(wellFormed(text)).getIds());
      if (!Arrays.equals(ids, expected)) {
        report("ids of " + escape(text), Arrays.toString(ids), Arrays.toString(expected));
      }
      if (text.length() < 10_000 && count.get() % 4 == 0) {
        compareTexts(expected);
      }
    }

    void checkDecoding(int[] ids) {
      count.incrementAndGet();
      compareTexts(ids);
    }

    private void compareTexts(int[] ids) {
      for (boolean skip : new boolean[] {true, false}) {
        String text = tokenizer.decode(ids, skip);
        String expected = reference.decode(Arrays.stream(ids).asLongStream().toArray(), skip);
        if (!text.equals(expected)) {
          report("text of " + Arrays.toString(ids), escape(text), escape(expected));
        }
      }
    }

    private void report(String what, String found, String expected) {
      if (differences.size() < 20) {
        differences.add(
            shorten(what) + "\n  was      " + shorten(found) + "\n  expected " + shorten(expected));
      }
    }

    /** JNI passes lone surrogates on as garbage; they are defined to count as U+FFFD. */
    private static String wellFormed(String text) {
      StringBuilder out = new StringBuilder(text.length());
      text.codePoints().forEach(c -> out.appendCodePoint(c >= 0xD800 && c <= 0xDFFF ? 0xFFFD : c));
      return out.toString();
    }

    private static int[] toInts(long[] ids) {
      return Arrays.stream(ids).mapToInt(Math::toIntExact).toArray();
    }

    private static String shorten(String text) {
      return text.length() <= 1_500 ? text : text.substring(0, 1_500) + "...";
    }

    private static String escape(String text) {
      StringBuilder out = new StringBuilder();
      for (int i = 0; i < text.length(); i++) {
        char c = text.charAt(i);
        out.append(c >= ' ' && c < 0x7F ? String.valueOf(c) : String.format("\\u%04X", (int) c));
      }
      return out.toString();
    }
  }
}
