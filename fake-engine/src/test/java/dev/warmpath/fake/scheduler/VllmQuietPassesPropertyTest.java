package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Passes that are run ahead are the passes that would have been run one by one. */
class VllmQuietPassesPropertyTest {

  private static CoreOptions options(SplittableRandom random, int blocks) {
    CoreOptions.Builder options =
        CoreOptions.builder()
            .numBlocks(blocks)
            .blockSize(1 + random.nextInt(6))
            .maxNumBatchedTokens(6 + random.nextInt(40))
            .maxNumSeqs(1 + random.nextInt(10))
            .prefixCaching(random.nextInt(5) > 0)
            .chunkedPrefill(random.nextInt(4) > 0)
            .maxModelLen(random.nextBoolean() ? Integer.MAX_VALUE : 90)
            .cacheEvents(random.nextInt(4) > 0);
    if (random.nextInt(3) == 0) {
      options
          .transfer(new KvTransfer(250_000, 1))
          .offload(new OffloadOptions(1 + random.nextInt(8), random.nextInt(8), 0.01, 0.01, 2));
    }
    return options.build();
  }

  private static WatchedCore script(long seed, int blocks, boolean ahead) {
    SplittableRandom random = new SplittableRandom(seed);
    WatchedCore watched =
        new WatchedCore(new VllmCore(options(random, blocks), LatencyModel.polynomial()), ahead);
    for (int step = 1; step <= 40; step++) {
      int what = random.nextInt(8);
      int[] prompt = random.ints(1 + random.nextInt(30), 0, 2).toArray();
      int[] output = random.ints(random.nextInt(60), 0, 2).toArray();
      EngineRequest request = new EngineRequest(step, prompt, output, random.nextInt(2));
      double until = watched.now + random.nextDouble() * random.nextInt(800);
      double at = step * 300.0;
      if (what < 5) {
        watched.apply(new EngineCommand.Submit(request));
      } else if (what == 5) {
        watched.apply(new EngineCommand.Cancel(1 + random.nextInt(step)));
      } else if (what == 6
          && (prompt.length + watched.core.metrics().blockSize() - 1)
                  / watched.core.metrics().blockSize()
              <= blocks) {
        watched.apply(new EngineCommand.ReserveDestination(step, request));
      } else {
        watched.apply(new EngineCommand.ActivateDestination(1 + random.nextInt(step)));
      }
      watched.runTo(Math.max(at, until));
    }
    watched.runTo(1e9);
    return watched;
  }

  @Property(tries = 400, seed = "14")
  void runningAheadChangesNothing(
      @ForAll long seed, @ForAll @IntRange(min = 10, max = 80) int blocks) {
    WatchedCore oneByOne = script(seed, blocks, false);
    WatchedCore ahead = script(seed, blocks, true);

    CoreScript.assertSame(ahead.log, oneByOne.log);
  }

  @Test
  void mostPassesOfALongGenerationAreQuiet() {
    WatchedCore watched =
        new WatchedCore(
            new VllmCore(
                CoreOptions.builder().cacheEvents(true).build(), LatencyModel.polynomial()),
            true);
    for (long id = 1; id <= 8; id++) {
      watched.apply(new EngineCommand.Submit(CoreScript.request(id, 500, 1000)));
    }

    watched.runTo(1e9);

    assertThat(watched.quiet).isEqualTo(998);
    assertThat(watched.core.isDrained()).isTrue();
  }

  @Test
  void aPassThatWouldBeginAtTheGivenTimeIsLeftOut() {
    VllmCore core = new VllmCore(CoreOptions.builder().build(), LatencyModel.constant(0, 10));
    core.apply(new EngineCommand.Submit(CoreScript.request(1, 10, 100)), true, 0);
    double start = core.executePass(0).endMs();

    PassRun run = core.executeQuietPasses(start, start + 30);

    assertThat(run.endsMs()).containsExactly(20, 30, 40);
    assertThat(run.requestIds()).containsExactly(1);
    assertThat(core.executeQuietPasses(40, 40).passes()).isZero();
  }
}
