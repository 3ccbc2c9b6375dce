package dev.warmpath.fake.scheduler;

/** Which running request gives way when the block pool is exhausted. */
public enum PreemptionMode {
  /** The one that was admitted last (vLLM v1). */
  LIFO,
  /** The one that was admitted first. */
  FIFO
}
