package dev.warmpath.fake.scheduler;

/**
 * What happens to requests when generation is paused.
 *
 * <p>The first three are the modes of SGLang's {@code /pause_generation}; vLLM's {@code /pause}
 * calls them {@code abort}, {@code keep} and (for {@link #DRAIN}) {@code wait}.
 */
public enum PauseMode {
  /** Running and waiting requests are aborted. */
  ABORT,
  /** Everything freezes where it is and keeps its KV blocks. */
  IN_PLACE,
  /** Running requests give their blocks back and return to the head of the queue. */
  RETRACT,
  /** What is already known to the scheduler runs to its end; later requests are held. */
  DRAIN
}
