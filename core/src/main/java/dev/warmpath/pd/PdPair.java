package dev.warmpath.pd;

import dev.warmpath.policy.Candidate;
import org.jspecify.annotations.Nullable;

/**
 * The two workers of one attempt.
 *
 * @param prefill where the prompt is computed, or null where decode does it all
 * @param decode where the answer is generated
 * @param prefillTraits what pairing knows of the one
 * @param decodeTraits and of the other
 */
record PdPair(
    @Nullable Candidate prefill,
    Candidate decode,
    @Nullable PdTraits prefillTraits,
    PdTraits decodeTraits) {

  /** The rank asked of prefill, or -1. */
  int prefillRank() {
    return prefill == null ? -1 : prefill.target().rank().orElse(-1);
  }

  /** The rank asked of decode, or -1. */
  int decodeRank() {
    return decode.target().rank().orElse(-1);
  }

  /** Whether decode does it all. */
  boolean direct() {
    return prefill == null;
  }

  /** This pair with another decode worker. */
  PdPair with(Candidate other) {
    return new PdPair(prefill, other, prefillTraits, PdTraits.of(other.target().worker()));
  }
}
