package dev.warmpath.pd;

import dev.warmpath.worker.WorkerRole;

/**
 * Who is to blame for the end of an attempt, and what follows.
 *
 * @param blame whom the evidence points at
 * @param counts whether it counts against the blamed worker's circuit breaker
 * @param retryable whether another pair may do better
 */
record PdVerdict(Blame blame, boolean counts, boolean retryable) {

  /** Whom the evidence points at. */
  enum Blame {
    PREFILL,
    DECODE,
    /** Not one worker: what is between them. */
    PAIR,
    /** The request itself. */
    CALLER,
    /** This client or its configuration. */
    CLIENT,
    /** Nobody. */
    NONE;

    static Blame of(WorkerRole role) {
      return role == WorkerRole.PREFILL ? PREFILL : DECODE;
    }

    boolean is(WorkerRole role) {
      return this == of(role);
    }
  }

  /** The request's own deadline: nobody's fault. */
  static final PdVerdict DEADLINE = new PdVerdict(Blame.NONE, false, false);

  /**
   * Reads how a leg ended that nobody had cancelled.
   *
   * @param corruptedBefore whether an earlier attempt ended in corruption, which is retried once
   */
  static PdVerdict of(WorkerRole role, LegResult result, boolean corruptedBefore) {
    if (result.deadline()) {
      return DEADLINE;
    }
    return switch (result.evidence()) {
      case CLIENT_BUG -> new PdVerdict(Blame.CLIENT, false, false);
      case DECODE_ABSENT -> new PdVerdict(Blame.DECODE, true, true);
      case PREFILL_ABSENT -> new PdVerdict(Blame.PREFILL, true, true);
      case CORRUPTION -> new PdVerdict(Blame.DECODE, true, !corruptedBefore);
      case TRANSFER -> new PdVerdict(Blame.PAIR, false, true);
      case NONE -> byOutcome(role, result);
    };
  }

  private static PdVerdict byOutcome(WorkerRole role, LegResult result) {
    Blame self = Blame.of(role);
    if (result.outcome() != LegOutcome.HTTP_ERROR && result.status() == 0) {
      return new PdVerdict(self, true, true);
    }
    int status = result.status();
    if (status == 408 || status == 429 || status == 529) {
      return new PdVerdict(self, false, true);
    }
    if (status >= 400 && status < 500) {
      return new PdVerdict(Blame.CALLER, false, false);
    }
    boolean busy = status == 503 && result.retryAfter() != null;
    boolean worthIt = status == 500 || status == 502 || status == 503 || status == 504;
    return new PdVerdict(self, !busy, worthIt || status < 400);
  }
}
