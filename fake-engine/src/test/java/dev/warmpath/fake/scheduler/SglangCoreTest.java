package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.fake.scheduler.EngineEffect.Admitted;
import dev.warmpath.fake.scheduler.EngineEffect.BlockRemoved;
import dev.warmpath.fake.scheduler.EngineEffect.BlocksStored;
import dev.warmpath.fake.scheduler.EngineEffect.CacheCleared;
import dev.warmpath.fake.scheduler.EngineEffect.FlushAnswered;
import dev.warmpath.fake.scheduler.EngineEffect.Output;
import dev.warmpath.fake.scheduler.EngineEffect.Preempted;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The numbers of Dynamo's tests of its SGLang scheduler, and what they leave out. */
class SglangCoreTest {
  private static CoreOptions.Builder pages(int count) {
    return CoreOptions.builder().numBlocks(count).blockSize(4).cacheEvents(true);
  }

  private static SglangCore core(CoreOptions.Builder options, int chunk) {
    return new SglangCore(
        SglangOptions.builder(options.build()).chunkedPrefillSize(chunk).build(),
        LatencyModel.polynomial());
  }

  private static SglangCore core(CoreOptions.Builder options) {
    return new SglangCore(
        SglangOptions.builder(options.build()).build(), LatencyModel.polynomial());
  }

  private static EngineRequest request(long id, int length, int output) {
    int first = (int) id * 100_000;
    return new EngineRequest(
        id,
        IntStream.range(first, first + length).toArray(),
        IntStream.range(first + 50_000, first + 50_000 + output).toArray(),
        0);
  }

  private static List<EngineEffect> apply(EngineCore core, EngineCommand command) {
    return core.apply(command, true, 0).effects();
  }

  private static void submit(EngineCore core, EngineRequest... requests) {
    for (EngineRequest request : requests) {
      assertThat(apply(core, new EngineCommand.Submit(request))).isEmpty();
    }
  }

  private static List<Long> admitted(PassResult pass) {
    return pass.onStart().stream()
        .filter(Admitted.class::isInstance)
        .map(effect -> ((Admitted) effect).requestId())
        .toList();
  }

  private static List<EngineEffect> outputs(List<EngineEffect> effects) {
    return effects.stream().filter(Output.class::isInstance).toList();
  }

  private static int storedPages(List<EngineEffect> effects) {
    return effects.stream()
        .filter(BlocksStored.class::isInstance)
        .mapToInt(effect -> ((BlocksStored) effect).blockHashes().length)
        .sum();
  }

  private static List<EngineEffect> effects(PassResult pass) {
    List<EngineEffect> effects = new ArrayList<>(pass.onStart());
    effects.addAll(pass.onEnd());
    return effects;
  }

  private static List<EngineEffect> drain(EngineCore core) {
    List<EngineEffect> effects = new ArrayList<>();
    for (int i = 0; core.hasWork(); i++) {
      assertThat(i).as("passes").isLessThan(100_000);
      effects.addAll(effects(core.executePass(0)));
    }
    return effects;
  }

  @Test
  void promptHoldsWholePages() {
    SglangCore core = core(pages(32), 8);
    submit(core, request(1, 6, 2));

    PassResult pass = core.executePass(0);

    assertThat(pass.onEnd()).contains(new Output(1, 1, null));
    assertThat(core.metrics().activeBlocks()).isEqualTo(2);
    assertThat(pass.during().activeBlocks()).isEqualTo(2);
  }

  @Test
  void aPageIsTakenWhenATokenNeedsIt() {
    SglangCore core = core(pages(16), 8);
    submit(core, request(1, 6, 4));
    List<Integer> held = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      core.executePass(0);
      held.add(core.metrics().activeBlocks() * 4);
    }

    assertThat(held).containsExactly(8, 8, 12);
  }

  @Test
  void completionLeavesWholePagesInTheCache() {
    SglangCore core = core(pages(16), 16);
    submit(core, request(1, 8, 1));
    drain(core);

    assertThat(core.metrics().cachedBlocks() * 4).isEqualTo(8);
    assertThat(core.metrics().activeBlocks()).isZero();
    assertThat(core.isDrained()).isTrue();
  }

  @Test
  void chunkedPromptIsStoredPageByPage() {
    SglangCore core = core(pages(32), 4);
    submit(core, request(1, 6, 3));

    PassResult first = core.executePass(0);
    PassResult second = core.executePass(0);
    PassResult third = core.executePass(0);

    assertThat(storedPages(first.onEnd())).isEqualTo(1);
    assertThat(outputs(first.onEnd())).isEmpty();
    assertThat(first.onStart()).containsExactly(new Admitted(1, 0));
    assertThat(storedPages(second.onEnd())).isZero();
    assertThat(second.onStart()).as("one admission").isEmpty();
    assertThat(storedPages(third.onEnd())).isEqualTo(1);
    assertThat(outputs(third.onEnd())).containsExactly(new Output(1, 1, null));
  }

  @Test
  void generatedTokensFillPages() {
    SglangCore core = core(pages(32), 16);
    submit(core, request(1, 4, 5));
    List<EngineEffect> effects = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      effects.addAll(core.executePass(0).onEnd());
    }

    assertThat(storedPages(effects)).isEqualTo(2);
    BlocksStored second =
        (BlocksStored) effects.stream().filter(BlocksStored.class::isInstance).toList().get(1);
    assertThat(second.root()).isFalse();
    assertThat(second.tokens()).containsExactly(150_000, 150_001, 150_002, 150_003);
  }

  @Test
  void theLastTokenIsNeverComputed() {
    SglangCore core = core(pages(32), 16);
    submit(core, request(1, 4, 4));

    assertThat(storedPages(drain(core))).isEqualTo(1);
    assertThat(core.metrics().cachedBlocks()).isEqualTo(1);
  }

  @Test
  void cacheEventsAreSeenAtTheEndOfAPass() {
    SglangCore core = core(pages(32), 4);
    submit(core, request(1, 4, 1));

    PassResult pass = core.executePass(0);

    assertThat(core.eventVisibility()).isEqualTo(EventVisibility.PASS_END);
    assertThat(pass.onStart()).containsExactly(new Admitted(1, 0));
    assertThat(pass.onEnd()).hasSize(2);
    assertThat(pass.onEnd().get(0)).isInstanceOf(BlocksStored.class);
  }

  @Test
  void extendPassesGoAheadOfDecoding() {
    SglangCore core = core(pages(1_000), 8);
    submit(core, request(1, 4, 8));
    core.executePass(0);
    submit(core, request(2, 20, 4));

    List<List<EngineEffect>> passes = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      passes.add(outputs(core.executePass(0).onEnd()));
    }

    assertThat(passes)
        .containsExactly(
            List.of(),
            List.of(),
            List.of(new Output(2, 1, null)),
            List.of(new Output(1, 1, null), new Output(2, 1, null)));
  }

  @Test
  void aPassCountsOnlyWhatItComputes() {
    SglangCore core = core(pages(1_000), 64);
    submit(core, request(1, 4, 8));
    core.executePass(0);
    submit(core, request(2, 20, 4), request(3, 12, 4));

    ForwardPassMetrics extend = core.executePass(0).forward();
    ForwardPassMetrics decode = core.executePass(0).forward();

    assertThat(extend.prefillRequests()).isEqualTo(2);
    assertThat(extend.prefillTokens()).isEqualTo(32);
    assertThat(extend.prefillVariance()).isEqualTo(16);
    assertThat(extend.decodeRequests()).isEqualTo(2);
    assertThat(extend.decodeTokens()).isEqualTo(32);
    assertThat(decode.prefillRequests()).isZero();
    assertThat(decode.decodeRequests()).isEqualTo(3);
    assertThat(decode.decodeTokens()).isEqualTo(5 + 21 + 13);
  }

  @Test
  void firstAndSecondTokenComeWhenTheModelSays() {
    SglangCore core = core(CoreOptions.builder());
    submit(core, request(1, 1024, 2));

    PassResult first = core.executePass(0);
    PassResult second = core.executePass(first.endMs());

    assertThat(first.endMs()).isEqualTo(38.283431, within(1e-6));
    // by context length and not by pages, the second is at 1,025 of 1,048,576 tokens
    double usage = 1025.0 / 1_048_576;
    assertThat(second.durationMs())
        .isEqualTo(-25.74 * usage * usage + 54.01 * usage + 5.74, within(1e-9));
  }

  @Test
  void occupancyIsAtMostThePool() {
    SglangCore core = core(CoreOptions.builder().numBlocks(16).blockSize(1));
    int[] prompt = IntStream.range(0, 8).toArray();
    submit(core, new EngineRequest(1, prompt, new int[3], 0));
    core.executePass(0);
    submit(core, new EngineRequest(2, prompt, new int[3], 0));
    core.executePass(0);

    assertThat(core.executePass(0).decodeMs()).as("18 tokens of 16").isEqualTo(34.01, within(1e-9));
  }

  @Test
  void decodeSpeedupDividesOnlyDecodeTime() {
    CoreOptions options = pages(64).build();
    SglangCore base =
        new SglangCore(
            SglangOptions.builder(options).build(), LatencyModel.polynomial().scaled(2, 2));
    SglangCore fast =
        new SglangCore(
            SglangOptions.builder(options).build(), LatencyModel.polynomial().scaled(2, 8));
    submit(base, request(1, 4, 4));
    submit(fast, request(1, 4, 4));

    assertThat(fast.executePass(0).prefillMs()).isEqualTo(base.executePass(0).prefillMs());
    assertThat(base.executePass(0).decodeMs() / fast.executePass(0).decodeMs())
        .isEqualTo(4.0, within(1e-9));
  }

  @Test
  void chunksArePricedOneByOne() {
    SglangCore core = core(CoreOptions.builder());
    submit(core, request(1, 16_384, 1));

    PassResult first = core.executePass(0);
    PassResult second = core.executePass(first.endMs());

    assertThat(first.onEnd()).isEmpty();
    assertThat(first.decodeMs()).isZero();
    assertThat(first.prefillMs() + second.prefillMs()).isEqualTo(338.273837, within(1e-6));
    assertThat(second.onEnd()).containsExactly(new Output(1, 1, FinishReason.COMPLETED));
  }

  @Test
  void prefixIsReusedInWholePagesButNeverWhole() {
    SglangCore core = core(pages(64));
    submit(core, request(1, 8, 4));
    drain(core);
    int[] longer = IntStream.range(100_000, 100_013).toArray();
    submit(core, new EngineRequest(2, longer, new int[] {1}, 0));
    PassResult pass = core.executePass(0);

    assertThat(pass.onStart()).containsExactly(new Admitted(2, 8));
    assertThat(pass.forward().prefillTokens()).isEqualTo(5);
    assertThat(pass.forward().prefixTokens()).isEqualTo(8);
    assertThat(core.metrics().lastPrefillHitRate()).isEqualTo(8.0 / 13);

    int[] same = IntStream.range(100_000, 100_008).toArray();
    submit(core, new EngineRequest(3, same, new int[] {1}, 0));
    assertThat(core.executePass(0).onStart()).containsExactly(new Admitted(3, 4));
    assertThat(core.metrics().promptTokens()).isEqualTo(8 + 13 + 8);
    assertThat(core.metrics().cachedTokens()).isEqualTo(12);
  }

  @Test
  void hitRateIsThatOfTheLastExtendPass() {
    SglangCore core = core(pages(64));
    submit(core, request(1, 8, 3));
    core.executePass(0);
    assertThat(core.metrics().lastPrefillHitRate()).isZero();
    submit(core, new EngineRequest(2, IntStream.range(100_000, 100_016).toArray(), new int[2], 0));
    submit(core, request(3, 16, 2));
    core.executePass(0);
    core.executePass(0);

    assertThat(core.metrics().lastPrefillHitRate()).isEqualTo(8.0 / 32);
  }

  @Test
  void requestsOfOnePassDoNotSeeEachOther() {
    SglangCore core = core(pages(64));
    int[] prompt = IntStream.range(0, 12).toArray();
    submit(
        core,
        new EngineRequest(1, prompt, new int[] {1}, 0),
        new EngineRequest(2, prompt, new int[] {1}, 0));

    PassResult pass = core.executePass(0);

    assertThat(pass.onStart()).containsExactly(new Admitted(1, 0), new Admitted(2, 0));
    assertThat(storedPages(pass.onEnd())).as("one copy stays").isEqualTo(3);
    assertThat(core.metrics().cachedBlocks()).isEqualTo(3);
  }

  @Test
  void namespacesDoNotShareAndCachingCanBeOff() {
    SglangCore core = core(pages(64));
    int[] prompt = IntStream.range(0, 12).toArray();
    submit(core, new EngineRequest(1, prompt, new int[] {1}, 0));
    drain(core);
    submit(core, new EngineRequest(2, prompt, new int[] {1}, 7));
    assertThat(core.executePass(0).onStart()).containsExactly(new Admitted(2, 0));

    SglangCore without = core(pages(64).prefixCaching(false));
    submit(without, new EngineRequest(1, prompt, new int[] {1, 2, 3, 4, 5, 6}, 0));
    List<EngineEffect> effects = drain(without);
    submit(without, new EngineRequest(2, prompt, new int[] {1}, 0));
    effects.addAll(drain(without));
    assertThat(storedPages(effects)).isZero();
    assertThat(effects).contains(new Admitted(2, 0));
    assertThat(without.metrics().cachedBlocks() + without.metrics().activeBlocks()).isZero();
  }

  @Test
  void theOneWithTheFewestTokensIsRetractedAndKeepsThem() {
    SglangCore core = core(pages(6), 16);
    submit(core, request(1, 4, 12));
    core.executePass(0);
    core.executePass(0);
    submit(core, request(2, 4, 6));
    List<EngineEffect> effects = new ArrayList<>();
    int passes = 0;
    while (core.metrics().preemptions() == 0) {
      effects.addAll(effects(core.executePass(0)));
      assertThat(++passes).isLessThan(20);
    }

    assertThat(effects).contains(new Preempted(2)).doesNotContain(new Preempted(1));
    assertThat(core.metrics().running()).isEqualTo(1);
    assertThat(core.metrics().waiting()).isEqualTo(1);
    assertThat(core.metrics().cachedBlocks()).as("its prefix stays in the tree").isPositive();
    effects.addAll(drain(core));
    assertThat(outputs(effects).stream().filter(e -> ((Output) e).requestId() == 2)).hasSize(6);
    assertThat(outputs(effects).stream().filter(e -> ((Output) e).requestId() == 1)).hasSize(10);
  }

  @Test
  void ofEqualsTheLongestPromptIsRetracted() {
    SglangCore core =
        new SglangCore(
            SglangOptions.builder(pages(7).build()).clipMaxNewTokens(0).build(),
            LatencyModel.polynomial());
    submit(core, request(1, 3, 10), request(2, 7, 10), request(3, 3, 10));
    List<EngineEffect> effects = drain(core);

    assertThat(effects.stream().filter(Preempted.class::isInstance).findFirst())
        .contains(new Preempted(2));
  }

  @Test
  void aLoneRequestIsNeverRetracted() {
    SglangCore core = core(pages(3), 16);
    submit(core, request(1, 4, 100));

    List<EngineEffect> effects = drain(core);

    assertThat(effects).noneMatch(Preempted.class::isInstance);
    assertThat(outputs(effects)).as("12 tokens of pool - 1 - 4 of prompt").hasSize(7);
    assertThat(effects).contains(new Output(1, 1, FinishReason.COMPLETED));
  }

  @Test
  void promptThatCanNeverFitIsRejectedByTheNextPass() {
    SglangCore core = core(pages(4), 16);
    submit(core, request(1, 20, 1), request(2, 14, 1), request(3, 12, 9));

    PassResult pass = core.executePass(0);

    assertThat(outputs(pass.onEnd()))
        .containsExactly(
            new Output(1, 0, FinishReason.REJECTED),
            new Output(2, 0, FinishReason.REJECTED),
            new Output(3, 1, null));
    assertThat(outputs(drain(core))).as("3 tokens fit").hasSize(2);
    submit(core, request(4, 20, 1));
    assertThat(apply(core, new EngineCommand.Cancel(4)))
        .containsExactly(new Output(4, 0, FinishReason.ABORTED));
    assertThat(core.hasWork()).isFalse();
  }

  @Test
  void generationStopsAtTheContextLength() {
    SglangCore core = core(pages(16).maxModelLen(10), 64);
    submit(core, request(1, 10, 4), request(2, 8, 50));

    assertThat(outputs(drain(core)))
        .containsExactly(
            new Output(1, 0, FinishReason.REJECTED),
            new Output(2, 1, null),
            new Output(2, 1, FinishReason.COMPLETED));
  }

  @Test
  void requestWithoutOutputEndsWithoutAToken() {
    SglangCore core = core(pages(16), 16);
    submit(core, request(1, 8, 0));

    PassResult pass = core.executePass(0);

    assertThat(outputs(pass.onEnd())).containsExactly(new Output(1, 0, FinishReason.COMPLETED));
    assertThat(pass.decodeMs()).isZero();
    assertThat(pass.prefillMs()).isPositive();
    assertThat(core.metrics().activeBlocks()).isZero();
  }

  @Test
  void runningIsCapped() {
    SglangCore core = core(pages(100).maxNumSeqs(2), 64);
    submit(core, request(1, 4, 2), request(2, 4, 3), request(3, 4, 1));

    assertThat(admitted(core.executePass(0))).containsExactly(1L, 2L);
    assertThat(admitted(core.executePass(0))).isEmpty();
    assertThat(admitted(core.executePass(0))).containsExactly(3L);
  }

  @Test
  void longestPrefixGoesFirstIfAsked() {
    SglangCore core =
        new SglangCore(
            SglangOptions.builder(pages(100).maxNumSeqs(1).build())
                .schedulePolicy(SchedulePolicy.LPM)
                .build(),
            LatencyModel.polynomial());
    submit(core, request(1, 16, 1));
    drain(core);
    submit(core, request(2, 16, 1));
    submit(core, new EngineRequest(3, IntStream.range(100_000, 100_020).toArray(), new int[1], 0));

    assertThat(core.executePass(0).onStart()).containsExactly(new Admitted(3, 16));
    assertThat(core.executePass(0).onStart()).containsExactly(new Admitted(2, 0));
  }

  @Test
  void blockedPassDoesNothing() {
    SglangCore core = core(pages(4), 16);
    submit(core, request(1, 8, 6));
    core.executePass(0);
    submit(core, request(2, 8, 6));

    assertThat(admitted(core.executePass(0))).isEmpty();
    assertThat(core.metrics().waitingTokens()).isEqualTo(8);
    assertThat(outputs(drain(core))).hasSize(10);
  }

  @Test
  void everyTokenOfManyRequestsIsGenerated() {
    for (SchedulePolicy policy : SchedulePolicy.values()) {
      for (int pageSize : new int[] {1, 4, 64}) {
        for (boolean shared : new boolean[] {false, true}) {
          SglangCore core =
              new SglangCore(
                  SglangOptions.builder(
                          CoreOptions.builder()
                              .numBlocks(32_000 / pageSize)
                              .blockSize(pageSize)
                              .build())
                      .schedulePolicy(policy)
                      .build(),
                  LatencyModel.polynomial());
          for (int id = 1; id <= 200; id++) {
            int own = id * 100_000;
            int[] prompt =
                IntStream.range(0, 1000).map(i -> shared && i < 500 ? i : own + i).toArray();
            submit(core, new EngineRequest(id, prompt, new int[100], 0));
          }

          assertThat(outputs(drain(core)))
              .as("%s page %s shared %s", policy, pageSize, shared)
              .hasSize(20_000);
          assertThat(core.metrics().activeBlocks()).isZero();
        }
      }
    }
  }

  @Test
  void leavesGoFirstAndAreReported() {
    SglangCore core = core(pages(5), 16);
    submit(core, request(1, 8, 1));
    BlocksStored stored = (BlocksStored) drain(core).get(1);

    submit(core, request(2, 16, 2));
    List<EngineEffect> effects = drain(core);

    assertThat(effects)
        .filteredOn(BlockRemoved.class::isInstance)
        .containsExactly(
            new BlockRemoved(StorageTier.DEVICE, stored.blockHashes()[1]),
            new BlockRemoved(StorageTier.DEVICE, stored.blockHashes()[0]));
  }

  @Test
  void cancelFreesPagesInAnyState() {
    SglangCore core = core(pages(64).maxNumSeqs(2), 8);
    submit(core, request(1, 6, 9), request(2, 20, 4), request(3, 4, 4));
    core.executePass(0);
    core.executePass(0);

    for (long id : new long[] {3, 2, 1}) {
      assertThat(apply(core, new EngineCommand.Cancel(id)))
          .filteredOn(Output.class::isInstance)
          .containsExactly(new Output(id, 0, FinishReason.ABORTED));
      assertThat(core.apply(new EngineCommand.Cancel(id), true, 0))
          .isEqualTo(new CommandResult(CommandResult.Outcome.NOOP, List.of()));
    }
    assertThat(core.metrics().activeBlocks()).isZero();
    assertThat(core.metrics().waitingTokens()).isZero();
    assertThat(core.hasWork()).isFalse();
    assertThat(core.isDrained()).isTrue();
  }

  @Test
  void flushIsRefusedWhileBusyAndForgetsPrefixesWhenIdle() {
    SglangCore core = core(pages(16), 64);
    submit(core, request(1, 8, 2));
    core.executePass(0);
    assertThat(apply(core, new EngineCommand.Flush())).containsExactly(new FlushAnswered(false));
    drain(core);
    assertThat(core.metrics().cachedBlocks()).isEqualTo(2);

    assertThat(apply(core, new EngineCommand.Flush()))
        .containsExactly(new CacheCleared(), new FlushAnswered(true));

    assertThat(core.metrics().cachedBlocks()).isZero();
    int[] prompt = IntStream.range(100_000, 100_008).toArray();
    assertThat(core.cachedTokens(new EngineRequest(2, prompt, new int[] {1}, 0))).isZero();
  }

  @Test
  void looksIntoTheCacheWithoutATrace() {
    SglangCore core = core(pages(16), 64);
    submit(core, request(1, 8, 1));
    drain(core);

    int[] prompt = IntStream.range(100_000, 100_020).toArray();
    assertThat(core.cachedTokens(new EngineRequest(2, prompt, new int[] {1}, 0))).isEqualTo(8);
    assertThat(core.metrics().activeBlocks()).isZero();
    assertThat(core.isDrained()).isTrue();
  }

  @Test
  void pauseThatAbortsEndsEverything() {
    SglangCore core = core(pages(16).maxNumSeqs(1), 64);
    submit(core, request(1, 8, 4), request(2, 8, 4));
    core.executePass(0);

    assertThat(apply(core, new EngineCommand.Pause(PauseMode.ABORT)))
        .containsExactly(
            new Output(1, 0, FinishReason.ABORTED), new Output(2, 0, FinishReason.ABORTED));
    assertThat(core.metrics().paused()).isTrue();
    submit(core, request(3, 4, 1));
    assertThat(core.hasWork()).isFalse();
    apply(core, new EngineCommand.Resume());
    assertThat(core.hasWork()).isTrue();
  }

  @Test
  void pauseInPlaceKeepsPagesAndBlocksAFlush() {
    SglangCore core = core(pages(16), 64);
    submit(core, request(1, 8, 4));
    core.executePass(0);

    assertThat(apply(core, new EngineCommand.Pause(PauseMode.IN_PLACE))).isEmpty();

    assertThat(core.hasWork()).isFalse();
    assertThat(core.metrics().activeBlocks()).isEqualTo(3);
    assertThat(apply(core, new EngineCommand.Flush())).containsExactly(new FlushAnswered(false));
    apply(core, new EngineCommand.Resume());
    assertThat(drain(core)).contains(new Output(1, 1, FinishReason.COMPLETED));
  }

  @Test
  void pauseThatRetractsKeepsTheOrderAndAllowsAFlush() {
    SglangCore core = core(pages(64), 16);
    submit(core, request(1, 4, 4), request(2, 4, 4), request(3, 30, 4));
    core.executePass(0);

    assertThat(apply(core, new EngineCommand.Pause(PauseMode.RETRACT)))
        .containsExactly(new Preempted(2), new Preempted(1));
    assertThat(core.metrics().activeBlocks()).isZero();
    assertThat(apply(core, new EngineCommand.Flush())).contains(new FlushAnswered(true));
    apply(core, new EngineCommand.Resume());

    assertThat(admitted(core.executePass(0))).containsExactly(1L, 2L);
    assertThat(admitted(core.executePass(0))).containsExactly(3L);
    assertThat(outputs(drain(core))).hasSize(8);
  }

  @Test
  void pauseThatDrainsHoldsOnlyWhatComesLater() {
    SglangCore core = core(pages(16), 64);
    submit(core, request(1, 8, 2));
    apply(core, new EngineCommand.Pause(PauseMode.DRAIN));
    submit(core, request(2, 8, 1));

    assertThat(drain(core)).contains(new Output(1, 1, FinishReason.COMPLETED));
    assertThat(core.metrics().waiting()).isEqualTo(1);
    assertThat(core.metrics().waitingTokens()).isEqualTo(8);
    apply(core, new EngineCommand.Resume());

    assertThat(drain(core)).contains(new Output(2, 1, FinishReason.COMPLETED));
  }

  @Test
  void idInUseIsRefused() {
    SglangCore core = core(pages(16), 64);
    submit(core, request(1, 4, 1));
    assertThatThrownBy(() -> apply(core, new EngineCommand.Submit(request(1, 4, 1))))
        .isInstanceOf(IllegalArgumentException.class);
    drain(core);
    submit(core, request(1, 4, 1));
    assertThat(drain(core)).contains(new Output(1, 1, FinishReason.COMPLETED));
  }

  @Test
  void acceptedDraftsComeInBurstsInStableOrder() {
    SglangCore core = core(pages(32).speculation(new Speculation(List.of(1.0, 1.0), 42)), 16);
    submit(core, request(1, 4, 5), request(2, 4, 8), request(3, 4, 8));

    PassResult first = core.executePass(0);
    PassResult second = core.executePass(0);
    PassResult third = core.executePass(0);

    assertThat(outputs(first.onEnd()))
        .containsExactly(new Output(1, 3, null), new Output(2, 3, null), new Output(3, 3, null));
    assertThat(outputs(second.onEnd()))
        .containsExactly(
            new Output(1, 2, FinishReason.COMPLETED),
            new Output(2, 3, null),
            new Output(3, 3, null));
    assertThat(second.forward().decodeRequests()).isEqualTo(3);
    assertThat(outputs(third.onEnd()))
        .containsExactly(
            new Output(2, 2, FinishReason.COMPLETED), new Output(3, 2, FinishReason.COMPLETED));
    assertThat(core.metrics().generatedTokens()).isEqualTo(21);
    assertThat(core.isDrained()).isTrue();
  }

  @Test
  void draftsUnderPressureStillGiveEveryToken() {
    SglangCore core =
        new SglangCore(
            SglangOptions.builder(
                    pages(5).speculation(new Speculation(List.of(0.0, 1.0), 42)).build())
                .chunkedPrefillSize(4)
                .clipMaxNewTokens(2)
                .build(),
            LatencyModel.polynomial());
    submit(core, request(1, 6, 7), request(2, 4, 5));

    List<EngineEffect> effects = drain(core);

    assertThat(outputs(effects).stream().mapToInt(e -> ((Output) e).tokens()).sum()).isEqualTo(12);
    assertThat(core.metrics().activeBlocks()).isZero();
  }

  @Test
  void firstTokenMayCostNothingButThePrompt() {
    SglangCore core = core(CoreOptions.builder().firstTokenFromPrefill(true));
    submit(core, request(1, 1024, 2));

    assertThat(core.executePass(0).endMs()).isEqualTo(32.490712, within(1e-6));
    assertThat(core.executePass(0).decodeMs()).isPositive();
  }

  @Test
  void optionsNameWhatIsWrong() {
    CoreOptions core = pages(4).build();
    assertThatThrownBy(() -> SglangOptions.builder(core).chunkedPrefillSize(6).build())
        .hasMessageContaining("chunkedPrefillSize")
        .hasMessageContaining("page size 4");
    assertThatThrownBy(() -> SglangOptions.builder(core).maxPrefillTokens(0).build())
        .hasMessageContaining("maxPrefillTokens");
    assertThatThrownBy(() -> SglangOptions.builder(core).scheduleConservativeness(-1).build())
        .hasMessageContaining("scheduleConservativeness");
    assertThatThrownBy(() -> SglangOptions.builder(core).clipMaxNewTokens(-1).build())
        .hasMessageContaining("clipMaxNewTokens");
    assertThat(SglangOptions.builder(CoreOptions.builder().blockSize(48).build()).build())
        .extracting(SglangOptions::chunkedPrefillSize)
        .isEqualTo(8_160);
  }
}
