package dev.warmpath.dispatch;

import java.time.Duration;

/**
 * How many requests this client has out at once, and who waits. Waiting here beats waiting in an
 * engine's queue: the choice of worker is made when there is room, with the state of that moment.
 *
 * @param maxInFlightPerRank requests this client sends at once, times the number of ranks; 256 is
 *     the usual {@code max_num_seqs} of an engine, beyond which it only queues
 * @param queueSize requests that wait at most, of all priorities; one more is refused at once
 * @param maxWait longest wait, if the request's own deadline is not shorter
 */
public record AdmissionSettings(int maxInFlightPerRank, int queueSize, Duration maxWait) {

  /** 256 in flight per rank, 1,024 waiting, 30 s. */
  public static final AdmissionSettings DEFAULT =
      new AdmissionSettings(256, 1_024, Duration.ofSeconds(30));

  /** Checks the ranges. */
  public AdmissionSettings {
    if (maxInFlightPerRank < 1 || queueSize < 0 || maxWait.isNegative()) {
      throw new IllegalArgumentException(
          "admission needs maxInFlightPerRank of at least 1, queueSize and maxWait of at least 0");
    }
  }
}
