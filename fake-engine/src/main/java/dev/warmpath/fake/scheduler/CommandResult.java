package dev.warmpath.fake.scheduler;

import java.util.List;
import java.util.Objects;

/**
 * What became of a command.
 *
 * @param outcome the answer to whoever sent it
 * @param effects what it changed, in order; empty for a command without visible consequence
 */
public record CommandResult(Outcome outcome, List<EngineEffect> effects) {

  /** The answer to a command. A command that can't be carried out throws instead. */
  public enum Outcome {
    /** The request is queued. */
    SUBMITTED,
    /**
     * The reservation is queued; {@link EngineEffect.DestinationReserved} follows, maybe at once.
     */
    DESTINATION_ACCEPTED,
    /** The state changed as asked. */
    APPLIED,
    /** There was nothing to change: the target is unknown or already in the state asked for. */
    NOOP
  }

  /** Copies the effects. */
  public CommandResult {
    Objects.requireNonNull(outcome, "outcome");
    effects = List.copyOf(effects);
  }

  static CommandResult of(Outcome outcome) {
    return new CommandResult(outcome, List.of());
  }
}
