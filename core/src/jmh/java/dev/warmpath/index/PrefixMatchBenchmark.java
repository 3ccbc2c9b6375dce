package dev.warmpath.index;

import java.util.Random;
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
import org.openjdk.jmh.annotations.Warmup;

/**
 * Longest match over prompts of 16 KB: bytes of matched prompt in a nanosecond, which is GB/s.
 *
 * <p>The tree has 100,000 nodes. Each of its prompts leads over 64 nodes, at every one of which
 * other prompts branch off. With {@code prompts=all} each match is of another prompt, of which
 * there are hundreds, more than the L2 cache takes; with {@code prompts=one} all are of the same.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class PrefixMatchBenchmark {
  private static final int PROMPT = 16 << 10;
  private static final int DEPTH = 64;
  private static final int NODES = 100_000;
  private static final int HOLDERS = 64;

  @Param({"all", "one"})
  String prompts;

  private final PrefixNamespace namespace = PrefixNamespace.of("model");
  private final PrefixMatches matches = new PrefixMatches();
  private ByteRadixTree tree;
  private byte[][] known;
  private int next;

  @Setup
  public void setUp() {
    tree = ByteRadixTree.builder().budgetBytes(256 << 20).build();
    Random random = new Random(1);
    known = new byte[NODES / (2 * DEPTH)][PROMPT];
    int segment = PROMPT / DEPTH;
    for (int p = 0; p < known.length; p++) {
      byte[] prompt = known[p];
      random.nextBytes(prompt);
      prompt[0] = (byte) p;
      prompt[1] = (byte) (p >> 8);
      insert(prompt, prompt.length, random);
      for (int end = segment; end < PROMPT; end += segment) {
        byte[] branch = new byte[end + 32];
        random.nextBytes(branch);
        System.arraycopy(prompt, 0, branch, 0, end);
        branch[end] = (byte) ~prompt[end];
        insert(branch, branch.length, random);
      }
    }
    shuffle(random);
    if (tree.stats().nodes() < NODES * 0.95) {
      throw new IllegalStateException("too small a tree: " + tree.stats());
    }
  }

  private void insert(byte[] prompt, int length, Random random) {
    tree.insert(namespace, prompt, 0, length, HolderIds.of(1, random.nextInt(HOLDERS)));
  }

  private void shuffle(Random random) {
    for (int i = known.length - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      byte[] prompt = known[i];
      known[i] = known[j];
      known[j] = prompt;
    }
  }

  @Benchmark
  @OperationsPerInvocation(PROMPT)
  public int match() {
    if (prompts.equals("all")) {
      next = next + 1 == known.length ? 0 : next + 1;
    }
    tree.match(namespace, known[next], 0, PROMPT, matches);
    return matches.longest();
  }
}
