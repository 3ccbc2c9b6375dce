package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.handoff.ActionOutcome;
import dev.warmpath.fake.scheduler.EngineEffect;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what schedulers tell of a handoff until the command that led to it has been answered, since
 * the fact may be heard before the answer. Each fact is given once. Used by one thread at a time.
 */
final class HandoffFacts {
  private EngineEffect.@Nullable SourceHeld held;
  private EngineEffect.@Nullable DestinationReserved reserved;
  private boolean submitted;
  private boolean accepted;

  void hear(EngineEffect effect) {
    if (effect instanceof EngineEffect.SourceHeld fact) {
      held = fact;
    } else if (effect instanceof EngineEffect.DestinationReserved fact) {
      reserved = fact;
    }
  }

  void answered(ActionOutcome outcome) {
    submitted |= outcome == ActionOutcome.SUBMITTED;
    accepted |= outcome == ActionOutcome.ACCEPTED;
  }

  /** That prefill holds its KV; null where that is not so yet, or was taken. */
  EngineEffect.@Nullable SourceHeld takeHeld() {
    EngineEffect.SourceHeld fact = submitted ? held : null;
    held = fact == null ? held : null;
    return fact;
  }

  /** That decode has made room, likewise. */
  EngineEffect.@Nullable DestinationReserved takeReserved() {
    EngineEffect.DestinationReserved fact = accepted ? reserved : null;
    reserved = fact == null ? reserved : null;
    return fact;
  }
}
