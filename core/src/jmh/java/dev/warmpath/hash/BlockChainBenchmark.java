package dev.warmpath.hash;

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

/** Tokens hashed in a second, one thread, over prompts of 8192 tokens of a 152k vocabulary. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
public class BlockChainBenchmark {

  private static final int TOKENS = 8192;

  @Param({
    "sglang-event/1",
    "sglang-event/16",
    "sglang-event/64",
    "sglang-hicache/64",
    "vllm-sha256/16",
    "vllm-sha256-cbor/16",
    "vllm-xxhash/16",
    "vllm-xxhash-cbor/16",
    "atom/16",
    "dynamo/16",
    "llmd/16",
    "content/16",
    "content/64"
  })
  String scheme;

  private HashScheme hashScheme;
  private ChainState conversation;
  private int[] tokens;

  @Setup
  public void setUp() {
    int slash = scheme.indexOf('/');
    HashParams params =
        HashParams.builder()
            .blockSize(Integer.parseInt(scheme.substring(slash + 1)))
            .seed("42")
            .model("m")
            .build();
    String name = scheme.substring(0, slash);
    hashScheme =
        name.equals(ContentScheme.NAME)
            ? HashSchemes.content(params)
            : HashSchemes.byName(name, params);
    Random random = new Random(42);
    tokens = random.ints(TOKENS, 0, 152_000).toArray();
    conversation = hashScheme.newChain().append(tokens).append(tokens).state();
  }

  /** A whole prompt, chain and results included. */
  @Benchmark
  @OperationsPerInvocation(TOKENS)
  public BlockHashes prompt() {
    return hashScheme.newChain().append(tokens).hashes();
  }

  /** A message of 200 tokens on a conversation of 16384. Per message, not per token. */
  @Benchmark
  public ChainState message() {
    return conversation.fork().append(tokens, 0, 200).state();
  }
}
