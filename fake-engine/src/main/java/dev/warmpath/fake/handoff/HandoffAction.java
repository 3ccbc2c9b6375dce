package dev.warmpath.fake.handoff;

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
}
