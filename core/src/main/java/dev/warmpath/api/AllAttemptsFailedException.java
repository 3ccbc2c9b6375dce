package dev.warmpath.api;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Every attempt failed, or the retry budget was spent. {@link #attempts()} tells each one's worker,
 * phase and time.
 */
public final class AllAttemptsFailedException extends RouterException {
  private static final long serialVersionUID = 1L;

  private final transient List<AttemptRecord> attempts;

  /** Creates the error from the attempts, first to last, and the last one's cause. */
  public AllAttemptsFailedException(List<AttemptRecord> attempts, @Nullable Throwable cause) {
    super(
        attempts.stream()
            .map(
                attempt ->
                    attempt.worker()
                        + " "
                        + attempt.phase()
                        + (attempt.status() > 0 ? " " + attempt.status() : "")
                        + " after "
                        + attempt.elapsed().toMillis()
                        + " ms"
                        + (attempt.error() == null ? "" : " (" + attempt.error() + ")"))
            .collect(
                Collectors.joining("; ", "all " + attempts.size() + " attempt(s) failed: ", "")),
        cause);
    this.attempts = List.copyOf(attempts);
  }

  /** The attempts, first to last. */
  public List<AttemptRecord> attempts() {
    return attempts == null ? List.of() : attempts;
  }
}
