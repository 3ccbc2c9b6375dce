package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Passes that are run ahead are the passes that would have been run one by one. */
class SglangQuietPassesPropertyTest {
  private static SglangOptions options(SplittableRandom random, int pages) {
    int pageSize = 1 + random.nextInt(6);
    CoreOptions core =
        CoreOptions.builder()
            .numBlocks(pages)
            .blockSize(pageSize)
            .maxNumSeqs(1 + random.nextInt(10))
            .prefixCaching(random.nextInt(5) > 0)
            .maxModelLen(random.nextBoolean() ? Integer.MAX_VALUE : 90)
            .cacheEvents(random.nextInt(4) > 0)
            .transfer(new KvTransfer(250_000, 1))
            .offload(SglangCorePropertyTest.offload(random))
            .build();
    return SglangOptions.builder(core)
        .schedulePolicy(random.nextInt(4) > 0 ? SchedulePolicy.FCFS : SchedulePolicy.LPM)
        .chunkedPrefillSize(pageSize * (1 + random.nextInt(8)))
        .clipMaxNewTokens(random.nextInt(60))
        .scheduleConservativeness(random.nextDouble())
        .build();
  }

  private static WatchedCore script(long seed, int pages, boolean ahead) {
    SplittableRandom random = new SplittableRandom(seed);
    WatchedCore watched =
        new WatchedCore(new SglangCore(options(random, pages), LatencyModel.polynomial()), ahead);
    int pageSize = watched.core.metrics().blockSize();
    for (int step = 1; step <= 40; step++) {
      int what = random.nextInt(8);
      int[] prompt = random.ints(1 + random.nextInt(30), 0, 2).toArray();
      int[] output = random.ints(random.nextInt(60), 0, 2).toArray();
      EngineRequest request = new EngineRequest(step, prompt, output, random.nextInt(2));
      double until = watched.now + random.nextDouble() * random.nextInt(800);
      if (what < 5) {
        watched.apply(new EngineCommand.Submit(request));
      } else if (what == 5) {
        watched.apply(new EngineCommand.Cancel(1 + random.nextInt(step)));
      } else if (what == 6 && (prompt.length + pageSize - 1) / pageSize <= pages) {
        watched.apply(new EngineCommand.ReserveDestination(step, request));
      } else {
        watched.apply(new EngineCommand.ActivateDestination(1 + random.nextInt(step)));
      }
      watched.runTo(Math.max(step * 300.0, until));
    }
    watched.runTo(1e9);
    return watched;
  }

  @Property(tries = 400, seed = "34")
  void runningAheadChangesNothing(
      @ForAll long seed, @ForAll @IntRange(min = 10, max = 80) int pages) {
    CoreScript.assertSame(script(seed, pages, true).log, script(seed, pages, false).log);
  }

  @Test
  void mostPassesOfALongGenerationAreQuiet() {
    CoreOptions core = CoreOptions.builder().cacheEvents(true).build();
    WatchedCore watched =
        new WatchedCore(
            new SglangCore(SglangOptions.builder(core).build(), LatencyModel.polynomial()), true);
    for (long id = 1; id <= 8; id++) {
      watched.apply(new EngineCommand.Submit(CoreScript.request(id, 500, 1000)));
    }

    watched.runTo(1e9);

    assertThat(watched.quiet).isEqualTo(998);
    assertThat(watched.core.isDrained()).isTrue();
  }

  @Test
  void aPassThatWouldBeginAtTheGivenTimeIsLeftOut() {
    SglangCore core =
        new SglangCore(
            SglangOptions.builder(CoreOptions.builder().build()).build(),
            LatencyModel.constant(0, 10));
    core.apply(new EngineCommand.Submit(CoreScript.request(1, 10, 100)), true, 0);
    double start = core.executePass(0).endMs();

    PassRun run = core.executeQuietPasses(start, start + 30);

    assertThat(run.endsMs()).containsExactly(20, 30, 40);
    assertThat(run.requestIds()).containsExactly(1);
    assertThat(core.executeQuietPasses(40, 40).passes()).isZero();
  }

  @Test
  void aRequestThatCanBeAdmittedEndsTheRun() {
    CoreOptions options = CoreOptions.builder().numBlocks(100).blockSize(4).build();
    SglangCore core =
        new SglangCore(
            SglangOptions.builder(options).scheduleConservativeness(2).build(),
            LatencyModel.constant(0, 10));
    core.apply(new EngineCommand.Submit(CoreScript.request(1, 10, 300)), true, 0);
    core.executePass(0);
    core.apply(new EngineCommand.Submit(CoreScript.request(2, 10, 30)), true, 0);

    PassRun run = core.executeQuietPasses(10, 1e9);

    // 42 fit when 388 less a token a pass minus 1.4, falling, of the output that is left allows it
    assertThat(run.passes()).isBetween(70, 100);
    assertThat(core.executePass(run.endMs()).onStart())
        .isEqualTo(List.of(new EngineEffect.Admitted(2, 0)));
  }
}
