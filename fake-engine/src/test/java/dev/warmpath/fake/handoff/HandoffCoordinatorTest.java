package dev.warmpath.fake.handoff;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.warmpath.fake.handoff.HandoffAction.Kind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class HandoffCoordinatorTest {
  private static HandoffCoordinator coordinator(HandoffOrder order) {
    return new HandoffCoordinator(HandoffSettings.of(order), 100, 0);
  }

  private static HandoffAction only(List<HandoffAction> actions, Kind kind) {
    assertThat(actions).singleElement().extracting(HandoffAction::kind).isEqualTo(kind);
    return actions.get(0);
  }

  @Test
  void sourceFirstHoldsThenReserves() {
    HandoffCoordinator handoff = coordinator(HandoffOrder.SOURCE_FIRST);

    HandoffAction submit = only(handoff.start(), Kind.SUBMIT_PREFILL);
    assertThat(handoff.outcome(submit.id(), ActionOutcome.SUBMITTED)).isEmpty();
    HandoffAction reserve = only(handoff.sourceHeld(8), Kind.RESERVE_DESTINATION);
    assertThat(handoff.outcome(reserve.id(), ActionOutcome.ACCEPTED)).isEmpty();
    HandoffAction transfer = only(handoff.destinationReserved(12), Kind.START_TRANSFER);
    assertThat(transfer.delayMs()).isEqualTo(8);
    assertThat(handoff.outcome(transfer.id(), ActionOutcome.SCHEDULED)).isEmpty();
    HandoffAction activate = only(handoff.transferCompleted(), Kind.ACTIVATE_DESTINATION);
    HandoffAction release =
        only(handoff.outcome(activate.id(), ActionOutcome.APPLIED), Kind.RELEASE_SOURCE);
    assertThat(handoff.end()).isNull();
    assertThat(handoff.outcome(release.id(), ActionOutcome.APPLIED)).isEmpty();

    assertThat(handoff.end()).isEqualTo(HandoffEnd.SUCCESS);
    assertThat(handoff.abortReason()).isNull();
    assertThat(handoff.deadlineMs()).isInfinite();
  }

  @Test
  void destinationFirstReservesThenComputes() {
    HandoffCoordinator handoff = coordinator(HandoffOrder.DESTINATION_FIRST);

    HandoffAction reserve = only(handoff.start(), Kind.RESERVE_DESTINATION);
    handoff.outcome(reserve.id(), ActionOutcome.ACCEPTED);
    HandoffAction submit = only(handoff.destinationReserved(12), Kind.SUBMIT_PREFILL);
    handoff.outcome(submit.id(), ActionOutcome.SUBMITTED);
    HandoffAction transfer = only(handoff.sourceHeld(3), Kind.START_TRANSFER);
    handoff.outcome(transfer.id(), ActionOutcome.SCHEDULED);
    HandoffAction activate = only(handoff.transferCompleted(), Kind.ACTIVATE_DESTINATION);
    HandoffAction release =
        only(handoff.outcome(activate.id(), ActionOutcome.APPLIED), Kind.RELEASE_SOURCE);
    handoff.outcome(release.id(), ActionOutcome.NOOP);

    assertThat(handoff.end()).isEqualTo(HandoffEnd.SUCCESS);
  }

  /** Drives a source-first handoff until an action of this kind has been issued. */
  private static HandoffAction upTo(HandoffCoordinator handoff, Kind last) {
    List<HandoffAction> next = new ArrayList<>(handoff.start());
    while (true) {
      HandoffAction action = next.remove(0);
      if (action.kind() == last) {
        return action;
      }
      switch (action.kind()) {
        case SUBMIT_PREFILL -> {
          next.addAll(handoff.outcome(action.id(), ActionOutcome.SUBMITTED));
          next.addAll(handoff.sourceHeld(10));
        }
        case RESERVE_DESTINATION -> {
          next.addAll(handoff.outcome(action.id(), ActionOutcome.ACCEPTED));
          next.addAll(handoff.destinationReserved(25));
        }
        case START_TRANSFER -> {
          next.addAll(handoff.outcome(action.id(), ActionOutcome.SCHEDULED));
          next.addAll(handoff.transferCompleted());
        }
        default -> next.addAll(handoff.outcome(action.id(), ActionOutcome.APPLIED));
      }
    }
  }

  private static List<Kind> kinds(List<HandoffAction> actions) {
    return actions.stream().map(HandoffAction::kind).toList();
  }

  @ParameterizedTest
  @EnumSource(AbortReason.class)
  void givingUpCancelsWhatWasAskedEvenUnanswered(AbortReason reason) {
    HandoffCoordinator fresh = coordinator(HandoffOrder.SOURCE_FIRST);
    assertThat(fresh.abort(reason)).isEmpty();
    assertThat(fresh.end()).isEqualTo(HandoffEnd.CANCELED);
    assertThat(fresh.start()).isEmpty();

    HandoffCoordinator asked = coordinator(HandoffOrder.SOURCE_FIRST);
    upTo(asked, Kind.SUBMIT_PREFILL);
    List<HandoffAction> cleanup = asked.abort(reason);
    assertThat(kinds(cleanup)).containsExactly(Kind.CANCEL_SOURCE);
    assertThat(asked.abort(AbortReason.CANCELED)).isEmpty();
    asked.outcome(cleanup.get(0).id(), ActionOutcome.NOOP);
    assertThat(asked.end()).isEqualTo(HandoffEnd.CANCELED);
    assertThat(asked.abortReason()).isEqualTo(reason);

    HandoffCoordinator both = coordinator(HandoffOrder.SOURCE_FIRST);
    HandoffAction reserve = upTo(both, Kind.RESERVE_DESTINATION);
    cleanup = both.abort(reason);
    assertThat(kinds(cleanup)).containsExactly(Kind.CANCEL_SOURCE, Kind.CANCEL_DESTINATION);
    assertThat(both.outcome(reserve.id(), ActionOutcome.ACCEPTED)).isEmpty();
    assertThat(both.destinationReserved(25)).isEmpty();
    both.outcome(cleanup.get(0).id(), ActionOutcome.APPLIED);
    assertThat(both.end()).isNull();
    both.outcome(cleanup.get(1).id(), ActionOutcome.APPLIED);
    assertThat(both.end()).isEqualTo(HandoffEnd.CANCELED);
  }

  @ParameterizedTest
  @EnumSource(
      value = Kind.class,
      names = {
        "SUBMIT_PREFILL",
        "RESERVE_DESTINATION",
        "START_TRANSFER",
        "ACTIVATE_DESTINATION",
        "RELEASE_SOURCE"
      })
  void failedActionLeadsToCleanup(Kind kind) {
    HandoffCoordinator handoff = coordinator(HandoffOrder.SOURCE_FIRST);
    HandoffAction action = upTo(handoff, kind);

    List<HandoffAction> cleanup = handoff.outcome(action.id(), ActionOutcome.FAILED);

    assertThat(kinds(cleanup)).startsWith(Kind.CANCEL_SOURCE);
    assertThat(cleanup).hasSize(kind == Kind.SUBMIT_PREFILL ? 1 : 2);
    assertThat(handoff.abortReason()).isEqualTo(AbortReason.FAILED);
  }

  @Test
  void missingDestinationCanNotBeActivated() {
    HandoffCoordinator handoff = coordinator(HandoffOrder.SOURCE_FIRST);
    HandoffAction activate = upTo(handoff, Kind.ACTIVATE_DESTINATION);

    assertThat(kinds(handoff.outcome(activate.id(), ActionOutcome.NOOP)))
        .containsExactly(Kind.CANCEL_SOURCE, Kind.CANCEL_DESTINATION);
  }

  @Test
  void failedCleanupIsAnError() {
    HandoffCoordinator handoff = coordinator(HandoffOrder.SOURCE_FIRST);
    upTo(handoff, Kind.SUBMIT_PREFILL);
    HandoffAction cancel = only(handoff.abort(AbortReason.CANCELED), Kind.CANCEL_SOURCE);

    assertThatIllegalStateException()
        .isThrownBy(() -> handoff.outcome(cancel.id(), ActionOutcome.FAILED))
        .withMessageContaining("CANCEL_SOURCE failed");
  }

  @Test
  void repeatedFactsAndOutcomesChangeNothing() {
    HandoffCoordinator handoff = coordinator(HandoffOrder.SOURCE_FIRST);
    HandoffAction activate = upTo(handoff, Kind.ACTIVATE_DESTINATION);

    assertThat(handoff.sourceHeld(10)).isEmpty();
    assertThat(handoff.destinationReserved(25)).isEmpty();
    assertThat(handoff.transferCompleted()).isEmpty();
    assertThat(handoff.outcome(0, ActionOutcome.SUBMITTED)).isEmpty();
    assertThat(handoff.outcome(activate.id(), ActionOutcome.APPLIED)).hasSize(1);
    assertThat(handoff.outcome(activate.id(), ActionOutcome.APPLIED)).isEmpty();
  }

  @Test
  void contradictionsAreErrors() {
    HandoffCoordinator handoff = coordinator(HandoffOrder.SOURCE_FIRST);
    HandoffAction activate = upTo(handoff, Kind.ACTIVATE_DESTINATION);
    handoff.outcome(activate.id(), ActionOutcome.APPLIED);

    assertThatIllegalStateException()
        .isThrownBy(() -> handoff.outcome(activate.id(), ActionOutcome.NOOP))
        .withMessageContaining("was APPLIED and can't be NOOP");
    assertThatIllegalStateException().isThrownBy(() -> handoff.sourceHeld(11));
    assertThatIllegalStateException().isThrownBy(() -> handoff.destinationReserved(26));
    assertThatIllegalStateException()
        .isThrownBy(() -> handoff.outcome(0, ActionOutcome.ACCEPTED))
        .withMessageContaining("can't be ACCEPTED");
    assertThatIllegalStateException().isThrownBy(() -> handoff.outcome(99, ActionOutcome.NOOP));
    assertThatIllegalStateException().isThrownBy(handoff::start);
  }

  @Test
  void factsBeforeTheirCauseAreErrors() {
    HandoffCoordinator handoff = coordinator(HandoffOrder.SOURCE_FIRST);
    assertThatIllegalStateException().isThrownBy(() -> handoff.sourceHeld(1));
    HandoffAction submit = only(handoff.start(), Kind.SUBMIT_PREFILL);
    assertThatIllegalStateException()
        .isThrownBy(() -> handoff.sourceHeld(1))
        .withMessage("held before it was submitted");
    assertThatIllegalStateException().isThrownBy(() -> handoff.destinationReserved(1));
    assertThatIllegalStateException().isThrownBy(handoff::transferCompleted);
    handoff.outcome(submit.id(), ActionOutcome.SUBMITTED);
    handoff.sourceHeld(1);
    assertThatIllegalStateException()
        .isThrownBy(() -> handoff.destinationReserved(1))
        .withMessage("reserved before it was accepted");
  }

  @ParameterizedTest
  @ValueSource(doubles = {-1, Double.NaN, Double.POSITIVE_INFINITY})
  void transferTimesMustBeTimes(double transferMs) {
    HandoffCoordinator handoff = coordinator(HandoffOrder.SOURCE_FIRST);
    HandoffAction submit = only(handoff.start(), Kind.SUBMIT_PREFILL);
    handoff.outcome(submit.id(), ActionOutcome.SUBMITTED);

    assertThatIllegalArgumentException().isThrownBy(() -> handoff.sourceHeld(transferMs));
  }

  @Test
  void timeOfTheTransferDoesNotCountTowardsTheTimeout() {
    HandoffCoordinator handoff = coordinator(HandoffOrder.SOURCE_FIRST);
    assertThat(handoff.deadlineMs()).isEqualTo(300_000);

    upTo(handoff, Kind.START_TRANSFER);

    assertThat(handoff.deadlineMs()).isEqualTo(300_010);
    assertThat(handoff.expire(300_009.9)).isEmpty();
    assertThat(kinds(handoff.expire(300_010)))
        .containsExactly(Kind.CANCEL_SOURCE, Kind.CANCEL_DESTINATION);
    assertThat(handoff.abortReason()).isEqualTo(AbortReason.TIMED_OUT);
    assertThat(handoff.deadlineMs()).isInfinite();
  }

  @Test
  void transferMayBeChargedForWhatTheDestinationLacks() {
    HandoffSettings settings =
        new HandoffSettings(HandoffOrder.SOURCE_FIRST, TransferTiming.DESTINATION_MISSING, 1_000);

    HandoffAction partly = upTo(new HandoffCoordinator(settings, 100, 0), Kind.START_TRANSFER);
    HandoffAction rounded = upTo(new HandoffCoordinator(settings, 24, 0), Kind.START_TRANSFER);

    assertThat(partly.delayMs()).isEqualTo(2.5);
    assertThat(rounded.delayMs()).isEqualTo(10);
  }
}
