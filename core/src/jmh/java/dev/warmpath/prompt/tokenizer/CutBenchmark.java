package dev.warmpath.prompt.tokenizer;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** A rendered ChatML prompt of 40 messages and 130 KB cut at its added tokens. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class CutBenchmark {
  private static final int MESSAGES = 40;
  private static final int MESSAGE = 3_200;

  /** Markup has the byte that added tokens begin with all over. */
  @Param({"prose", "markup"})
  String content;

  private Tokenizer tokenizer;
  private byte[] prompt;

  @Setup
  public void setUp() {
    tokenizer = Tokenizers.load(TokenizerTest.resource("chatml"));
    Random random = new Random(7);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < MESSAGES; i++) {
      text.append("<|im_start|>").append(i % 2 == 0 ? "user\n" : "assistant\n");
      for (int end = text.length() + MESSAGE; text.length() < end; ) {
        boolean tag = content.equals("markup") && random.nextInt(3) == 0;
        text.append(tag ? "<" : " ");
        for (int letters = random.nextInt(2, 10); letters > 0; letters--) {
          text.append((char) random.nextInt('a', 'z' + 1));
        }
        text.append(tag ? ">" : "");
      }
      text.append("<|im_end|>\n");
    }
    prompt = text.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** Counts what it is given. */
  private static final class Counter implements SegmentVisitor {
    private int segments;

    @Override
    public void text(int from, int to, boolean first) {
      segments++;
    }

    @Override
    public void added(int from, int to, int id) {
      segments++;
    }
  }

  @Benchmark
  public int cut() {
    Counter counter = new Counter();
    tokenizer.cut(prompt, 0, prompt.length, counter);
    return counter.segments;
  }
}
