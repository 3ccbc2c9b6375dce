package dev.warmpath.pd;

/** Where a session stands. The last three are ends. */
enum PdState {
  NEW,
  /** A pair is being chosen. */
  SELECTING,
  /** Concurrent: both legs are being sent. */
  DISPATCHING,
  /** Concurrent: both were sent, decode has not begun to answer. */
  AWAITING,
  /** Sequential: prefill computes. */
  PREFILLING,
  /** Sequential: prefill has handed over, decode is not sent yet. */
  HOLDING,
  /** Decode was sent after prefill, or alone. */
  STARTING_DECODE,
  /** A payload of decode's has been released to the caller. */
  STREAMING,
  /** The caller has its answer; prefill has not ended. */
  DRAINING,
  /** The attempt is given up; its legs are ending. */
  ABORTING,
  /** Sequential, cancelled: KV that nobody will fetch is being released. */
  RELEASING,
  COMPLETED,
  FAILED,
  CANCELLED;

  boolean terminal() {
    return this == COMPLETED || this == FAILED || this == CANCELLED;
  }
}
