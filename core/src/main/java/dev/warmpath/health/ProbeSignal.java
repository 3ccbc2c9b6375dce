package dev.warmpath.health;

/** What one health probe says of a worker. */
enum ProbeSignal {
  /** It answers that it can serve. */
  PASS,
  /** No connection came about: nobody is there. */
  REFUSED,
  /** It answers that it can't serve (a 5xx). */
  UNHEALTHY,
  /**
   * It did not answer in time, or the answer broke off or made no sense: it may be dead or only
   * busy, so it counts as a failure only without proof of life.
   */
  SLOW,
  /** The probe itself failed on this side, or was called off: nothing is learnt. */
  INCONCLUSIVE
}
