package dev.warmpath.health;

import java.util.Locale;

/**
 * A way in which a rank that answers its probes does its work badly, or in which it can't be told
 * whether it does it. Each has a signal, a number that grows with the trouble; {@link
 * DegradationSettings} says from where on it counts, until when, and what it costs in traffic.
 */
public enum DegradationMode {
  /**
   * Requests run and no token comes. The signal is for how many seconds nothing in its telemetry
   * has moved while requests ran, and no request of this client has had a sign of life there.
   * Engines answer health probes and load polls from another process than the one that computes: a
   * scheduler that hangs repeats its last figures.
   */
  STUCK,
  /**
   * The KV pool is full and requests wait for it, so that what runs is preempted and computed
   * again. The signal is the pool's usage, 0..1; without a queue a full pool is only well used.
   */
  KV_FULL,
  /**
   * More comes than it can do: the queue grows while throughput does not. The signal is the number
   * of readings that showed this, less those that showed a shrinking queue; 0 without a queue.
   */
  OVERLOADED,
  /**
   * It is far slower than its like. The signal is what this client's quicker requests there take to
   * their first byte over the median of all ranks with the same role and models, while it is used
   * and both are known.
   */
  LATENCY,
  /**
   * This client's requests fail there, not yet or no longer often enough for its circuit breaker.
   * The signal is the share of failures among late requests, 0..1.
   */
  FAILING,
  /**
   * Its telemetry has stopped, so that its load is a guess. The signal is the age of the last
   * reading over {@link HealthSettings#telemetryStaleAfter()}; a rank that never had any is unknown
   * and not degraded.
   */
  STALE,
  /**
   * It was down or suspect and comes back, or has restarted: a cold engine compiles, and its cache
   * is empty. Has no signal; its share of traffic grows by itself, see {@link
   * DegradationSettings#slowStart()}.
   */
  RECOVERING;

  private final String label = name().toLowerCase(Locale.ROOT);

  /**
   * Whether it only means that there is too much to do. Somebody who sends requests to where their
   * prompts' KV is stays there through that: to compute them anew elsewhere makes more to do.
   */
  public boolean busy() {
    return this == KV_FULL || this == OVERLOADED;
  }

  /** The lower-case name used in views and decisions. */
  public String label() {
    return label;
  }
}
