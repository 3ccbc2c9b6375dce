package dev.warmpath.api;

import java.time.Duration;
import java.util.List;

/** The request's deadline passed before it was done. */
public final class DeadlineExceededException extends RouterException {
  private static final long serialVersionUID = 1L;

  private final transient List<AttemptRecord> attempts;

  /** Creates the error with what had been tried. */
  public DeadlineExceededException(Duration deadline, List<AttemptRecord> attempts) {
    super(
        "deadline of "
            + deadline.toMillis()
            + " ms passed after "
            + attempts.size()
            + " attempt(s)",
        null);
    this.attempts = List.copyOf(attempts);
  }

  /** The attempts made, first to last. */
  public List<AttemptRecord> attempts() {
    return attempts == null ? List.of() : attempts;
  }
}
