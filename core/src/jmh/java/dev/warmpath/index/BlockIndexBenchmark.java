package dev.warmpath.index;

import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashNamespace;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashScheme;
import dev.warmpath.hash.HashSchemes;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
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
 * Prompts of 256 blocks against 64 workers, with so many blocks resident.
 *
 * <p>What is resident are prompts of 256 blocks that share their first 32 with all others; each is
 * held whole by one worker, and up to a random depth by three more. {@code match} asks for one of
 * them after the other, in random order, so that with ten million blocks nearly nothing comes from
 * a cache; {@code matchStaggered} for a prompt that each worker holds up to a depth of its own;
 * {@code matchTiered} for prompts whose second half is in DRAM. {@code insert} adds 224 new blocks
 * after the common ones, for workers that have room; {@code insertEvicting} does so where each
 * worker is full, so that it takes as many away; {@code dispatch} claims and confirms a known
 * prompt for a worker that mostly holds only its beginning.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 1, jvmArgsAppend = "-Xmx4g")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class BlockIndexBenchmark {
  private static final int PROMPT = 256;
  private static final int COMMON = 32;
  private static final int WORKERS = 64;
  private static final int TIERED = 64;

  @Param({"100000", "10000000"})
  int resident;

  private final HashScheme scheme =
      HashSchemes.content(HashParams.builder().blockSize(1).model("m").build());
  private final BlockMatches matches = new BlockMatches();
  private final int[] tokens = new int[PROMPT];
  private BlockIndex index;
  private BlockHashes[] known;
  private final SplittableRandom random = new SplittableRandom(1);
  private BlockHashes staggered;
  private int next;
  private int nextWorker;

  @Setup
  public void setUp() {
    int prompts = resident / (PROMPT - COMMON);
    index = BlockIndex.builder().budgetBytes(1L << 30).build();
    known = new BlockHashes[prompts];
    for (int p = 0; p < prompts; p++) {
      known[p] = prompt(p);
      for (int worker = 0; p == 0 && worker < WORKERS; worker++) {
        store(known[p].prefix(COMMON), worker);
      }
      store(known[p], random.nextInt(WORKERS));
      for (int more = 0; more < 3; more++) {
        store(known[p].prefix(random.nextInt(COMMON, PROMPT)), random.nextInt(WORKERS));
      }
    }
    staggered = prompt(-1);
    for (int worker = 0; worker < WORKERS; worker++) {
      store(staggered.prefix(random.nextInt(COMMON, PROMPT)), worker);
    }
    for (int i = prompts - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      BlockHashes prompt = known[i];
      known[i] = known[j];
      known[j] = prompt;
    }
    int capacity = (int) (index.stats().holdings() / WORKERS);
    for (int worker = 0; worker < WORKERS; worker++) {
      index.capacity(holder(worker), capacity);
    }
    expectResident();
  }

  private BlockHashes prompt(int number) {
    for (int i = COMMON; i < PROMPT; i++) {
      tokens[i] = i == COMMON ? number & Integer.MAX_VALUE : i;
    }
    return scheme.newChain().append(tokens).hashes();
  }

  private static long holder(int worker) {
    return HolderIds.of(1, worker);
  }

  private void store(BlockHashes hashes, int worker) {
    index.stored(hashes, 0, hashes.size(), holder(worker), Tier.HBM);
  }

  @Benchmark
  public int match() {
    next = next + 1 == known.length ? 0 : next + 1;
    index.match(known[next], matches);
    return matches.longest();
  }

  @Benchmark
  public int matchStaggered() {
    index.match(staggered, matches);
    return matches.longest();
  }

  /** Prompts of workers of their own, which hold the second half in DRAM. */
  @State(Scope.Benchmark)
  public static class Tiered {
    private final BlockHashes[] prompts = new BlockHashes[TIERED];

    @Setup(Level.Trial)
    public void store(BlockIndexBenchmark benchmark) {
      for (int p = 0; p < TIERED; p++) {
        prompts[p] = benchmark.prompt(-2 - p);
        long holder = holder(WORKERS + benchmark.random.nextInt(WORKERS));
        benchmark.index.stored(prompts[p], 0, PROMPT / 2, holder, Tier.HBM);
        benchmark.index.stored(prompts[p], PROMPT / 2, PROMPT, holder, Tier.DRAM);
      }
    }
  }

  @Benchmark
  public int matchTiered(Tiered tiered) {
    next = next + 1 & TIERED - 1;
    index.match(tiered.prompts[next], matches);
    return matches.longest();
  }

  /** New prompts, each for a worker that has room for them. */
  @State(Scope.Benchmark)
  public static class Batch {
    static final int SIZE = 64;

    private final long[][] prompts = new long[SIZE][PROMPT];
    private final long[][] backwards = new long[SIZE][PROMPT - COMMON];

    @Setup(Level.Trial)
    public void lift(BlockIndexBenchmark benchmark) {
      for (int worker = 0; worker < WORKERS; worker++) {
        benchmark.index.capacity(holder(worker), 0);
      }
    }

    @Setup(Level.Iteration)
    public void renew(BlockIndexBenchmark benchmark) {
      HashNamespace namespace = benchmark.scheme.namespace();
      for (int i = 0; i < SIZE; i++) {
        for (int j = COMMON; j < PROMPT; j++) {
          backwards[i][PROMPT - 1 - j] = prompts[i][j];
        }
        benchmark.index.removed(namespace, backwards[i], holder(i % WORKERS), Tier.HBM);
        prompts[i] = benchmark.fresh(prompts[i]);
      }
    }
  }

  @Benchmark
  @BenchmarkMode(Mode.SingleShotTime)
  @OperationsPerInvocation(Batch.SIZE)
  @Warmup(iterations = 500)
  @Measurement(iterations = 500)
  public void insert(Batch batch) {
    for (int i = 0; i < Batch.SIZE; i++) {
      index.stored(scheme.namespace(), batch.prompts[i], 0, PROMPT, holder(i % WORKERS), Tier.HBM);
    }
  }

  @Benchmark
  public void insertEvicting(Full full) {
    index.stored(scheme.namespace(), fresh(full.prompt), 0, PROMPT, holder(worker()), Tier.HBM);
  }

  /** Workers that hold nothing in common but the beginning, and as much as they have room for. */
  @State(Scope.Benchmark)
  public static class Full {
    private final long[] prompt = new long[PROMPT];

    @Setup(Level.Trial)
    public void fill(BlockIndexBenchmark benchmark) {
      BlockIndex index = BlockIndex.builder().budgetBytes(1L << 30).build();
      benchmark.index = index;
      for (int worker = 0; worker < WORKERS; worker++) {
        index.capacity(holder(worker), COMMON + benchmark.resident / WORKERS);
      }
      for (int i = 0; i < benchmark.resident / (PROMPT - COMMON) * 3 / 2; i++) {
        index.stored(
            benchmark.scheme.namespace(),
            benchmark.fresh(prompt),
            0,
            PROMPT,
            holder(benchmark.worker()),
            Tier.HBM);
      }
      benchmark.expectResident();
    }
  }

  /** Makes a prompt new from behind the common blocks on. */
  private long[] fresh(long[] prompt) {
    known[0].copyBits(0, COMMON, prompt, 0);
    for (int i = COMMON; i < PROMPT; i++) {
      prompt[i] = random.nextLong();
    }
    return prompt;
  }

  private void expectResident() {
    if (Math.abs(index.stats().blocks() - resident) > resident / 5 + 15_000) {
      throw new IllegalStateException("not as many blocks as asked for: " + index.stats());
    }
  }

  @Benchmark
  public void dispatch() {
    next = next + 1 == known.length ? 0 : next + 1;
    index.dispatch(known[next], holder(worker())).confirm();
  }

  private int worker() {
    return nextWorker++ & WORKERS - 1;
  }
}
