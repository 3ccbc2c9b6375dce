package dev.warmpath.fake.handoff;

import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineRequest;
import java.util.Objects;

/**
 * Something that a {@link HandoffCoordinator} wants done. Whoever does it reports one {@link
 * ActionOutcome} under the action's id.
 *
 * @param id unique within the handoff
 * @param kind what to do
 * @param delayMs for {@link Kind#START_TRANSFER} how long the transfer takes, in milliseconds;
 *     otherwise 0
 */
public record HandoffAction(int id, Kind kind, double delayMs) {

  /** What there is to do. */
  public enum Kind {
    /** Queue the prompt on the source. */
    SUBMIT_PREFILL,
    /** Queue a reservation on the destination. */
    RESERVE_DESTINATION,
    /** Move the KV. */
    START_TRANSFER,
    /** Let the destination generate. */
    ACTIVATE_DESTINATION,
    /** Let the source forget the KV. */
    RELEASE_SOURCE,
    /** Undo whatever the source has done; part of the cleanup. */
    CANCEL_SOURCE,
    /** Undo whatever the destination has done; part of the cleanup. */
    CANCEL_DESTINATION
  }

  /** Checks that the kind is present. */
  public HandoffAction {
    Objects.requireNonNull(kind, "kind");
  }

  /**
   * Returns the command that does it on its side's rank.
   *
   * @param handoffId the handoff's number on that rank
   * @param request the side's request, which only the first command of a side brings along
   * @return the command
   * @throws IllegalStateException for {@link Kind#START_TRANSFER}, which is no rank's business
   */
  public EngineCommand command(long handoffId, EngineRequest request) {
    return switch (kind) {
      case SUBMIT_PREFILL -> new EngineCommand.SubmitHandoffPrefill(handoffId, request);
      case RELEASE_SOURCE -> new EngineCommand.ReleaseSource(handoffId);
      case CANCEL_SOURCE -> new EngineCommand.CancelSource(handoffId);
      case RESERVE_DESTINATION -> new EngineCommand.ReserveDestination(handoffId, request);
      case ACTIVATE_DESTINATION -> new EngineCommand.ActivateDestination(handoffId);
      case CANCEL_DESTINATION -> new EngineCommand.CancelDestination(handoffId);
      case START_TRANSFER -> throw new IllegalStateException("a transfer is nobody's command");
    };
  }
}
