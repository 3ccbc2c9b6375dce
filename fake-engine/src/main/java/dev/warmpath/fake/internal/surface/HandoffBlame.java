package dev.warmpath.fake.internal.surface;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the clients of a handoff's two sides hear when it fails, in their engines' words.
 *
 * @param toSource what prefill's client hears; null for nothing
 * @param toDestination what decode's client hears; null for nothing
 */
record HandoffBlame(@Nullable String toSource, @Nullable String toDestination) {
  /** Neither hears anything. */
  static final HandoffBlame NOBODY = new HandoffBlame(null, null);

  private static final String ABORTED = "Aborted by AbortReq.";
  private static final String UNKNOWN = "Failed due to an unknown reason";

  /**
   * How one handoff's failures are told.
   *
   * @param terms how the connector words them
   * @param subject what they call the handoff
   */
  record Words(HandoffTerms terms, String subject) {

    /** A side came that is not wanted any more, or twice. */
    String notWanted() {
      return terms.toDecode("handshake", subject, "it is over or somebody else's");
    }

    /** Prefill has waited for room on a decode worker. */
    HandoffBlame bootstrapExpired(Duration patience) {
      return new HandoffBlame(
          terms.toPrefill("bootstrap", subject, late(patience, "Bootstrapping")),
          terms.toDecode("handshake", subject, UNKNOWN));
    }

    /** Decode has waited for the KV. */
    HandoffBlame waitingExpired(Duration patience) {
      return new HandoffBlame(
          terms.toPrefill("transfer", subject, ABORTED),
          terms.toDecode("transfer", subject, late(patience, "WaitingForInput")));
    }

    private static String late(Duration patience, String where) {
      return "timed out after " + patience.toMillis() / 1e3 + "s in KVPoll." + where;
    }

    /** Prefill's request was dropped. */
    HandoffBlame sourceDropped() {
      return new HandoffBlame(null, terms.toDecode("transfer", subject, UNKNOWN));
    }

    /** Decode's request was dropped. */
    HandoffBlame destinationDropped() {
      return new HandoffBlame(terms.toPrefill("transfer", subject, ABORTED), null);
    }

    /** Prefill's worker is gone. */
    HandoffBlame sourceLost() {
      return new HandoffBlame(null, terms.prefillLost(subject));
    }

    /** Decode's worker is gone. */
    HandoffBlame destinationLost() {
      return new HandoffBlame(terms.toPrefill("transfer", subject, "lost decode"), null);
    }

    /** One of the workers can't or won't. */
    HandoffBlame failed(String why) {
      return new HandoffBlame(
          terms.toPrefill("transfer", subject, why), terms.toDecode("transfer", subject, why));
    }
  }
}
