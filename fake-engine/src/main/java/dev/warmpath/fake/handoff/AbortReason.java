package dev.warmpath.fake.handoff;

/** Why a handoff was given up. */
public enum AbortReason {
  /** An action failed, or a side was lost. */
  FAILED,
  /** It took too long. */
  TIMED_OUT,
  /** Its client no longer wants it. */
  CANCELED
}
