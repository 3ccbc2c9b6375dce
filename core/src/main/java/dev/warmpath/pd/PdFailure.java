package dev.warmpath.pd;

import org.jspecify.annotations.Nullable;

/**
 * Why a session failed.
 *
 * @param phase how far it had come
 * @param verdict whose fault it was
 * @param prefill how prefill ended, or null where it had not
 * @param decode how decode ended, or null where it had not
 * @param status the status that was answered, or 0
 * @param partialOutput whether the caller has had part of the answer
 * @param error a few words without payload
 */
record PdFailure(
    Phase phase,
    PdVerdict verdict,
    @Nullable LegOutcome prefill,
    @Nullable LegOutcome decode,
    int status,
    boolean partialOutput,
    String error) {

  /** The same failure, told when both legs have ended. */
  PdFailure ended(@Nullable LegOutcome prefillEnd, @Nullable LegOutcome decodeEnd) {
    return new PdFailure(phase, verdict, prefillEnd, decodeEnd, status, partialOutput, error);
  }

  /** How far a session had come. */
  enum Phase {
    SELECT,
    PREFILL,
    RENDEZVOUS,
    HANDOFF,
    DECODE_START,
    DECODE_STREAM
  }
}
