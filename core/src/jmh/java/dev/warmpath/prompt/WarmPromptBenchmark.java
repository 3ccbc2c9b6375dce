package dev.warmpath.prompt;

import com.fasterxml.jackson.core.JsonParser;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.worker.EngineKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A conversation of 40 messages and 32,768 tokens, read before, comes back with one new message of
 * 200 tokens: from the body's bytes to the block chain, and the share of parsing in it. The model
 * is Qwen3, read from the folder {@code qwen3} below {@code WARMPATH_TOKENIZERS} (see
 * src/test/scripts/fetch-tokenizers.sh).
 */
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
@State(Scope.Thread)
public class WarmPromptBenchmark {
  private static final int MESSAGES = 40;
  private static final int TOKENS = 32_768;
  private static final int NEW_WORDS = 200;

  private static final String[] WORDS = {
    " time", " year", " work", " hand", " part", " case", " week", " fact", " home", " word",
    " side", " line", " city", " game", " team", " hour", " idea", " body", " face", " door"
  };

  private final SplittableRandom random = new SplittableRandom(42);
  private final PromptReader.Serving serving =
      model -> new PromptReader.Served(Set.of(EngineKind.VLLM), null);
  private PromptReader reader;
  private byte[] body;
  private int newFrom;
  private RouterRequest request;

  @Setup
  public void setUp() {
    String home = System.getenv("WARMPATH_TOKENIZERS");
    if (home == null) {
      throw new IllegalStateException(
          "WARMPATH_TOKENIZERS names no folder: see src/test/scripts/fetch-tokenizers.sh");
    }
    reader =
        PromptReader.builder()
            .model("qwen3", ModelFiles.of(Path.of(home).resolve("qwen3")))
            .build();
    StringBuilder json = new StringBuilder("{\"model\":\"qwen3\",\"messages\":[");
    int words = (TOKENS - NEW_WORDS - 5 * MESSAGES) / (MESSAGES - 1);
    for (int i = 0; i < MESSAGES; i++) {
      json.append(i == 0 ? "" : ",");
      json.append("{\"role\":\"").append(i % 2 == 1 ? "user" : "assistant");
      json.append("\",\"content\":\"");
      newFrom = json.length();
      for (int w = 0; w < (i == MESSAGES - 1 ? NEW_WORDS : words); w++) {
        json.append(WORDS[random.nextInt(WORDS.length)]);
      }
      json.append("\"}");
    }
    body = json.append("]}").toString().getBytes(StandardCharsets.UTF_8);
    request = RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS).body(body).build();
    Prompt prompt = reader.read(request, serving);
    if (prompt.exactness() != Exactness.EXACT || Math.abs(prompt.tokens() - TOKENS) > 400) {
      throw new IllegalStateException(prompt + ": " + prompt.inexactReason());
    }
  }

  /** Another new message in place of the last one. */
  @Setup(Level.Invocation)
  public void change() {
    for (int w = 0; w < NEW_WORDS; w++) {
      byte[] word = WORDS[random.nextInt(WORDS.length)].getBytes(StandardCharsets.UTF_8);
      System.arraycopy(word, 0, body, newFrom + w * word.length, word.length);
    }
  }

  @Benchmark
  public Prompt bodyToChain() {
    return reader.read(request, serving);
  }

  @Benchmark
  public Object parsing() throws IOException {
    try (JsonParser parser = JsonValues.FACTORY.createParser(body)) {
      parser.nextToken();
      return JsonValues.read(parser);
    }
  }
}
