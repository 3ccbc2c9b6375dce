package dev.warmpath.fake.handoff;

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
  FAILED
}
