package dev.warmpath.pd;

import java.time.Duration;

/**
 * The session's own limits, part by part, so that the client and not an engine decides when an
 * attempt is over. All are cut to what is left of the request's deadline.
 *
 * @param prefill from sending prefill to the end of its answer
 * @param rendezvous while prefill is not done and decode has sent nothing; below the engines' own
 *     300 s
 * @param grace how long a first payload of decode is held back for prefill's end
 * @param handOff from prefill's end to the sending of decode: engines drop KV that nobody fetches
 * @param firstPayload from prefill's end to decode's first payload of a stream
 * @param idle how long a caller that listens to a stream is kept waiting for its next payload
 * @param drain from decode's end to prefill's
 * @param settle from giving an attempt up to the end of both of its legs
 * @param release for the touch that lets a worker free KV
 * @param abort for an engine's abort call
 */
public record PdTimeouts(
    Duration prefill,
    Duration rendezvous,
    Duration grace,
    Duration handOff,
    Duration firstPayload,
    Duration idle,
    Duration drain,
    Duration settle,
    Duration release,
    Duration abort) {

  /** 120 s, 60 s, 1 s, 5 s, 60 s, 60 s, 5 s, 5 s, 5 s and 2 s. */
  public static final PdTimeouts DEFAULT =
      new PdTimeouts(
          Duration.ofMinutes(2),
          Duration.ofMinutes(1),
          Duration.ofSeconds(1),
          Duration.ofSeconds(5),
          Duration.ofMinutes(1),
          Duration.ofMinutes(1),
          Duration.ofSeconds(5),
          Duration.ofSeconds(5),
          Duration.ofSeconds(5),
          Duration.ofSeconds(2));

  /** Checks that each is positive. */
  public PdTimeouts {
    for (Duration each :
        new Duration[] {
          prefill, rendezvous, grace, handOff, firstPayload, idle, drain, settle, release, abort
        }) {
      if (each.isZero() || each.isNegative()) {
        throw new IllegalArgumentException(
            "a prefill/decode timeout of " + each + " leaves no time: use a positive one");
      }
    }
  }
}
