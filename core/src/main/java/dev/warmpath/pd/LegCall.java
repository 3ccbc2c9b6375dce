package dev.warmpath.pd;

import dev.warmpath.api.RouterTracer.HopTrace;
import dev.warmpath.dispatch.PairDispatch;
import dev.warmpath.dispatch.WorkerClaim;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.worker.WorkerRole;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * One leg on its way: what a {@link PdPort} carries, and tells of. It may be dropped from any
 * thread, before, while and after it is carried; what is told of a leg that is over goes nowhere.
 */
final class LegCall {
  private final PdConductor conductor;
  private final WorkerRole role;
  private final int attempt;
  private final OutboundRequest outbound;
  private final WorkerClaim claim;
  private final HopTrace traced;
  private volatile @Nullable Runnable hangUp;
  private volatile @Nullable CompletionStage<?> aborted;
  private volatile boolean dropped;
  private volatile boolean brokenOff;
  private volatile boolean listenedTo = true;
  private volatile @Nullable LegResult result;

  LegCall(
      PdConductor conductor,
      WorkerRole role,
      int attempt,
      OutboundRequest outbound,
      WorkerClaim claim,
      HopTrace traced) {
    this.conductor = conductor;
    this.role = role;
    this.attempt = attempt;
    this.outbound = outbound;
    this.claim = claim;
    this.traced = traced;
  }

  WorkerRole role() {
    return role;
  }

  int attempt() {
    return attempt;
  }

  /** What is to be sent. */
  OutboundRequest outbound() {
    return outbound;
  }

  WorkerClaim claim() {
    return claim;
  }

  /** Whether nobody wants it any more. */
  boolean dropped() {
    return dropped;
  }

  /** How its carrier said that it ended, or null. */
  @Nullable LegResult result() {
    return result;
  }

  /**
   * It is being sent.
   *
   * @param hangUp ends what carries it
   * @return false when it is not wanted any more and must not be sent
   */
  boolean sending(Runnable hangUp) {
    this.hangUp = hangUp;
    if (dropped) {
      conductor.ended(this, LegResult.broken(LegOutcome.CANCELLED, false, "dropped"), null);
      return false;
    }
    conductor.sent(this);
    if (dropped) {
      drop();
    }
    return true;
  }

  /** Its response began with success. */
  void headers() {
    conductor.headers(this);
  }

  /**
   * Somebody waits for its next payload, or nobody does for a while: only a leg that is listened to
   * can fall silent. It is listened to unless this says otherwise.
   */
  void listening(boolean on) {
    listenedTo = on;
    conductor.listening(on);
    endIfUnheard();
  }

  /** What is broken off while nobody listens ends here: there is nobody to find out. */
  private void endIfUnheard() {
    if (brokenOff && !listenedTo) {
      ended(LegResult.broken(LegOutcome.CANCELLED, true, "dropped"), null);
    }
  }

  /** A payload of its response came. */
  void payload() {
    conductor.payload(this);
  }

  /**
   * It is over.
   *
   * @param handOff what prefill's answer tells decode, or null
   */
  void ended(LegResult end, byte @Nullable [] handOff) {
    result = end;
    conductor.ended(this, end, handOff);
  }

  /** Its session took note of its end. */
  void settled(PairDispatch request, LegOutcome outcome) {
    LegResult end = result;
    request.ended(
        traced, end == null ? 0 : end.status(), outcome == LegOutcome.OK ? null : outcome.label());
  }

  /** Its worker is being told to end it; complete once that was answered, well or not. */
  void abortedBy(CompletionStage<?> answered) {
    aborted = answered;
  }

  /** Nobody wants it any more. */
  void drop() {
    dropped = true;
    Runnable carried = hangUp;
    if (carried != null) {
      afterAbort(
          () -> {
            carried.run();
            brokenOff = true;
            endIfUnheard();
          });
    }
  }

  /** Runs what breaks the connection off: at once, or after the answer to an abort call. */
  void afterAbort(Runnable breakOff) {
    CompletionStage<?> first = aborted;
    if (first == null) {
      breakOff.run();
    } else {
      var unused = first.whenComplete((answer, error) -> breakOff.run());
    }
  }
}
