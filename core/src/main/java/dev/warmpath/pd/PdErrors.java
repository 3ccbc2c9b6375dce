package dev.warmpath.pd;

import dev.warmpath.api.DeadlineExceededException;
import dev.warmpath.api.PrefillDecodeException;
import dev.warmpath.dispatch.PairDispatch;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What a session's failure is to its caller. */
final class PdErrors {
  private PdErrors() {}

  /**
   * Makes the exception of a failure.
   *
   * @param refusal what choosing a pair threw last, or null
   */
  static RuntimeException of(
      PdFailure failure, PairDispatch request, @Nullable RuntimeException refusal) {
    if (failure.phase() == PdFailure.Phase.SELECT && refusal != null) {
      return refusal;
    }
    if (failure.verdict().equals(PdVerdict.DEADLINE)) {
      return new DeadlineExceededException(request.deadline(), request.attempts());
    }
    return new PrefillDecodeException(
        PrefillDecodeException.Phase.valueOf(failure.phase().name()),
        failure.verdict().blame().name().toLowerCase(Locale.ROOT),
        outcome(failure.prefill()),
        outcome(failure.decode()),
        failure.status(),
        failure.verdict().retryable() && !failure.partialOutput(),
        failure.partialOutput(),
        failure.error(),
        request.attempts(),
        refusal);
  }

  private static String outcome(@Nullable LegOutcome outcome) {
    return outcome == null ? "running" : outcome.label();
  }
}
