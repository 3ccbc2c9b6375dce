package dev.warmpath.fake.virtual;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.FinishReason;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.scheduler.SglangCore;
import dev.warmpath.fake.scheduler.SglangOptions;
import dev.warmpath.fake.scheduler.VllmCore;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.jspecify.annotations.Nullable;

/** A rank that runs ahead is told apart from one that doesn't by nothing but the time it takes. */
class RunAheadPropertyTest {

  /** What a client sees of a request: everything but the times of its middle tokens. */
  private static final class Client implements RankListener {
    private final VirtualTime time;
    private final List<String> log;
    private final String name;
    private int tokens;

    Client(VirtualTime time, List<String> log, String name) {
      this.time = time;
      this.log = log;
      this.name = name;
    }

    @Override
    public void admitted(int reusedTokens) {
      log.add(name + " admitted with " + reusedTokens + " at " + time.nowMs());
    }

    @Override
    public void output(int count, @Nullable FinishReason finish) {
      if (tokens == 0 && count > 0) {
        log.add(name + " first token at " + time.nowMs());
      }
      tokens += count;
      if (finish != null) {
        log.add(name + " " + finish + " with " + tokens + " at " + time.nowMs());
      }
    }
  }

  private static List<String> run(int seed, boolean vllm, boolean ahead, LatencyModel latency) {
    SplittableRandom random = new SplittableRandom(seed);
    CoreOptions options =
        CoreOptions.builder()
            .numBlocks(random.nextInt(20, 200))
            .blockSize(1 << random.nextInt(2, 5))
            .maxNumSeqs(random.nextInt(1, 12))
            .maxNumBatchedTokens(random.nextInt(16, 200))
            .prefixCaching(random.nextBoolean())
            .build();
    VirtualTime time = new VirtualTime();
    VirtualRank rank =
        new VirtualRank(
            time,
            vllm
                ? new VllmCore(options, latency)
                : new SglangCore(
                    SglangOptions.builder(options)
                        .chunkedPrefillSize(2 * options.blockSize())
                        .build(),
                    latency));
    rank.runAhead(ahead);
    List<String> log = new ArrayList<>();
    int requests = random.nextInt(1, 25);
    for (int id = 0; id < requests; id++) {
      int prompt = random.nextInt(1, 120);
      int output = random.nextInt(0, 200);
      double at = random.nextInt(0, 40_000) / 64.0;
      EngineRequest request =
          new EngineRequest(id, new int[prompt], new int[output], random.nextInt(3));
      Client client = new Client(time, log, "request " + id);
      time.schedule(at, EventKind.ARRIVAL, () -> rank.submit(request, client));
      if (random.nextInt(4) == 0) {
        EventKind kind = random.nextBoolean() ? EventKind.COMMAND : EventKind.TRANSFER;
        int cancelled = id;
        time.schedule(at + random.nextInt(0, 40_000) / 64.0, kind, () -> rank.cancel(cancelled));
      }
    }
    for (int i = random.nextInt(20); i > 0; i--) {
      EventKind kind = random.nextBoolean() ? EventKind.ARRIVAL : EventKind.TRANSFER;
      time.schedule(
          random.nextInt(0, 80_000) / 64.0,
          kind,
          () -> log.add(kind + " sees " + rank.snapshot() + " at " + time.nowMs()));
    }
    if (random.nextInt(5) == 0) {
      time.schedule(random.nextInt(0, 600), EventKind.COMMAND, () -> rank.slowdown(2));
      time.schedule(random.nextInt(600, 900), EventKind.COMMAND, () -> rank.slowdown(1));
    }
    time.runUntilIdle();
    log.add("at last " + rank.snapshot() + " at " + time.nowMs());
    return log;
  }

  /** The first entries that differ, if any. */
  private static List<String> differences(List<String> ahead, List<String> stepwise) {
    for (int i = 0; i < Math.max(ahead.size(), stepwise.size()); i++) {
      String left = i < ahead.size() ? ahead.get(i) : "nothing";
      String right = i < stepwise.size() ? stepwise.get(i) : "nothing";
      if (!left.equals(right)) {
        return List.of(left, right);
      }
    }
    return List.of();
  }

  private static void assertSame(int seed, boolean vllm, LatencyModel latency) {
    List<String> ahead = run(seed, vllm, true, latency);
    List<String> stepwise = run(seed, vllm, false, latency);
    assertThat(differences(ahead, stepwise)).isEmpty();
  }

  @Property(tries = 200, seed = "21")
  void clientsAndPollersOfVllmSeeTheSame(@ForAll @IntRange(min = 0, max = 1_000_000) int seed) {
    assertSame(seed, true, LatencyModel.polynomial());
  }

  @Property(tries = 200, seed = "22")
  void clientsAndPollersOfSglangSeeTheSame(@ForAll @IntRange(min = 0, max = 1_000_000) int seed) {
    assertSame(seed, false, LatencyModel.polynomial());
  }

  /** Passes end on the grid of the script's times, so that much happens at the same instant. */
  @Property(tries = 200, seed = "23")
  void simultaneousEventsKeepTheirOrder(@ForAll @IntRange(min = 0, max = 1_000_000) int seed) {
    assertSame(seed, seed % 2 == 0, LatencyModel.constant(1 / 64.0, 0.5));
  }
}
