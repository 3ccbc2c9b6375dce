package dev.warmpath.fake.scheduler;

import java.util.Objects;

/** What can be asked of an {@link EngineCore}. */
public sealed interface EngineCommand {

  /**
   * Adds a request to the tail of the queue.
   *
   * @param request the sequence to compute
   */
  record Submit(EngineRequest request) implements EngineCommand {
    /** Checks that the request is present. */
    public Submit {
      Objects.requireNonNull(request, "request");
    }
  }

  /**
   * Drops a request and frees its blocks. Unknown ids are ignored.
   *
   * @param requestId the id it was submitted with
   */
  record Cancel(long requestId) implements EngineCommand {}

  /** Empties the prefix cache; refused unless nothing is running or queued. */
  record Flush() implements EngineCommand {}

  /**
   * Stops passes until {@link Resume}. Requests submitted meanwhile are held, not refused.
   *
   * @param mode what happens to the requests that are already there
   */
  record Pause(PauseMode mode) implements EngineCommand {
    /** Checks that the mode is present. */
    public Pause {
      Objects.requireNonNull(mode, "mode");
    }
  }

  /** Ends a pause. */
  record Resume() implements EngineCommand {}
}
