package dev.warmpath.prompt.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.huggingface.tokenizers.Encoding;
import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares ids and texts with Hugging Face's own tokenizers, bound by DJL, for the tokenizers of
 * real models. They are too large to be kept here: {@code src/test/scripts/fetch-tokenizers.sh}
 * puts them into a folder, whose name the environment variable {@code WARMPATH_TOKENIZERS} (or the
 * system property {@code warmpath.tokenizers}) gives. The system property {@code
 * warmpath.conformance.texts} sets the number of generated texts a model.
 */
@Tag("conformance")
class TokenizerConformanceTest {
  private static final int GENERATED = Integer.getInteger("warmpath.conformance.texts", 200_000);
  private static final int DECODED = GENERATED / 8;
  private static final int BATCH = 200;

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
  @Timeout(value = 30, unit = TimeUnit.MINUTES)
  void givesTheIdsAndTextsOfTheReference(Path file) throws Exception {
    Tokenizer tokenizer = Tokenizers.load(file);
    try (HuggingFaceTokenizer reference = reference(file)) {
      assertThat(reference.encode("a b ".repeat(5_000)).getIds())
          .as("a long text, not truncated")
          .hasSizeGreaterThan(5_000);
      Comparison comparison = new Comparison(tokenizer, reference);
      List<Runnable> work = new ArrayList<>();
      for (String text : LongTexts.ALL) {
        work.add(() -> comparison.checkIds(List.of(text)));
      }
      batches(RealTexts.ALL).forEach(texts -> work.add(() -> comparison.check(texts)));
      batches(EveryCodePoint.TEXTS).forEach(texts -> work.add(() -> comparison.check(texts)));
      List<String> tokens = tokensOf(tokenizer);
      for (int i = 0; i < GENERATED; i += BATCH) {
        int seed = i;
        int size = Math.min(BATCH, GENERATED - i);
        work.add(
            () -> {
              TextGenerator generator = new TextGenerator(20_240_601L + seed, tokens);
              comparison.check(Stream.generate(generator::next).limit(size).toList());
            });
      }
      for (int i = 0; i < DECODED; i += BATCH) {
        SplittableRandom random = new SplittableRandom(77 + i);
        work.add(
            () -> comparison.checkDecoding(randomIds(random, tokenizer.vocabularySize(), BATCH)));
      }
      runAll(work);
      assertThat(comparison.differences).as("of %d texts", comparison.count.get()).isEmpty();
      assertThat(comparison.count.get()).isGreaterThanOrEqualTo(GENERATED + DECODED);
    }
  }

  private static void runAll(List<Runnable> work) throws Exception {
    ExecutorService threads =
        Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
    try {
      List<Callable<Object>> tasks = work.stream().map(Executors::callable).toList();
      for (Future<Object> done : threads.invokeAll(tasks)) {
        done.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static Stream<List<String>> batches(List<String> texts) {
    return IntStream.range(0, (texts.size() + BATCH - 1) / BATCH)
        .mapToObj(i -> texts.subList(i * BATCH, Math.min(texts.size(), (i + 1) * BATCH)));
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

  private static int[][] randomIds(SplittableRandom random, int size, int count) {
    int[][] all = new int[count][];
    for (int i = 0; i < count; i++) {
      all[i] = new int[random.nextInt(1, 30)];
      for (int k = 0; k < all[i].length; k++) {
        // Low ids are bytes and short tokens in most vocabularies.
        all[i][k] = random.nextInt(random.nextInt(3) == 0 ? Math.min(size, 600) : size);
      }
    }
    return all;
  }

  /** Texts where an algorithm of quadratic time would not come to an end. */
  private static final class LongTexts {
    private static final int LENGTH = 1 << 18;
    static final List<String> ALL =
        List.of(
            "a".repeat(1 << 20),
            " ".repeat(LENGTH) + "x",
            "\n".repeat(LENGTH),
            "ab".repeat(LENGTH / 2),
            "7".repeat(LENGTH),
            "!".repeat(LENGTH),
            "中".repeat(LENGTH),
            "\u0301".repeat(10_000),
            "a \r\n".repeat(LENGTH / 4),
            "<|".repeat(LENGTH / 2));
  }

  /** All code points, assigned or not, some in a text, each between other characters. */
  private static final class EveryCodePoint {
    static final List<String> TEXTS = texts();

    private static List<String> texts() {
      List<String> texts = new ArrayList<>();
      StringBuilder text = new StringBuilder();
      int held = 0;
      for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
        if (isDull(c)) {
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
      return texts;
    }

    /** Surrogates, and most of those that are many and all alike. */
    private static boolean isDull(int c) {
      return switch (Character.getType(c)) {
        case Character.SURROGATE -> true;
        case Character.UNASSIGNED, Character.PRIVATE_USE -> c % 97 != 0;
        default ->
            c > 0x20000
                && c % 13 != 0
                && Character.UnicodeScript.of(c) == Character.UnicodeScript.HAN;
      };
    }
  }

  /** This module's files, whole and by line: code, prose, JSON, CSV, scripts. */
  private static final class RealTexts {
    static final List<String> ALL = read();

    private static List<String> read() {
      Set<String> texts = new LinkedHashSet<>();
      try (Stream<Path> files = Files.walk(Path.of("src"))) {
        for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
          String whole = Files.readString(file);
          texts.add(whole);
          texts.addAll(whole.lines().limit(400).toList());
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return List.copyOf(texts);
    }
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

    /** Compares the ids of all texts, and the texts of every eighth text's ids. */
    void check(List<String> texts) {
      List<int[]> expected = checkIds(texts);
      for (int i = 0; i < texts.size(); i += 8) {
        compareTexts(expected.get(i));
      }
    }

    List<int[]> checkIds(List<String> texts) {
      List<int[]> all = new ArrayList<>();
      List<String> wellFormed = texts.stream().map(Comparison::wellFormed).toList();
      for (Encoding encoding : reference.batchEncode(wellFormed)) {
        String text = texts.get(all.size());
        int[] expected = toInts(encoding.getIds());
        all.add(expected);
        int[] ids = tokenizer.encode(text, true);
        if (!Arrays.equals(ids, expected)) {
          report("ids of " + escape(text), Arrays.toString(ids), Arrays.toString(expected));
        }
      }
      assertThat(all).hasSameSizeAs(texts);
      count.addAndGet(texts.size());
      return all;
    }

    void checkDecoding(int[][] texts) {
      for (int[] ids : texts) {
        compareTexts(ids);
      }
      count.addAndGet(texts.length);
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

    private synchronized void report(String what, String found, String expected) {
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
