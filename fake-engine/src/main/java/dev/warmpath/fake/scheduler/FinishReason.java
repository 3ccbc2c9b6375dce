package dev.warmpath.fake.scheduler;

/** Why a request left the scheduler. */
public enum FinishReason {
  /** It generated everything that was planned, or reached the model's context length. */
  COMPLETED,
  /** It was cancelled: by its client, by an abort call or by a pause that aborts. */
  ABORTED,
  /** It can never fit: its prompt reaches the model's context length or exceeds the whole pool. */
  REJECTED
}
