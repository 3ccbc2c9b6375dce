package dev.warmpath.fake.scheduler;

import static dev.warmpath.fake.scheduler.CoreScript.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.fake.scheduler.CommandResult.Outcome;
import dev.warmpath.fake.scheduler.EngineEffect.BlocksStored;
import dev.warmpath.fake.scheduler.EngineEffect.DestinationReserved;
import dev.warmpath.fake.scheduler.EngineEffect.SourceHeld;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Every order of what can happen to a handoff leaves nothing behind. */
class HandoffInterleavingsTest {

  private static CoreScript script() {
    // too few blocks for everything at once, so that destinations have to wait
    return new CoreScript(CoreScript.small(3, 4, 2));
  }

  private static void any(CoreScript script, EngineCommand command) {
    try {
      script.log.addAll(script.core.apply(command, true, script.now).effects());
    } catch (IllegalArgumentException inUse) {
      // the second submission of an id is refused
    }
  }

  private static void boundary(CoreScript script) {
    if (script.core.hasWork()) {
      script.pass();
    }
    script.log.addAll(script.core.retryDestinations(script.now));
  }

  /** Gives up on everything, as a coordinator does on a timeout, and lets what remains finish. */
  private static void timeOut(CoreScript script) {
    for (int handoff = 1; handoff <= 2; handoff++) {
      any(script, new EngineCommand.CancelSource(handoff));
      any(script, new EngineCommand.CancelDestination(handoff));
      script.apply(new EngineCommand.CancelSource(handoff), Outcome.NOOP);
      script.apply(new EngineCommand.CancelDestination(handoff), Outcome.NOOP);
    }
    script.drain();
  }

  private static void everyOrder(List<Consumer<CoreScript>> steps, int length) {
    int orders = (int) Math.pow(steps.size(), length);
    for (int order = 0; order < orders; order++) {
      CoreScript script = script();
      int rest = order;
      for (int i = 0; i < length; i++) {
        steps.get(rest % steps.size()).accept(script);
        rest /= steps.size();
      }
      timeOut(script);
      if (!script.core.isDrained() || script.active() != 0) {
        throw new AssertionError("order " + order + " leaves something: " + script.log);
      }
      assertThat(CacheIndex.of(script.log).resident(StorageTier.DEVICE))
          .hasSize(script.core.state().pool.residentHashes());
    }
  }

  /** Submits under a request id that was not used before. */
  private static EngineRequest fresh(CoreScript script, int prompt) {
    return request(script.log.size() * 10L + 1000, prompt, 2);
  }

  @Test
  void everyOrderOfOneSourceDrains() {
    everyOrder(
        List.of(
            s -> any(s, new EngineCommand.SubmitHandoffPrefill(1, request(1, 8, 2))),
            s -> any(s, new EngineCommand.ReleaseSource(1)),
            s -> any(s, new EngineCommand.CancelSource(1)),
            s -> any(s, new EngineCommand.Cancel(1)),
            s -> any(s, new EngineCommand.Submit(fresh(s, 3))),
            HandoffInterleavingsTest::boundary),
        6);
  }

  @Test
  void everyOrderOfOneDestinationDrains() {
    everyOrder(
        List.of(
            s -> any(s, new EngineCommand.ReserveDestination(1, request(1, 8, 2))),
            s -> any(s, new EngineCommand.ActivateDestination(1)),
            s -> any(s, new EngineCommand.CancelDestination(1)),
            s -> any(s, new EngineCommand.Cancel(1)),
            s -> any(s, new EngineCommand.Submit(fresh(s, 7))),
            HandoffInterleavingsTest::boundary),
        6);
  }

  @Test
  void everyOrderOfTwoHandoffsOnOneSchedulerDrains() {
    everyOrder(
        List.of(
            s -> any(s, new EngineCommand.SubmitHandoffPrefill(1, request(1, 6, 2))),
            s -> any(s, new EngineCommand.ReserveDestination(1, request(2, 6, 2))),
            s -> any(s, new EngineCommand.ReserveDestination(2, request(3, 8, 2))),
            s -> any(s, new EngineCommand.ActivateDestination(1)),
            s -> any(s, new EngineCommand.ActivateDestination(2)),
            s -> any(s, new EngineCommand.CancelDestination(1)),
            s -> any(s, new EngineCommand.ReleaseSource(1)),
            HandoffInterleavingsTest::boundary),
        5);
  }

  @Test
  void releaseBeforeTheEndOnlyMeansThatNothingIsHeld() {
    CoreScript script = script();
    script.apply(new EngineCommand.SubmitHandoffPrefill(1, request(1, 8, 2)), Outcome.SUBMITTED);
    script.pass();

    assertThat(script.apply(new EngineCommand.ReleaseSource(1), Outcome.APPLIED)).isEmpty();
    script.apply(new EngineCommand.ReleaseSource(1), Outcome.NOOP);
    script.drain();

    assertThat(CoreScript.tokens(script.log, 1)).isEqualTo(2);
    assertThat(CoreScript.only(SourceHeld.class, script.log)).isEmpty();
    assertThat(script.core.isDrained()).isTrue();
  }

  @Test
  void activationPublishesThePromptOnceAndComputesNothingOfIt() {
    CoreScript script = script();
    assertThat(
            script.apply(
                new EngineCommand.ReserveDestination(1, request(1, 8, 3)),
                Outcome.DESTINATION_ACCEPTED))
        .containsExactly(new DestinationReserved(1, 1, 8));
    assertThat(script.core.hasWork()).isFalse();

    List<EngineEffect> activation =
        script.apply(new EngineCommand.ActivateDestination(1), Outcome.APPLIED);
    assertThat(activation)
        .singleElement()
        .isInstanceOfSatisfying(
            BlocksStored.class, stored -> assertThat(stored.blockHashes()).hasSize(2));
    script.apply(new EngineCommand.ActivateDestination(1), Outcome.NOOP);
    PassResult first = script.pass();
    assertThat(first.forward().prefillTokens()).isZero();
    assertThat(first.forward().decodeRequests()).isEqualTo(1);
    script.drain();

    assertThat(CoreScript.tokens(script.log, 1)).isEqualTo(3);
    assertThat(CoreScript.only(BlocksStored.class, script.log)).hasSize(1);
    assertThat(script.core.isDrained()).isTrue();
  }

  @Test
  void pendingDestinationKeepsFreshRequestsOut() {
    CoreScript script = script();
    script.apply(new EngineCommand.SubmitHandoffPrefill(1, request(1, 4, 1)), Outcome.SUBMITTED);
    script.drain();
    script.apply(
        new EngineCommand.ReserveDestination(2, request(2, 12, 2)), Outcome.DESTINATION_ACCEPTED);
    script.submit(request(3, 4, 1));

    assertThat(CoreScript.admitted(script.pass())).isEmpty();

    List<EngineEffect> released = script.apply(new EngineCommand.ReleaseSource(1), Outcome.APPLIED);
    assertThat(CoreScript.only(DestinationReserved.class, released))
        .containsExactly(new DestinationReserved(2, 2, 12));
  }

  @Test
  void reservationThatCanNeverFitIsRefusedBeforeAnythingIsRegistered() {
    CoreScript script = script();

    assertThatThrownBy(
            () ->
                script.core.apply(
                    new EngineCommand.ReserveDestination(1, request(1, 13, 1)), true, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("needs 4 blocks, the pool has 3");

    assertThat(script.core.isDrained()).isTrue();
    script.submit(request(1, 4, 1));
  }
}
