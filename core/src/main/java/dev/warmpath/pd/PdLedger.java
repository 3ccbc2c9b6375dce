package dev.warmpath.pd;

import dev.warmpath.dispatch.PairDispatch;
import dev.warmpath.dispatch.WorkerClaim;
import dev.warmpath.worker.WorkerRole;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Gives back what the attempts of one session hold, and writes down what they came to: places and
 * permits, rooms, counters and the request's own record. Used by one thread at a time.
 */
final class PdLedger {
  private final PdShared shared;
  private final PairDispatch request;

  PdLedger(PdShared shared, PairDispatch request) {
    this.shared = shared;
    this.request = request;
  }

  /**
   * A pair was chosen.
   *
   * @param nanos how long that took
   */
  void paired(PdAttempt at, long nanos) {
    shared.counters().attempts.increment();
    if (at.direct()) {
      shared.counters().direct.increment();
    }
    if (at.number() == 1) {
      request.routed(nanos);
    }
    request.attempting(at.number(), at.workers());
  }

  /** A leg has ended: its worker gets its place back, and its breaker a word. */
  void settled(PdAttempt at, PdAction.Settled settled, long now) {
    WorkerRole role = settled.role();
    shared.counters().leg(role.label(), settled.outcome());
    LegCall leg = at.leg(role);
    if (leg != null && settled.outcome() == LegOutcome.NOT_SENT) {
      leg.drop();
    }
    if (leg != null) {
      leg.settled(request, settled.outcome());
    }
    WorkerClaim claim = at.claim(role);
    if (claim == null) {
      return;
    }
    LegResult result = leg == null ? null : leg.result();
    Duration retryAfter = result == null ? null : result.retryAfter();
    switch (settled.judgement()) {
      case SUCCEEDED ->
          claim.succeeded(
              role == WorkerRole.PREFILL ? (now - at.begun()) / 1e6 : at.firstPayloadMillis());
      case FAILED -> claim.failed(retryAfter);
      case NEUTRAL -> claim.neutral(retryAfter);
    }
  }

  /** Prefill has ended well. */
  void prefilled(PdAttempt at, long now) {
    WorkerClaim claim = at.claim(WorkerRole.PREFILL);
    if (claim != null) {
      shared.counters().prefill.record(claim.candidate().target().toString(), now - at.begun());
    }
  }

  /** The caller may have decode's first payload. */
  void released(PdAttempt at, long now) {
    String decode = at.pair().decode().target().toString();
    shared.counters().firstPayload.record(decode, now - at.begun());
    long sincePrefill = at.sincePrefill(now);
    if (sincePrefill >= 0) {
      shared.counters().handOff.record(decode, sincePrefill);
    }
    request.firstByte();
  }

  /** Both legs of an attempt have ended. */
  void retired(PdAttempt at, @Nullable PdFailure failure, long now) {
    if (at.ids().room() != 0) {
      shared.registry().retire(at.ids().room(), now);
    }
    LegCall decode = at.leg(WorkerRole.DECODE);
    LegCall prefill = at.leg(WorkerRole.PREFILL);
    LegResult last = decode == null ? null : decode.result();
    boolean well = last != null && last.outcome() == LegOutcome.OK && failure == null;
    request.attempted(at.record(well ? null : at.failure(prefill, decode, failure), now));
  }

  /** The session is over. */
  void closed(@Nullable PdAttempt at, PdState end, @Nullable PdFailure why) {
    String mode = at == null ? "none" : at.direct() ? "direct" : at.protocol().shape().label();
    shared.counters().session(mode, end.name().toLowerCase(Locale.ROOT));
    if (end == PdState.FAILED && why != null) {
      shared.counters().failure(why.phase().name().toLowerCase(Locale.ROOT));
    }
  }
}
