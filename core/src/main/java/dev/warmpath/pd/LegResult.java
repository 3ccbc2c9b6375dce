package dev.warmpath.pd;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a leg ended, as far as its exchange can tell.
 *
 * @param outcome its end
 * @param status the response's status, or 0 where none arrived
 * @param reached whether the worker may have seen the request: false only where that is certain
 * @param evidence what the error's words tell
 * @param retryAfter how long the worker asked to be left alone, or null
 * @param deadline whether the request's own deadline ended it
 * @param handOff whether the answer carries what decode needs to fetch the KV
 * @param error a few words for people, without payload
 */
record LegResult(
    LegOutcome outcome,
    int status,
    boolean reached,
    PdEvidence evidence,
    @Nullable Duration retryAfter,
    boolean deadline,
    boolean handOff,
    String error) {

  /** A success. */
  static LegResult ok(boolean handOff) {
    return new LegResult(LegOutcome.OK, 200, true, PdEvidence.NONE, null, false, handOff, "");
  }

  /** An error status. */
  static LegResult status(int status, PdEvidence evidence, @Nullable Duration retryAfter) {
    return new LegResult(
        LegOutcome.HTTP_ERROR,
        status,
        true,
        evidence,
        retryAfter,
        false,
        false,
        "status " + status);
  }

  /**
   * Whether the worker turned the request down at its door, so that what it was to fetch is still
   * to be fetched. An error of its own tells nothing of the kind, and neither does a timeout that a
   * gateway reports.
   */
  boolean refused() {
    boolean busy = status == 529 || (status == 503 && retryAfter != null);
    boolean refusal = status >= 400 && status < 500 && status != 408;
    return outcome == LegOutcome.HTTP_ERROR && evidence == PdEvidence.NONE && (busy || refusal);
  }

  /** Whether the worker may have begun to do what it was asked for. */
  boolean begun() {
    return reached && !refused();
  }

  /** An end that is no status. */
  static LegResult broken(LegOutcome outcome, boolean reached, String error) {
    return new LegResult(outcome, 0, reached, PdEvidence.NONE, null, false, false, error);
  }

  /** An engine that gives a generation up unasked has not answered. */
  static LegResult aborted() {
    return broken(LegOutcome.PROTOCOL_ERROR, true, "the generation was aborted");
  }

  /** The same end, as that of the whole request's deadline. */
  LegResult byDeadline() {
    return new LegResult(
        outcome, status, reached, evidence, retryAfter, true, handOff, "deadline passed");
  }
}
