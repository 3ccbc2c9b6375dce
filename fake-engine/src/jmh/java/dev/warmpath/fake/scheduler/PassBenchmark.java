package dev.warmpath.fake.scheduler;

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
 * Forward passes of one worker that is simulated in a second on one thread: a closed loop of
 * conversations of 7,000 prompt tokens and 343 output tokens in the mean, arrivals, prefills and
 * evictions included, on a pool of 16,384 blocks that is full.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class PassBenchmark {
  private static final int PASSES = 10_000;

  @Param({"vllm", "sglang"})
  String engine;

  @Param({"8", "32", "128"})
  int requests;

  @Param({"true", "false"})
  boolean cacheEvents;

  private SplittableRandom random;
  private EngineCore core;
  private double now;
  private long id;

  @Setup(Level.Trial)
  public void setUp() {
    random = new SplittableRandom(1);
    CoreOptions options = CoreOptions.builder().cacheEvents(cacheEvents).build();
    core =
        engine.equals("vllm")
            ? new VllmCore(options, LatencyModel.polynomial())
            : new SglangCore(SglangOptions.builder(options).build(), LatencyModel.polynomial());
    for (int i = 0; i < requests; i++) {
      submit();
    }
  }

  private void submit() {
    int prompt = 500 + random.nextInt(13_000);
    long[] stretches = new long[(prompt + 511) / 512];
    long shared = random.nextInt(200);
    for (int i = 0; i < stretches.length; i++) {
      stretches[i] = i < 8 ? shared * 1000 + i : random.nextLong();
    }
    EngineRequest request =
        new EngineRequest(
            ++id, new BlockSource.Stretches(stretches, 512), prompt, 1 + random.nextInt(685), 0);
    core.apply(new EngineCommand.Submit(request), true, now);
  }

  private void pass() {
    PassResult pass = core.executePass(now);
    now = pass.endMs();
    for (EngineEffect effect : pass.onEnd()) {
      if (effect instanceof EngineEffect.Output output && output.finish() != null) {
        submit();
      }
    }
  }

  @Benchmark
  @OperationsPerInvocation(PASSES)
  public double oneByOne() {
    for (int i = 0; i < PASSES; i++) {
      pass();
    }
    return now;
  }

  @Benchmark
  @OperationsPerInvocation(PASSES)
  public double ahead() {
    int passes = 0;
    while (passes < PASSES) {
      PassRun run = core.executeQuietPasses(now, Double.POSITIVE_INFINITY);
      passes += run.passes();
      now = run.endMs();
      if (run.passes() == 0) {
        pass();
        passes++;
      }
    }
    return now;
  }
}
