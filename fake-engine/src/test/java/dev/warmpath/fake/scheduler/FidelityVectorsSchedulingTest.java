package dev.warmpath.fake.scheduler;

import static dev.warmpath.fake.scheduler.CoreScript.admitted;
import static dev.warmpath.fake.scheduler.CoreScript.only;
import static dev.warmpath.fake.scheduler.CoreScript.request;
import static dev.warmpath.fake.scheduler.CoreScript.small;
import static dev.warmpath.fake.scheduler.CoreScript.tokens;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.fake.scheduler.CommandResult.Outcome;
import dev.warmpath.fake.scheduler.EngineEffect.Admitted;
import dev.warmpath.fake.scheduler.EngineEffect.BlocksStored;
import dev.warmpath.fake.scheduler.EngineEffect.Output;
import dev.warmpath.fake.scheduler.EngineEffect.Preempted;
import dev.warmpath.fake.scheduler.EngineEffect.SourceHeld;
import dev.warmpath.worker.WorkerRole;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Queues, passes and their times, with the values that the tests of Dynamo's mocker assert or that
 * follow from its formulas.
 */
class FidelityVectorsSchedulingTest {
  private static final KvTransfer MEGABYTE_TOKENS = new KvTransfer(1_000_000, 1);

  @Test
  void v1BudgetIsSharedAndATokenTakesNoBlockBeforeItIsComputed() {
    CoreScript script = new CoreScript(small(6, 12, 3).prefixCaching(false));
    script.submit(request(1, 8, 4), request(2, 8, 4));

    PassResult pass = script.pass();

    assertThat(pass.onEnd()).containsExactly(new Output(1, 1, null));
    assertThat(script.core.state().running)
        .extracting(Sequence::id, sequence -> sequence.computed)
        .containsExactly(tuple(1L, 8), tuple(2L, 4));
    assertThat(script.core.metrics().waiting()).isZero();
    assertThat(script.active()).isEqualTo(3);
  }

  @Test
  void v2PromptsAreComputedInChunksInOrder() {
    CoreScript script = new CoreScript(small(16, 4, 3));
    script.submit(request(1, 8, 4), request(2, 8, 4));

    script.pass();
    script.pass();

    assertThat(tokens(script.log, 1)).isEqualTo(1);
    assertThat(script.sequence(2).computed).isZero();
  }

  @Test
  void v3PromptsThatFitTheBudgetAreAdmittedAndAnsweredTogether() {
    CoreScript script = new CoreScript(small(16, 8, 3));
    script.submit(request(1, 4, 1), request(2, 4, 1));

    PassResult pass = script.pass();

    assertThat(admitted(pass)).containsExactly(1L, 2L);
    assertThat(pass.onEnd())
        .containsExactly(
            new Output(1, 1, FinishReason.COMPLETED), new Output(2, 1, FinishReason.COMPLETED));
  }

  @Test
  void v4TransferOfAPrefillWorkersPromptTakesItsTime() {
    CoreScript script =
        new CoreScript(small(16, 64, 3).role(WorkerRole.PREFILL).transfer(MEGABYTE_TOKENS));
    script.apply(new EngineCommand.SubmitHandoffPrefill(7, request(1, 8, 1)), Outcome.SUBMITTED);

    PassResult pass = script.pass();

    assertThat(pass.decodeMs()).isZero();
    assertThat(pass.onEnd())
        .containsExactly(new Output(1, 1, FinishReason.COMPLETED), new SourceHeld(7, 1, 8.0));
    assertThat(MEGABYTE_TOKENS.delayMs(128)).isEqualTo(128.0, within(1e-9));
  }

  @Test
  void v5LastAdmittedRequestIsPreemptedAndStartsAgain() {
    CoreScript script = new CoreScript(small(6, 16, 2));
    script.submit(request(1, 8, 8), request(2, 8, 8));

    int passes = 0;
    while (script.core.metrics().preemptions() == 0) {
      script.pass();
      assertThat(++passes).isLessThanOrEqualTo(16);
    }

    assertThat(script.log).contains(new Preempted(2)).doesNotContain(new Preempted(1));
    assertThat(script.sequence(2).computed).isZero();
    assertThat(script.core.state().waiting.getFirst().id()).isEqualTo(2);
    assertThat(script.core.metrics().preemptions()).isEqualTo(1);
  }

  @Test
  void v6SmallerFollowerDoesNotOvertakeTheHead() {
    CoreScript script = new CoreScript(small(6, 16, 3));
    script.submit(request(1, 16, 1), request(2, 12, 1), request(3, 4, 1));

    assertThat(admitted(script.pass())).containsExactly(1L);
    assertThat(admitted(script.pass())).containsExactly(2L, 3L);
    assertThat(script.core.metrics().preemptions()).isZero();
  }

  @Test
  void v7PromptThatCanNeverFitIsRejectedAndItsFollowerAdmittedInTheSamePass() {
    CoreScript script = new CoreScript(small(4, 64, 3));
    script.submit(request(1, 20, 1), request(2, 4, 1));

    PassResult pass = script.pass();

    assertThat(pass.onEnd())
        .containsExactly(
            new Output(1, 0, FinishReason.REJECTED), new Output(2, 1, FinishReason.COMPLETED));
  }

  @Test
  void v8OnlyAPrefixThatSomebodyHoldsIsDiscounted() {
    CoreScript held = new CoreScript(small(3, 64, 3));
    held.apply(new EngineCommand.SubmitHandoffPrefill(7, request(1, 8, 1)), Outcome.SUBMITTED);
    held.pass();
    held.submit(request(2, 1, 12, 1));
    assertThat(held.pass().onStart()).contains(new Admitted(2, 8));

    CoreScript inactive = new CoreScript(small(3, 64, 3));
    inactive.submit(request(1, 8, 1));
    inactive.pass();
    inactive.apply(new EngineCommand.SubmitHandoffPrefill(7, request(3, 4, 1)), Outcome.SUBMITTED);
    inactive.pass();
    inactive.submit(request(2, 1, 12, 1));
    assertThat(admitted(inactive.pass())).isEmpty();
  }

  @Test
  void v9WithoutEvictionWholeOutputsAreReserved() {
    CoreScript script =
        new CoreScript(
            CoreOptions.builder()
                .numBlocks(7319)
                .blockSize(32)
                .admission(AdmissionPolicy.GUARANTEED_NO_EVICT),
            LatencyModel.instant());
    for (int id = 1; id <= 64; id++) {
      script.submit(request(id, 1096, 7000));
    }

    for (int i = 0; i < 20; i++) {
      script.pass();
    }

    assertThat(script.core.metrics().running()).isEqualTo(28);
    assertThat(script.core.metrics().waiting()).isEqualTo(36);
    assertThat(script.core.metrics().preemptions()).isZero();
  }

  @Test
  void v10WithoutEvictionOnlyOneRunsWhereVllmRunsTwo() {
    CoreScript guaranteed =
        new CoreScript(small(6, 64, 3).admission(AdmissionPolicy.GUARANTEED_NO_EVICT));
    guaranteed.submit(request(1, 8, 8), request(2, 8, 8));
    CoreScript optimistic = new CoreScript(small(6, 64, 3));
    optimistic.submit(request(1, 8, 8), request(2, 8, 8));

    assertThat(admitted(guaranteed.pass())).containsExactly(1L);
    assertThat(admitted(optimistic.pass())).containsExactly(1L, 2L);

    guaranteed.drain();
    assertThat(guaranteed.core.metrics().preemptions()).isZero();
    assertThat(tokens(guaranteed.log, 2)).isEqualTo(8);
  }

  @Test
  void v11ForwardPassMetricsHaveTheVarianceOfThePopulation() {
    CoreScript prompts = new CoreScript(small(16, 64, 3));
    prompts.submit(request(1, 4, 1), request(2, 12, 1));
    ForwardPassMetrics two = prompts.pass().forward();
    assertThat(two.prefillRequests()).isEqualTo(2);
    assertThat(two.prefillTokens()).isEqualTo(16);
    assertThat(two.prefillVariance()).isEqualTo(16.0);

    CoreScript chunks = new CoreScript(small(16, 8, 3));
    chunks.submit(request(1, 16, 1));
    for (int chunk = 0; chunk < 2; chunk++) {
      ForwardPassMetrics part = chunks.pass().forward();
      assertThat(part.prefillTokens()).isEqualTo(8);
      assertThat(part.prefixTokens()).isEqualTo(8L * chunk);
      assertThat(part.prefillVariance()).isZero();
    }

    CoreScript queued = new CoreScript(small(8, 64, 3));
    queued.submit(request(9, 12, 4));
    queued.pass();
    for (int length : new int[] {4, 24}) {
      queued.core.apply(
          new EngineCommand.ReserveDestination(length, request(length, length, 1)),
          false,
          queued.now);
    }
    ForwardPassMetrics waiting = queued.pass().forward();
    assertThat(waiting.decodeRequests()).isEqualTo(1);
    assertThat(waiting.decodeTokens()).isEqualTo(13);
    assertThat(waiting.queuedDecodeRequests()).isEqualTo(2);
    assertThat(waiting.queuedDecodeTokens()).isEqualTo(28);
    assertThat(waiting.queuedDecodeVariance()).isEqualTo(100.0);
  }

  @Test
  void v12CachedPrefixIsReusedAndWithDraftsOneBlockLess() {
    CoreScript plain = new CoreScript(small(16, 64, 3));
    CoreScript drafting =
        new CoreScript(small(16, 64, 3).speculation(new Speculation(List.of(1.0), 42)));
    for (CoreScript script : List.of(plain, drafting)) {
      script.submit(request(1, 8, 1));
      script.drain();
      script.submit(request(2, 1, 12, 1));
    }

    PassResult all = plain.pass();
    assertThat(only(Admitted.class, all.onStart())).containsExactly(new Admitted(2, 8));
    assertThat(all.forward().prefillTokens()).isEqualTo(4);
    assertThat(all.forward().prefixTokens()).isEqualTo(8);
    PassResult less = drafting.pass();
    assertThat(only(Admitted.class, less.onStart())).containsExactly(new Admitted(2, 4));
    assertThat(less.forward().prefillTokens()).isEqualTo(8);
    assertThat(less.forward().prefixTokens()).isEqualTo(4);
  }

  @Test
  void v13AcceptedDraftsComeInBursts() {
    CoreScript script =
        new CoreScript(small(16, 64, 3).speculation(new Speculation(List.of(1.0, 1.0), 42)));
    script.submit(request(1, 4, 5), request(2, 4, 8));

    PassResult first = script.pass();
    PassResult second = script.pass();

    assertThat(first.onEnd()).containsExactly(new Output(1, 3, null), new Output(2, 3, null));
    assertThat(second.onEnd())
        .containsExactly(new Output(1, 2, FinishReason.COMPLETED), new Output(2, 3, null));
    assertThat(second.forward().decodeRequests()).isEqualTo(2);
    script.drain();
    assertThat(tokens(script.log, 2)).isEqualTo(8);

    CoreScript rejecting =
        new CoreScript(
            small(16, 64, 3).blockSize(2).speculation(new Speculation(List.of(0.0, 1.0), 42)));
    rejecting.submit(request(1, 3, 8));
    assertThat(rejecting.pass().onEnd()).containsExactly(new Output(1, 1, null));
    assertThat(rejecting.active()).isEqualTo(2);
  }

  @Test
  void v14RequestWithoutOutputEndsWithoutAToken() {
    CoreScript script = new CoreScript(small(6, 64, 3));
    script.submit(request(1, 8, 0));

    PassResult pass = script.pass();

    assertThat(pass.onEnd()).containsExactly(new Output(1, 0, FinishReason.COMPLETED));
    assertThat(script.active()).isZero();
  }

  @Test
  void v17EventsCarryTheTokensOfTheirBlocks() {
    CoreScript script = new CoreScript(small(6, 64, 3));
    script.submit(new EngineRequest(1, IntStream.range(0, 8).toArray(), new int[] {99}, 0));

    List<BlocksStored> stored = only(BlocksStored.class, script.pass().onStart());

    assertThat(stored).hasSize(1);
    assertThat(stored.get(0).blockHashes()).hasSize(2);
    assertThat(stored.get(0).tokens()).containsExactly(0, 1, 2, 3, 4, 5, 6, 7);
    assertThat(stored.get(0).root()).isTrue();
  }

  @Test
  void v18EveryTokenOfManyRequestsIsGeneratedWhateverTheFeatures() {
    for (boolean caching : new boolean[] {false, true}) {
      for (boolean chunked : new boolean[] {false, true}) {
        for (PreemptionMode mode : PreemptionMode.values()) {
          CoreScript script =
              new CoreScript(
                  CoreOptions.builder()
                      .numBlocks(500)
                      .prefixCaching(caching)
                      .chunkedPrefill(chunked)
                      .preemption(mode)
                      .cacheEvents(true));
          for (int id = 1; id <= 200; id++) {
            script.submit(request(id, 1000, 100));
          }

          script.drain();

          List<Output> outputs = only(Output.class, script.log);
          assertThat(outputs).hasSize(20_000).allMatch(output -> output.tokens() == 1);
          assertThat(script.core.isDrained()).isTrue();
          assertThat(only(BlocksStored.class, script.log).isEmpty()).isEqualTo(!caching);
          assertThat(CacheIndex.of(script.log).resident(StorageTier.DEVICE))
              .hasSize(script.core.state().pool.residentHashes());
        }
      }
    }
  }

  @Test
  void v19BlocksOfADroppedRequestAreFree() {
    CoreScript script = new CoreScript(CoreOptions.builder().numBlocks(10));
    script.submit(request(1, 256, 200));
    while (tokens(script.log, 1) < 129) {
      script.pass();
    }
    assertThat(script.active()).isPositive();

    script.apply(new EngineCommand.Cancel(1), Outcome.APPLIED);

    assertThat(script.active()).isZero();
    assertThat(script.core.isDrained()).isTrue();
  }

  @Test
  void v26FirstAndSecondTokenOfALoneRequest() {
    CoreScript script = new CoreScript(CoreOptions.builder());
    script.submit(request(1, 1024, 2));
    assertThat(script.pass().endMs()).isEqualTo(38.283431, within(1e-6));
    assertThat(script.pass().endMs()).isEqualTo(44.079444, within(1e-6));

    CoreScript fromPrefill = new CoreScript(CoreOptions.builder().firstTokenFromPrefill(true));
    fromPrefill.submit(request(1, 1024, 2));
    assertThat(fromPrefill.pass().endMs()).isEqualTo(32.490712, within(1e-6));
  }

  @Test
  void v27FourOfFivePromptsFillThePass() {
    CoreScript script = new CoreScript(CoreOptions.builder());
    for (int id = 1; id <= 5; id++) {
      script.submit(request(id, 2048, 2));
    }

    PassResult first = script.pass();

    assertThat(admitted(first)).containsExactly(1L, 2L, 3L, 4L);
    assertThat(first.prefillMs()).isEqualTo(169.136918, within(1e-6));
    assertThat(admitted(script.pass())).containsExactly(5L);
  }

  @Test
  void v28ChunksArePricedOneByOne() {
    CoreScript script = new CoreScript(CoreOptions.builder());
    script.submit(request(1, 16_384, 1));

    PassResult first = script.pass();
    PassResult second = script.pass();

    assertThat(first.onEnd()).isEmpty();
    assertThat(first.prefillMs() + second.prefillMs()).isEqualTo(338.273837, within(1e-6));
    assertThat(second.onEnd()).containsExactly(new Output(1, 1, FinishReason.COMPLETED));
  }
}
