package dev.warmpath.pd;

import dev.warmpath.pd.PdAction.Judgement;
import dev.warmpath.worker.WorkerRole;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The two legs of a session's attempt: ends them, once each, and says what is to be done about one
 * that nobody wants any more. Used by one thread at a time.
 */
final class PdLegs {
  private final List<PdAction> out;
  private PdLeg prefill = new PdLeg();
  private PdLeg decode = new PdLeg();
  private boolean aborts;

  /**
   * Creates legs of no attempt.
   *
   * @param out receives what is to be done
   */
  PdLegs(List<PdAction> out) {
    this.out = out;
  }

  PdLeg prefill() {
    return prefill;
  }

  PdLeg decode() {
    return decode;
  }

  PdLeg of(WorkerRole role) {
    return role == WorkerRole.PREFILL ? prefill : decode;
  }

  /**
   * Takes those of a new attempt.
   *
   * @param engineAborts whether the engine has an abort call
   */
  void renew(boolean engineAborts) {
    prefill = new PdLeg();
    decode = new PdLeg();
    aborts = engineAborts;
  }

  /** Takes another decode leg, for the same prefill. */
  void renewDecode() {
    decode = new PdLeg();
  }

  boolean ended() {
    return prefill.ended() && decode.ended();
  }

  /** Ends a leg, unless it has ended. */
  void settle(WorkerRole role, LegOutcome end, Judgement judgement) {
    if (of(role).end(end)) {
      out.add(new PdAction.Settled(role, end, judgement));
    }
  }

  /** A leg will not be sent. */
  void notSent(WorkerRole role) {
    settle(role, LegOutcome.NOT_SENT, Judgement.NEUTRAL);
  }

  /** Whether a leg's end counts against its worker: a victim's never does. */
  static Judgement judgement(WorkerRole role, @Nullable PdVerdict verdict) {
    return verdict != null && verdict.counts() && verdict.blame().is(role)
        ? Judgement.FAILED
        : Judgement.NEUTRAL;
  }

  /** Nobody wants a leg any more: it ends, or is told to. */
  void drop(WorkerRole role) {
    PdLeg leg = of(role);
    LegOutcome end = leg.outcome();
    if (leg.running()) {
      abort(role);
      out.add(new PdAction.Drop(role));
    } else if (end == null) {
      notSent(role);
    } else if (leg.progress() != PdLeg.Progress.IDLE
        && (end == LegOutcome.IO_ERROR || end == LegOutcome.PROTOCOL_ERROR)) {
      // The connection is gone; what it asked for may go on.
      abort(role);
    }
  }

  /** Has the engine's abort call made for a leg, where there is one. */
  void abort(WorkerRole role) {
    if (aborts) {
      out.add(new PdAction.Abort(role));
    }
  }
}
