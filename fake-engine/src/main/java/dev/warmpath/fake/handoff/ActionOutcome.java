package dev.warmpath.fake.handoff;

import dev.warmpath.fake.scheduler.CommandResult;

/** What became of a {@link HandoffAction}. */
public enum ActionOutcome {
  /** The source has queued the prompt. */
  SUBMITTED,
  /** The destination has queued the reservation. */
  ACCEPTED,
  /** The transfer is under way. */
  SCHEDULED,
  /** It was done. */
  APPLIED,
  /** There was nothing to do. */
  NOOP,
  /** It could not be done. */
  FAILED;

  /**
   * Returns what a rank's answer means.
   *
   * @param result the answer to the action's command
   * @return the outcome
   */
  public static ActionOutcome of(CommandResult result) {
    return switch (result.outcome()) {
      case SUBMITTED -> SUBMITTED;
      case DESTINATION_ACCEPTED -> ACCEPTED;
      case APPLIED -> APPLIED;
      case NOOP -> NOOP;
    };
  }
}
