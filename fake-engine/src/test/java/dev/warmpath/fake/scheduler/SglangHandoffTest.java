package dev.warmpath.fake.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.fake.scheduler.CommandResult.Outcome;
import dev.warmpath.fake.scheduler.EngineCommand.ActivateDestination;
import dev.warmpath.fake.scheduler.EngineCommand.Cancel;
import dev.warmpath.fake.scheduler.EngineCommand.CancelDestination;
import dev.warmpath.fake.scheduler.EngineCommand.CancelSource;
import dev.warmpath.fake.scheduler.EngineCommand.ReleaseSource;
import dev.warmpath.fake.scheduler.EngineCommand.ReserveDestination;
import dev.warmpath.fake.scheduler.EngineCommand.Submit;
import dev.warmpath.fake.scheduler.EngineCommand.SubmitHandoffPrefill;
import dev.warmpath.fake.scheduler.EngineEffect.Admitted;
import dev.warmpath.fake.scheduler.EngineEffect.BlocksStored;
import dev.warmpath.fake.scheduler.EngineEffect.DestinationReserved;
import dev.warmpath.fake.scheduler.EngineEffect.Output;
import dev.warmpath.fake.scheduler.EngineEffect.SourceHeld;
import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** SGLang's part in handoffs, in which the destination comes first. */
class SglangHandoffTest {
  private static SglangCore core(int pages, int running, WorkerRole role) {
    CoreOptions options =
        CoreOptions.builder()
            .numBlocks(pages)
            .blockSize(4)
            .maxNumSeqs(running)
            .cacheEvents(true)
            .role(role)
            .transfer(new KvTransfer(1_000_000, 1))
            .build();
    return new SglangCore(
        SglangOptions.builder(options).chunkedPrefillSize(64).build(), LatencyModel.polynomial());
  }

  private static SglangCore core(int pages) {
    return core(pages, 4, WorkerRole.REGULAR);
  }

  private static EngineRequest request(long id, int from, int length, int output) {
    return new EngineRequest(
        id, IntStream.range(from, from + length).toArray(), new int[output], 0);
  }

  private static Outcome outcome(SglangCore core, EngineCommand command) {
    return core.apply(command, true, 0).outcome();
  }

  private static List<EngineEffect> effects(SglangCore core, EngineCommand command) {
    return core.apply(command, true, 0).effects();
  }

  private static List<EngineEffect> drain(SglangCore core) {
    List<EngineEffect> effects = new ArrayList<>();
    for (int i = 0; core.hasWork(); i++) {
      assertThat(i).isLessThan(1_000);
      PassResult pass = core.executePass(0);
      effects.addAll(pass.onStart());
      effects.addAll(pass.onEnd());
    }
    return effects;
  }

  private static int stored(List<EngineEffect> effects) {
    return (int) effects.stream().filter(BlocksStored.class::isInstance).count();
  }

  @Test
  void sourceKeepsItsPagesUntilItIsReleased() {
    SglangCore core = core(16, 1, WorkerRole.PREFILL);
    assertThat(outcome(core, new SubmitHandoffPrefill(7, request(1, 0, 8, 2))))
        .isEqualTo(Outcome.SUBMITTED);

    assertThat(core.executePass(0).onEnd()).contains(new Output(1, 1, null));
    PassResult last = core.executePass(0);

    assertThat(last.onEnd().subList(last.onEnd().size() - 2, last.onEnd().size()))
        .containsExactly(new Output(1, 1, FinishReason.COMPLETED), new SourceHeld(7, 1, 8.0));
    assertThat(core.metrics().running()).isZero();
    assertThat(core.hasWork()).isFalse();
    assertThat(core.isDrained()).isFalse();
    assertThat(core.metrics().activeBlocks()).isEqualTo(3);
    assertThat(effects(core, new EngineCommand.Flush()))
        .containsExactly(new EngineEffect.FlushAnswered(false));

    assertThat(outcome(core, new ReleaseSource(7))).isEqualTo(Outcome.APPLIED);

    assertThat(core.metrics().activeBlocks()).isZero();
    assertThat(core.metrics().cachedBlocks()).isEqualTo(2);
    assertThat(core.apply(new ReleaseSource(7), true, 0))
        .isEqualTo(new CommandResult(Outcome.NOOP, List.of()));
    assertThat(core.isDrained()).isTrue();
  }

  @Test
  void transferIsTimedByThePromptAlone() {
    SglangCore core = core(64);
    outcome(core, new SubmitHandoffPrefill(7, request(1, 0, 128, 1)));

    assertThat(drain(core)).contains(new SourceHeld(7, 1, 128.0));
  }

  @Test
  void sourceThatIsReleasedEarlyHoldsNothing() {
    SglangCore core = core(16);
    outcome(core, new SubmitHandoffPrefill(7, request(1, 0, 8, 2)));

    assertThat(outcome(core, new ReleaseSource(7))).isEqualTo(Outcome.APPLIED);
    assertThat(outcome(core, new ReleaseSource(7))).isEqualTo(Outcome.NOOP);

    assertThat(drain(core))
        .contains(new Output(1, 1, FinishReason.COMPLETED))
        .noneMatch(SourceHeld.class::isInstance);
    assertThat(core.isDrained()).isTrue();
  }

  @Test
  void cancelledSourceDropsItsRequestAndIdsAreFreeAgain() {
    SglangCore core = core(16);
    outcome(core, new SubmitHandoffPrefill(7, request(1, 0, 8, 2)));
    assertThatThrownBy(() -> outcome(core, new SubmitHandoffPrefill(7, request(2, 0, 8, 2))))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> outcome(core, new SubmitHandoffPrefill(8, request(1, 0, 8, 2))))
        .isInstanceOf(IllegalArgumentException.class);
    core.executePass(0);

    assertThat(effects(core, new CancelSource(7)))
        .containsExactly(new Output(1, 0, FinishReason.ABORTED));
    assertThat(outcome(core, new CancelSource(7))).isEqualTo(Outcome.NOOP);
    assertThat(core.isDrained()).isTrue();

    outcome(core, new SubmitHandoffPrefill(7, request(1, 0, 8, 1)));
    assertThat(drain(core)).contains(new SourceHeld(7, 1, 8.0));
    assertThat(effects(core, new CancelSource(7))).as("it has ended before").isEmpty();
    assertThat(core.isDrained()).isTrue();
  }

  @Test
  void cancelReachesAHeldSource() {
    SglangCore core = core(16);
    outcome(core, new SubmitHandoffPrefill(7, request(1, 0, 8, 1)));
    drain(core);

    assertThat(core.apply(new Cancel(1), true, 0))
        .isEqualTo(new CommandResult(Outcome.APPLIED, List.of()));
    assertThat(outcome(core, new ReleaseSource(7))).isEqualTo(Outcome.NOOP);
    assertThat(core.isDrained()).isTrue();
  }

  @Test
  void reservationCoversThePromptAndNoOutput() {
    for (int output : new int[] {1, 128}) {
      SglangCore core = core(64);

      assertThat(core.apply(new ReserveDestination(7, request(1, 0, 10, output)), true, 0))
          .isEqualTo(
              new CommandResult(
                  Outcome.DESTINATION_ACCEPTED, List.of(new DestinationReserved(7, 1, 12))));
      assertThat(core.metrics().activeBlocks()).isEqualTo(3);
    }
  }

  @Test
  void cachedPrefixIsNotTransferred() {
    SglangCore core = core(64);
    outcome(core, new Submit(request(1, 0, 4, 1)));
    drain(core);

    assertThat(effects(core, new ReserveDestination(7, request(2, 0, 8, 2))))
        .containsExactly(new DestinationReserved(7, 2, 4));
    assertThat(effects(core, new ReserveDestination(8, request(3, 0, 4, 2))))
        .containsExactly(new DestinationReserved(8, 3, 0));
  }

  @Test
  void arrivedPromptIsStoredOnceAndNeverComputed() {
    SglangCore core = core(64, 1, WorkerRole.REGULAR);
    outcome(core, new Submit(request(9, 1000, 4, 3)));
    core.executePass(0);
    outcome(core, new ReserveDestination(7, request(1, 0, 8, 2)));
    assertThat(core.metrics().waiting()).isEqualTo(1);
    assertThat(core.metrics().waitingTokens()).isEqualTo(8);

    CommandResult activated = core.apply(new ActivateDestination(7), true, 0);
    assertThat(activated.outcome()).isEqualTo(Outcome.APPLIED);
    assertThat(stored(activated.effects())).isEqualTo(1);
    assertThat(outcome(core, new ActivateDestination(7))).isEqualTo(Outcome.NOOP);

    List<EngineEffect> effects = drain(core);
    assertThat(effects)
        .as("after the one that runs, and without a hit")
        .containsSubsequence(
            new Output(9, 1, FinishReason.COMPLETED),
            new Admitted(1, 0),
            new Output(1, 1, null),
            new Output(1, 1, FinishReason.COMPLETED));
    assertThat(stored(effects)).isZero();
    assertThat(core.metrics().promptTokens()).as("prompts computed here").isEqualTo(4);
    assertThat(core.isDrained()).isTrue();
    assertThat(core.pool().locked()).isZero();
  }

  @Test
  void nothingIsStoredBeforeTheActivation() {
    SglangCore core = core(64);

    assertThat(stored(effects(core, new ReserveDestination(7, request(1, 0, 8, 2))))).isZero();
    assertThat(core.executePass(0).progressed()).isFalse();
    assertThat(stored(effects(core, new CancelDestination(7)))).isZero();
    assertThat(core.metrics().cachedBlocks()).isZero();
  }

  @Test
  void destinationIsCancelledInEveryPhaseExactlyOnce() {
    for (int phase = 0; phase < 4; phase++) {
      SglangCore core = core(4);
      if (phase == 0) {
        outcome(core, new ReserveDestination(99, request(99, 500, 12, 1)));
      }
      outcome(core, new ReserveDestination(7, request(1, 0, 8, 4)));
      if (phase > 1) {
        outcome(core, new ActivateDestination(7));
      }
      if (phase > 2) {
        core.executePass(0);
        assertThat(core.metrics().running()).isEqualTo(1);
      }

      assertThat(effects(core, new CancelDestination(7)))
          .containsExactly(new Output(1, 0, FinishReason.ABORTED));
      assertThat(outcome(core, new CancelDestination(7))).isEqualTo(Outcome.NOOP);

      outcome(core, new CancelDestination(99));
      assertThat(core.isDrained()).as("phase %s", phase).isTrue();
      assertThat(core.metrics().activeBlocks()).isZero();
      assertThat(core.metrics().waiting()).isZero();
      assertThat(core.metrics().waitingTokens()).isZero();
    }
  }

  @Test
  void onlyTheHeadOfTheLineIsTriedAndOncePerChange() {
    SglangCore core = core(4);
    outcome(core, new ReserveDestination(1, request(1, 0, 12, 1)));
    assertThat(effects(core, new ReserveDestination(2, request(2, 100, 8, 1)))).isEmpty();
    assertThat(effects(core, new ReserveDestination(3, request(3, 200, 4, 1))))
        .as("a smaller one does not overtake")
        .isEmpty();
    assertThat(core.retryDestinations(0)).isEmpty();

    assertThat(effects(core, new CancelDestination(1)))
        .containsExactly(
            new Output(1, 0, FinishReason.ABORTED),
            new DestinationReserved(2, 2, 8),
            new DestinationReserved(3, 3, 4));
  }

  @Test
  void commandDuringAPassLeavesTheReservationToTheBoundary() {
    SglangCore core = core(8);

    CommandResult accepted = core.apply(new ReserveDestination(7, request(1, 0, 8, 1)), false, 0);

    assertThat(accepted).isEqualTo(new CommandResult(Outcome.DESTINATION_ACCEPTED, List.of()));
    assertThat(core.retryDestinations(0)).containsExactly(new DestinationReserved(7, 1, 8));
    assertThat(core.retryDestinations(0)).isEmpty();
  }

  @Test
  void duplicatePagesOfAnArrivalServeTheNextReservation() {
    SglangCore core = core(4);
    outcome(core, new ReserveDestination(1, request(1, 0, 8, 2)));
    outcome(core, new ReserveDestination(2, request(2, 0, 8, 2)));
    outcome(core, new ActivateDestination(1));
    assertThat(effects(core, new ReserveDestination(3, request(3, 100, 8, 2)))).isEmpty();

    assertThat(effects(core, new ActivateDestination(2)))
        .containsExactly(new DestinationReserved(3, 3, 8));
  }

  @Test
  void promptLargerThanThePoolIsRefused() {
    SglangCore core = core(2);

    assertThatThrownBy(() -> outcome(core, new ReserveDestination(7, request(1, 0, 9, 1))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("9 tokens");
    assertThat(core.isDrained()).isTrue();
  }

  @Test
  void blockedByAReservationItWaitsUntilThatIsCancelled() {
    SglangCore core = core(2, 2, WorkerRole.DECODE);
    outcome(core, new ReserveDestination(7, request(1, 0, 8, 1)));
    outcome(core, new Submit(request(2, 100, 4, 1)));
    assertThat(core.hasWork()).isTrue();

    PassResult blocked = core.executePass(0);
    assertThat(blocked.progressed()).isFalse();
    assertThat(blocked.forward().queuedPrefillRequests()).isEqualTo(1);
    assertThat(blocked.forward().queuedPrefillTokens()).isEqualTo(4);
    assertThat(blocked.forward().queuedDecodeRequests()).isEqualTo(1);
    assertThat(blocked.forward().queuedDecodeTokens()).isEqualTo(8);

    assertThat(outcome(core, new CancelDestination(7))).isEqualTo(Outcome.APPLIED);
    PassResult awake = core.executePass(0);
    assertThat(awake.onEnd()).contains(new Output(2, 1, FinishReason.COMPLETED));
    assertThat(awake.prefillMs()).as("a decode worker").isZero();
  }

  @Test
  void everyDestinationIsCountedOnceAsAQueuedDecode() {
    SglangCore core = core(6, 1, WorkerRole.DECODE);
    outcome(core, new ReserveDestination(1, request(1, 0, 4, 1)));
    assertThat(core.executePass(0).forward().queuedDecodeTokens()).isEqualTo(4);
    outcome(core, new ReserveDestination(2, request(2, 100, 24, 1)));

    ForwardPassMetrics mixed = core.executePass(0).forward();
    assertThat(mixed.queuedDecodeRequests()).isEqualTo(2);
    assertThat(mixed.queuedDecodeTokens()).isEqualTo(28);
    assertThat(mixed.queuedDecodeVariance()).isEqualTo(100.0);
    assertThat(core.metrics().waiting()).isEqualTo(2);

    outcome(core, new CancelDestination(2));
    outcome(core, new Submit(request(3, 200, 4, 2)));
    core.executePass(0);
    outcome(core, new ActivateDestination(1));
    ForwardPassMetrics activated = core.executePass(0).forward();
    assertThat(activated.queuedPrefillRequests()).isZero();
    assertThat(activated.queuedDecodeRequests()).isEqualTo(1);
    assertThat(activated.queuedDecodeTokens()).isEqualTo(4);
    assertThat(core.executePass(0).forward().queuedDecodeRequests()).isZero();
    assertThat(core.isDrained()).isTrue();
  }

  @Test
  void freshRequestsDoNotTakeWhatADestinationWaitsFor() {
    SglangCore core = core(8);
    outcome(core, new Submit(request(1, 0, 12, 6)));
    core.executePass(0);
    outcome(core, new ReserveDestination(7, request(2, 100, 20, 1)));
    outcome(core, new Submit(request(3, 200, 4, 1)));

    assertThat(core.executePass(0).onStart()).isEmpty();
    List<EngineEffect> effects = new ArrayList<>();
    while (core.metrics().running() > 0) {
      effects.addAll(core.executePass(0).onStart());
    }
    assertThat(effects).isEmpty();
    assertThat(core.retryDestinations(0)).contains(new DestinationReserved(7, 2, 20));
    assertThat(core.executePass(0).onStart()).containsExactly(new Admitted(3, 0));
  }

  @Test
  void aRunningRequestAndAnArrivedOneDoNotWaitForEachOther() {
    SglangCore core = core(4, 1, WorkerRole.REGULAR);
    outcome(core, new Submit(request(1, 0, 4, 8)));
    core.executePass(0);
    outcome(core, new ReserveDestination(7, request(2, 100, 8, 2)));
    outcome(core, new ActivateDestination(7));

    List<EngineEffect> effects = drain(core);

    assertThat(effects)
        .contains(
            new EngineEffect.Preempted(2),
            new Output(1, 1, FinishReason.COMPLETED),
            new Output(2, 1, FinishReason.COMPLETED));
    assertThat(core.isDrained()).isTrue();
  }

  /** The order that a coordinator sees when the destination comes first. */
  @Test
  void destinationFirstFromEndToEnd() {
    CoreOptions.Builder options =
        CoreOptions.builder().numBlocks(64).blockSize(4).cacheEvents(true);
    SglangCore source =
        new SglangCore(
            SglangOptions.builder(options.role(WorkerRole.PREFILL).build())
                .chunkedPrefillSize(64)
                .build(),
            LatencyModel.polynomial());
    SglangCore destination =
        new SglangCore(
            SglangOptions.builder(options.role(WorkerRole.DECODE).build()).build(),
            LatencyModel.polynomial());
    List<String> order = new ArrayList<>();

    CommandResult reserved =
        destination.apply(new ReserveDestination(7, request(1, 0, 192, 2)), true, 0);
    order.add(reserved.outcome().name());
    reserved.effects().forEach(effect -> order.add(effect.getClass().getSimpleName()));
    outcome(source, new SubmitHandoffPrefill(7, request(1, 0, 192, 1)));
    List<Integer> prefilled = new ArrayList<>();
    while (source.hasWork()) {
      PassResult pass = source.executePass(0);
      prefilled.add(pass.forward().prefillTokens());
      assertThat(pass.decodeMs()).as("the first token belongs to the prefill pass").isZero();
      pass.onEnd().stream()
          .filter(effect -> effect.kind() == EngineEffect.Kind.LIFECYCLE)
          .forEach(effect -> order.add(effect.getClass().getSimpleName()));
    }
    order.add("activated " + outcome(destination, new ActivateDestination(7)));
    order.add("released " + outcome(source, new ReleaseSource(7)));
    int tokens = 0;
    while (destination.hasWork()) {
      PassResult pass = destination.executePass(0);
      assertThat(pass.forward().prefillRequests()).isZero();
      assertThat(pass.onEnd()).noneMatch(BlocksStored.class::isInstance);
      tokens += (int) pass.onEnd().stream().filter(Output.class::isInstance).count();
    }

    assertThat(order)
        .containsExactly(
            "DESTINATION_ACCEPTED",
            "DestinationReserved",
            "SourceHeld",
            "activated APPLIED",
            "released APPLIED");
    assertThat(prefilled).containsExactly(64, 64, 64);
    assertThat(tokens).isEqualTo(2);
    assertThat(source.isDrained()).isTrue();
    assertThat(destination.isDrained()).isTrue();
  }
}
