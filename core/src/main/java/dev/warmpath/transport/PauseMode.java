package dev.warmpath.transport;

/** What becomes of requests that run when an engine is paused. */
public enum PauseMode {
  /** They stand still with their KV cache, and go on when it resumes. */
  KEEP,
  /** They are ended. */
  ABORT,
  /** They go back to the queue, and their KV cache is let go; SGLang only. */
  RETRACT,
  /** They run to their end first; vLLM only. */
  WAIT
}
