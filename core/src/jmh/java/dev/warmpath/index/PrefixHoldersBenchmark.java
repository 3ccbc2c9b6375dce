package dev.warmpath.index;

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

/**
 * Time to match a prompt of 16 KB that leads over 64 nodes, by how many holders know it.
 *
 * <p>{@code spread=equal}: all of them know the whole prompt. {@code spread=each}: each knows
 * another share of it, so that no node has the same holders as the next.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
public class PrefixHoldersBenchmark {
  private static final int PROMPT = 16 << 10;
  private static final int DEPTH = 64;

  @Param({"1", "64", "1024"})
  int holders;

  @Param({"equal", "each"})
  String spread;

  private final PrefixNamespace namespace = PrefixNamespace.of("model");
  private final PrefixMatches matches = new PrefixMatches();
  private final byte[] prompt = new byte[PROMPT];
  private ByteRadixTree tree;

  @Setup
  public void setUp() {
    tree = ByteRadixTree.builder().build();
    new Random(1).nextBytes(prompt);
    int segment = PROMPT / DEPTH;
    for (int holder = 0; holder < holders; holder++) {
      int share = spread.equals("equal") ? DEPTH : 1 + holder % DEPTH;
      tree.insert(namespace, prompt, 0, share * segment, HolderIds.of(1, holder));
    }
    // Somebody branches off at each node.
    for (int end = segment; end < PROMPT; end += segment) {
      byte[] branch = prompt.clone();
      branch[end] = (byte) ~prompt[end];
      tree.insert(namespace, branch, 0, end + 1, HolderIds.of(1, 0));
    }
  }

  @Benchmark
  public int match() {
    tree.match(namespace, prompt, 0, PROMPT, matches);
    return matches.size();
  }
}
