package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.fake.scheduler.EngineEffect.Admitted;
import dev.warmpath.fake.scheduler.EngineEffect.BlockRemoved;
import dev.warmpath.fake.scheduler.EngineEffect.BlocksStored;
import dev.warmpath.fake.scheduler.EngineEffect.FlushAnswered;
import dev.warmpath.fake.scheduler.EngineEffect.Output;
import dev.warmpath.fake.scheduler.EngineEffect.Preempted;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What the fidelity vectors leave out. */
class VllmCoreTest {
  private static CoreOptions.Builder small(int blocks, int budget, int sequences) {
    return CoreOptions.builder()
        .numBlocks(blocks)
        .blockSize(4)
        .maxNumBatchedTokens(budget)
        .maxNumSeqs(sequences);
  }

  private static VllmCore core(CoreOptions.Builder options) {
    return new VllmCore(options.build(), LatencyModel.polynomial());
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

  private static List<EngineEffect> drain(EngineCore core) {
    List<EngineEffect> effects = new ArrayList<>();
    for (int i = 0; core.hasWork(); i++) {
      assertThat(i).as("passes").isLessThan(100_000);
      PassResult pass = core.executePass(0);
      effects.addAll(pass.onStart());
      effects.addAll(pass.onEnd());
    }
    return effects;
  }

  @Test
  void fifoPreemptsTheOldest() {
    VllmCore core = core(small(6, 16, 2).preemption(PreemptionMode.FIFO));
    submit(core, request(1, 8, 8), request(2, 8, 8));

    List<EngineEffect> effects = drain(core);

    assertThat(effects.stream().filter(Preempted.class::isInstance).findFirst())
        .contains(new Preempted(1));
    assertThat(effects.stream().filter(Output.class::isInstance)).hasSize(16);
  }

  @Test
  void promptAtTheContextLengthIsRejectedAndGenerationStopsAtIt() {
    VllmCore core = core(small(16, 64, 3).maxModelLen(10));
    submit(core, request(1, 10, 4), request(2, 8, 50));

    List<EngineEffect> effects = drain(core);

    assertThat(effects)
        .filteredOn(Output.class::isInstance)
        .containsExactly(
            new Output(1, 0, FinishReason.REJECTED),
            new Output(2, 1, null),
            new Output(2, 1, FinishReason.COMPLETED));
  }

  @Test
  void oneTokenOfAFullyCachedPromptIsComputedAgainUnlessNothingIsGenerated() {
    VllmCore core = core(small(16, 64, 3));
    submit(core, request(1, 8, 1));
    drain(core);
    int[] prompt = IntStream.range(100_000, 100_008).toArray();

    submit(core, new EngineRequest(2, prompt, new int[] {1}, 0));
    assertThat(core.executePass(0).onStart()).contains(new Admitted(2, 4));
    submit(core, new EngineRequest(3, prompt, new int[0], 0));
    PassResult pass = core.executePass(0);

    assertThat(pass.onStart()).contains(new Admitted(3, 8));
    assertThat(pass.durationMs()).isZero();
    assertThat(pass.onEnd()).containsExactly(new Output(3, 0, FinishReason.COMPLETED));
  }

  @Test
  void namespacesDoNotShareBlocks() {
    VllmCore core = core(small(16, 64, 3));
    submit(core, request(1, 8, 1));
    drain(core);

    int[] prompt = IntStream.range(100_000, 100_008).toArray();
    submit(core, new EngineRequest(2, prompt, new int[] {1}, 7));

    assertThat(core.executePass(0).onStart()).contains(new Admitted(2, 0));
  }

  @Test
  void laterRequestOfTheSamePassHitsWhatAnEarlierOneIsAboutToCompute() {
    VllmCore core = core(small(16, 64, 3));
    int[] prompt = IntStream.range(0, 12).toArray();
    submit(
        core,
        new EngineRequest(1, prompt, new int[] {1}, 0),
        new EngineRequest(2, prompt, new int[] {1}, 0));

    PassResult pass = core.executePass(0);

    assertThat(pass.onStart()).contains(new Admitted(1, 0), new Admitted(2, 8));
  }

  @Test
  void suffixesAreEvictedBeforePrefixes() {
    VllmCore core = core(small(3, 64, 3).cacheEvents(true));
    submit(core, request(1, 8, 1));
    List<EngineEffect> seeded = drain(core);
    BlocksStored stored =
        (BlocksStored)
            seeded.stream().filter(BlocksStored.class::isInstance).findFirst().orElseThrow();
    assertThat(stored.blockHashes()).hasSize(2);
    assertThat(stored.root()).isTrue();
    assertThat(stored.tokens()).isEqualTo(IntStream.range(100_000, 100_008).toArray());

    submit(core, request(2, 8, 1));
    List<EngineEffect> effects = drain(core);

    assertThat(effects)
        .filteredOn(BlockRemoved.class::isInstance)
        .containsExactly(new BlockRemoved(StorageTier.DEVICE, stored.blockHashes()[1]));
  }

  @Test
  void unchunkedPromptWaitsForAPassOfItsOwn() {
    VllmCore core = core(small(16, 8, 3).chunkedPrefill(false));
    submit(core, request(1, 4, 1), request(2, 8, 1));

    assertThat(admitted(core.executePass(0))).containsExactly(1L);
    assertThat(admitted(core.executePass(0))).containsExactly(2L);
  }

  @Test
  void cancelFreesBlocksInAnyState() {
    VllmCore core = core(small(6, 4, 1));
    submit(core, request(1, 8, 4), request(2, 8, 4));
    core.executePass(0);

    assertThat(apply(core, new EngineCommand.Cancel(2)))
        .containsExactly(new Output(2, 0, FinishReason.ABORTED));
    assertThat(apply(core, new EngineCommand.Cancel(1)))
        .containsExactly(new Output(1, 0, FinishReason.ABORTED));
    assertThat(apply(core, new EngineCommand.Cancel(1))).isEmpty();

    assertThat(core.metrics().activeBlocks()).isZero();
    assertThat(core.hasWork()).isFalse();
  }

  @Test
  void flushIsRefusedWhileBusyAndForgetsPrefixesWhenIdle() {
    VllmCore core = core(small(6, 64, 3));
    submit(core, request(1, 8, 2));
    core.executePass(0);
    assertThat(apply(core, new EngineCommand.Flush())).containsExactly(new FlushAnswered(false));
    drain(core);
    assertThat(core.metrics().cachedBlocks()).isEqualTo(2);

    assertThat(apply(core, new EngineCommand.Flush())).contains(new FlushAnswered(true));

    assertThat(core.metrics().cachedBlocks()).isZero();
    int[] prompt = IntStream.range(100_000, 100_008).toArray();
    submit(core, new EngineRequest(2, prompt, new int[] {1}, 0));
    assertThat(core.executePass(0).onStart()).contains(new Admitted(2, 0));
  }

  @Test
  void pauseThatAbortsEndsEverything() {
    VllmCore core = core(small(6, 4, 1));
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
  void pauseInPlaceKeepsBlocksAndBlocksAFlush() {
    VllmCore core = core(small(6, 64, 3));
    submit(core, request(1, 8, 4));
    core.executePass(0);

    assertThat(apply(core, new EngineCommand.Pause(PauseMode.IN_PLACE))).isEmpty();

    assertThat(core.hasWork()).isFalse();
    assertThat(core.metrics().activeBlocks()).isEqualTo(2);
    assertThat(apply(core, new EngineCommand.Flush())).containsExactly(new FlushAnswered(false));
    apply(core, new EngineCommand.Resume());
    assertThat(drain(core)).contains(new Output(1, 1, FinishReason.COMPLETED));
  }

  @Test
  void pauseThatRetractsKeepsTheOrderAndAllowsAFlush() {
    VllmCore core = core(small(16, 64, 3));
    submit(core, request(1, 8, 4), request(2, 8, 4));
    core.executePass(0);

    assertThat(apply(core, new EngineCommand.Pause(PauseMode.RETRACT)))
        .containsExactlyInAnyOrder(new Preempted(1), new Preempted(2));
    assertThat(core.metrics().activeBlocks()).isZero();
    assertThat(apply(core, new EngineCommand.Flush())).contains(new FlushAnswered(true));
    apply(core, new EngineCommand.Resume());

    assertThat(admitted(core.executePass(0))).containsExactly(1L, 2L);
  }

  @Test
  void pauseThatDrainsHoldsOnlyWhatComesLater() {
    VllmCore core = core(small(16, 64, 3));
    submit(core, request(1, 8, 2));
    apply(core, new EngineCommand.Pause(PauseMode.DRAIN));
    submit(core, request(2, 8, 1));

    assertThat(drain(core)).contains(new Output(1, 1, FinishReason.COMPLETED));
    assertThat(core.metrics().waiting()).isEqualTo(1);
    apply(core, new EngineCommand.Resume());

    assertThat(drain(core)).contains(new Output(2, 1, FinishReason.COMPLETED));
  }

  @Test
  void idInUseIsRefused() {
    VllmCore core = core(small(6, 64, 3));
    submit(core, request(1, 4, 1));
    assertThatThrownBy(() -> apply(core, new EngineCommand.Submit(request(1, 4, 1))))
        .isInstanceOf(IllegalArgumentException.class);
    drain(core);
    submit(core, request(1, 4, 1));
    assertThat(drain(core)).contains(new Output(1, 1, FinishReason.COMPLETED));
  }
}
