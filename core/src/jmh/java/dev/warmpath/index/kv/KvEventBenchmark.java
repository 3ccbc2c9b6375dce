package dev.warmpath.index.kv;

import dev.warmpath.index.BlockIndex;
import dev.warmpath.index.HolderIds;
import dev.warmpath.index.KvBatch;
import dev.warmpath.index.KvEvent;
import dev.warmpath.index.KvEvent.KvKeys;
import dev.warmpath.index.KvEvent.Removed;
import dev.warmpath.index.KvEvent.Stored;
import dev.warmpath.index.KvEventIndex;
import dev.warmpath.index.KvRank;
import dev.warmpath.index.Tier;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * KV events of one block each, by one thread, with a million blocks of 16 tokens resident: chains
 * of 64 blocks in random order, each of which is taken away from its end and told of anew, so that
 * next to nothing comes from the processor's caches. {@code apply} is of decoded events, by the
 * clock and by the thread's CPU time; {@code decodeArrays} and {@code decodeMaps} of batches of 64
 * events as SGLang and vLLM send them.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "-Xmx3g")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class KvEventBenchmark {
  private static final int RESIDENT = 1_000_000;
  private static final int DEPTH = 64;
  private static final int BLOCK = 16;
  private static final int EVENTS = 2 * DEPTH;

  private final KvBatchDecoder decoder = new KvBatchDecoder();
  private List<List<KvEvent>> turns;
  private KvRank rank;
  private byte[] arrays;
  private byte[] maps;
  private int next;

  @Setup
  public void setUp() throws IOException {
    SplittableRandom random = new SplittableRandom(1);
    BlockIndex index = BlockIndex.builder().budgetBytes(256L << 20).build();
    rank = new KvEventIndex(index, BLOCK, 256L << 20).rank(HolderIds.of(1, 0), "m");
    rank.begin();
    turns = new ArrayList<>();
    for (int chain = 0; chain < RESIDENT / DEPTH; chain++) {
      List<KvEvent> stored = new ArrayList<>();
      List<KvEvent> turn = new ArrayList<>();
      long parent = 0;
      for (int i = 0; i < DEPTH; i++) {
        int[] tokens = random.ints(BLOCK, 0, 150_000).toArray();
        long hash = random.nextLong();
        stored.add(new Stored(new long[] {hash}, i == 0, parent, tokens, Tier.HBM, KvKeys.NONE));
        turn.add(0, new Removed(new long[] {hash}, Tier.HBM));
        parent = hash;
      }
      rank.apply(stored, true);
      turn.addAll(stored);
      turns.add(random.nextInt(turns.size() + 1), turn);
    }
    if (rank.counts().blocks() != RESIDENT) {
      throw new IllegalStateException(rank.counts() + " are not a million blocks");
    }
    arrays = batch(random, false);
    maps = batch(random, true);
  }

  /** What the thread itself took, which a busy machine does not lengthen; printed. */
  @State(Scope.Thread)
  public static class ThreadCpu {
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private long begun;
    private long events;

    /** Begins to count. */
    @Setup(Level.Iteration)
    public void begin() {
      events = 0;
      begun = threads.getCurrentThreadCpuTime();
    }

    /** Says what it came to. */
    @TearDown(Level.Iteration)
    public void end() {
      long took = threads.getCurrentThreadCpuTime() - begun;
      System.out.printf(Locale.ROOT, "[%.0f ns of CPU an event] ", (double) took / events);
    }
  }

  @Benchmark
  @OperationsPerInvocation(EVENTS)
  public KvRank.Counts apply(ThreadCpu cpu) {
    cpu.events += EVENTS;
    rank.apply(turns.get(next), true);
    next = next + 1 == turns.size() ? 0 : next + 1;
    return rank.counts();
  }

  @Benchmark
  @OperationsPerInvocation(DEPTH)
  public KvBatch decodeArrays() {
    return decoder.decode(1, arrays);
  }

  @Benchmark
  @OperationsPerInvocation(DEPTH)
  public KvBatch decodeMaps() {
    return decoder.decode(1, maps);
  }

  private static byte[] batch(SplittableRandom random, boolean named) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream to = new DataOutputStream(bytes);
    to.write(0x93);
    to.write(0xcb);
    to.writeDouble(1.7e9);
    to.write(0xdc);
    to.writeShort(DEPTH);
    for (int i = 0; i < DEPTH; i++) {
      event(random, named, to);
    }
    to.write(0);
    return bytes.toByteArray();
  }

  private static void event(SplittableRandom random, boolean named, DataOutputStream to)
      throws IOException {
    to.write((named ? 0x80 : 0x90) | 7);
    name(named, "type", to);
    text("BlockStored", to);
    name(named, "block_hashes", to);
    to.write(0x91);
    number(random, to);
    name(named, "parent_block_hash", to);
    number(random, to);
    name(named, "token_ids", to);
    to.write(0xdc);
    to.writeShort(BLOCK);
    for (int i = 0; i < BLOCK; i++) {
      to.write(0xce);
      to.writeInt(random.nextInt(150_000));
    }
    name(named, "block_size", to);
    to.write(BLOCK);
    name(named, "lora_id", to);
    to.write(0xc0);
    name(named, "medium", to);
    text("GPU", to);
  }

  private static void number(SplittableRandom random, DataOutputStream to) throws IOException {
    to.write(0xd3);
    to.writeLong(random.nextLong());
  }

  private static void name(boolean named, String name, DataOutputStream to) throws IOException {
    if (named) {
      text(name, to);
    }
  }

  private static void text(String text, DataOutputStream to) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    to.write(0xa0 | bytes.length);
    to.write(bytes);
  }
}
