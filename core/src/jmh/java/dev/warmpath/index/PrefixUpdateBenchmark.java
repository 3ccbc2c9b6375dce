package dev.warmpath.index;

import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Time of the updates for one turn of a conversation, in a tree that is full and so evicts as much
 * as it takes in.
 *
 * <p>Conversations share one of eight system prompts of 4 KB and grow by 1 KB a turn, up to 16 KB;
 * then a new one begins.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class PrefixUpdateBenchmark {
  private static final int PROMPT = 16 << 10;
  private static final int SYSTEM = 4 << 10;
  private static final int TURN = 1 << 10;
  private static final int CONVERSATIONS = 512;
  private static final int HOLDERS = 64;

  private final PrefixNamespace namespace = PrefixNamespace.of("model");
  private final Random random = new Random(1);
  private final byte[][] systems = new byte[8][SYSTEM];
  private final byte[][] conversations = new byte[CONVERSATIONS][];
  private final int[] lengths = new int[CONVERSATIONS];
  private ByteRadixTree tree;

  @Setup
  public void setUp() {
    tree = ByteRadixTree.builder().build();
    for (byte[] system : systems) {
      random.nextBytes(system);
    }
    while (tree.stats().evicted() == 0) {
      turn();
    }
  }

  @Benchmark
  public void dispatchAndConfirm() {
    turn();
  }

  private void turn() {
    int chosen = random.nextInt(CONVERSATIONS);
    if (lengths[chosen] == 0 || lengths[chosen] == PROMPT) {
      byte[] fresh = new byte[PROMPT];
      random.nextBytes(fresh);
      System.arraycopy(systems[chosen % systems.length], 0, fresh, 0, SYSTEM);
      conversations[chosen] = fresh;
      lengths[chosen] = SYSTEM;
    }
    lengths[chosen] += TURN;
    byte[] prompt = conversations[chosen];
    long holder = HolderIds.of(1, chosen % HOLDERS);
    tree.dispatch(namespace, prompt, 0, lengths[chosen], holder, lengths[chosen] / 4).confirm();
  }
}
