package dev.warmpath.prompt.tokenizer;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import com.knuddels.jtokkit.Encodings;
import com.knuddels.jtokkit.api.Encoding;
import com.knuddels.jtokkit.api.EncodingType;
import dev.warmpath.prompt.tokenizer.internal.huggingface.WordMemos;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * UTF-8 bytes of text tokenized in a second by one thread, in MB: Qwen3's vocabulary here and in
 * DJL's binding of the Rust tokenizers, o200k in JTokkit. Half a megabyte of text, in pieces of the
 * size of a message, from string to ids.
 *
 * <p>{@code src/test/scripts/fetch-tokenizers.sh} and {@code fetch-corpus.sh} put what it reads
 * into folders, which the environment variables {@code WARMPATH_TOKENIZERS} and {@code
 * WARMPATH_CORPUS} (or the system properties {@code warmpath.tokenizers} and {@code
 * warmpath.corpus}) name.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@OperationsPerInvocation(TokenizerBenchmark.BYTES)
@Fork(value = 1, jvmArgsAppend = "-Dai.djl.offline=true")
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 7, time = 1)
public class TokenizerBenchmark {
  static final int BYTES = 500_000;
  private static final int PIECE = 4_000;

  @Param({"prose", "code", "chinese"})
  String text;

  private String[] pieces;

  @Setup
  public void read() throws IOException {
    byte[] all =
        Files.readAllBytes(
            folder("warmpath.corpus", "WARMPATH_CORPUS", "fetch-corpus.sh").resolve(text + ".txt"));
    if (all.length < BYTES + 4) {
      throw new IllegalStateException(text + ".txt has not " + BYTES + " bytes");
    }
    List<String> cut = new ArrayList<>();
    for (int from = 0; from < BYTES; ) {
      int to = Math.min(BYTES, from + PIECE);
      while ((all[to] & 0xC0) == 0x80) {
        to++; // not within a character
      }
      cut.add(new String(all, from, to - from, StandardCharsets.UTF_8));
      from = to;
    }
    pieces = cut.toArray(String[]::new);
  }

  private static Path folder(String property, String variable, String script) {
    String folder = System.getProperty(property, System.getenv(variable));
    if (folder == null || !Files.isDirectory(Path.of(folder))) {
      throw new IllegalStateException(
          variable + " names no folder; core/src/test/scripts/" + script + " FOLDER fills one");
    }
    return Path.of(folder);
  }

  private static Path tokenizerFile() {
    return folder("warmpath.tokenizers", "WARMPATH_TOKENIZERS", "fetch-tokenizers.sh")
        .resolve("qwen3")
        .resolve("tokenizer.json");
  }

  @State(Scope.Benchmark)
  public static class Warmpath {
    Tokenizer tokenizer;

    @Setup
    public void load() {
      tokenizer = Tokenizers.load(tokenizerFile());
    }
  }

  @State(Scope.Benchmark)
  public static class Djl {
    HuggingFaceTokenizer tokenizer;

    @Setup
    public void load() throws IOException {
      tokenizer =
          HuggingFaceTokenizer.builder()
              .optTokenizerPath(tokenizerFile())
              .optTruncation(false)
              .optPadding(false)
              .build();
      String all = "word ".repeat(2_000);
      if (tokenizer.encode(all, false, false).getIds().length < 2_000) {
        throw new IllegalStateException("the peer truncates");
      }
    }

    @TearDown
    public void close() {
      tokenizer.close();
    }
  }

  @State(Scope.Benchmark)
  public static class JTokkit {
    Encoding encoding;

    @Setup
    public void load() {
      encoding = Encodings.newLazyEncodingRegistry().getEncoding(EncodingType.O200K_BASE);
    }
  }

  /** With the words of the text remembered. */
  @Benchmark
  public long warm(Warmpath warmpath) {
    long ids = 0;
    for (String piece : pieces) {
      ids += warmpath.tokenizer.encode(piece, false).length;
    }
    return ids;
  }

  /** Each time with no word remembered. */
  @Benchmark
  public long cold(Warmpath warmpath) {
    WordMemos.clear(warmpath.tokenizer);
    return warm(warmpath);
  }

  @Benchmark
  public long jtokkit(JTokkit jtokkit) {
    long ids = 0;
    for (String piece : pieces) {
      ids += jtokkit.encoding.encodeOrdinary(piece).size();
    }
    return ids;
  }

  @Benchmark
  public long djl(Djl djl) {
    long ids = 0;
    for (String piece : pieces) {
      ids += djl.tokenizer.encode(piece, false, false).getIds().length;
    }
    return ids;
  }
}
