package dev.warmpath.api;

import java.util.Map;

/** No worker can serve the request: none is known, or none serves its model or role. */
public final class NoWorkerAvailableException extends RouterException {
  private static final long serialVersionUID = 1L;

  private final transient Map<String, String> reasons;

  /**
   * Creates the error.
   *
   * @param what what was asked for, such as {@code model 'm'}
   * @param reasons why not, by worker address
   */
  public NoWorkerAvailableException(String what, Map<String, String> reasons) {
    super(
        reasons.isEmpty()
            ? "no worker is known for " + what
            : "no worker can serve " + what + ": " + reasons,
        null);
    this.reasons = Map.copyOf(reasons);
  }

  /** Why each known worker can't serve the request, by address. */
  public Map<String, String> reasons() {
    return reasons == null ? Map.of() : reasons;
  }
}
