package dev.warmpath.fake.scheduler;

import java.util.Objects;

/**
 * What can be asked of an {@link EngineCore}.
 *
 * <p>A handoff moves a prompt's KV from a prefill worker, the source, to a decode worker, the
 * destination. Its id is chosen by the coordinator, and both sides know it by that id. Commands
 * about a handoff are idempotent: the second one of a kind answers {@link
 * CommandResult.Outcome#NOOP}.
 */
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
   * Drops a request and frees its blocks, wherever it is: queued, running, held as a source,
   * waiting for a destination or holding one.
   *
   * @param requestId the id it was submitted with
   */
  record Cancel(long requestId) implements EngineCommand {}

  /**
   * Adds a request whose KV stays after its end until {@link ReleaseSource} or {@link
   * CancelSource}.
   *
   * @param handoffId the handoff it is the source of
   * @param request the sequence to compute
   */
  record SubmitHandoffPrefill(long handoffId, EngineRequest request) implements EngineCommand {
    /** Checks that the request is present. */
    public SubmitHandoffPrefill {
      Objects.requireNonNull(request, "request");
    }
  }

  /**
   * Frees the source's KV. Before the request's end it only means that nothing will be held.
   *
   * @param handoffId the handoff
   */
  record ReleaseSource(long handoffId) implements EngineCommand {}

  /**
   * Frees the source's KV; before the request's end it drops the request as well.
   *
   * @param handoffId the handoff
   */
  record CancelSource(long handoffId) implements EngineCommand {}

  /**
   * Asks for blocks for a prompt that was computed elsewhere. Reservations are served in order.
   *
   * @param handoffId the handoff
   * @param request the sequence whose prompt will arrive
   */
  record ReserveDestination(long handoffId, EngineRequest request) implements EngineCommand {
    /** Checks that the request is present. */
    public ReserveDestination {
      Objects.requireNonNull(request, "request");
    }
  }

  /**
   * Says that the reserved prompt has arrived; the request now waits for a place in the running
   * set.
   *
   * @param handoffId the handoff
   */
  record ActivateDestination(long handoffId) implements EngineCommand {}

  /**
   * Drops the destination's request, whether it is pending, reserved or active.
   *
   * @param handoffId the handoff
   */
  record CancelDestination(long handoffId) implements EngineCommand {}

  /**
   * Takes in the KV of a prompt that was computed elsewhere and that no request waits for: its
   * complete blocks are cached from then on, as if a request had left them. Oldest cached blocks
   * make room; {@link CommandResult.Outcome#NOOP} where there is too little of it, where everything
   * is there already, or without a prefix cache.
   *
   * @param request whose prompt it is; its id is of no consequence
   */
  record StorePrefix(EngineRequest request) implements EngineCommand {
    /** Checks that the request is present. */
    public StorePrefix {
      Objects.requireNonNull(request, "request");
    }
  }

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
