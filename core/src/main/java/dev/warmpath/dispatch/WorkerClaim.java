package dev.warmpath.dispatch;

import dev.warmpath.api.Usage;
import dev.warmpath.policy.Candidate;
import dev.warmpath.prompt.Prompt;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One worker's part in a request that takes several: its place in the in-flight counts, its
 * breaker's leave, and what the index was told. Ends exactly once, by the first of {@link
 * #succeeded}, {@link #failed} and {@link #neutral}; later calls do nothing. Thread safe.
 */
public final class WorkerClaim {
  private final Dispatcher dispatcher;
  private final Candidate candidate;
  private final DispatchLease lease;
  private final CircuitBreaker.Permit permit;
  private final PrefixFeed.Ticket ticket;
  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile double firstByteMillis = Double.NaN;

  WorkerClaim(
      Dispatcher dispatcher,
      Candidate candidate,
      DispatchLease lease,
      CircuitBreaker.Permit permit,
      PrefixFeed.Ticket ticket) {
    this.dispatcher = dispatcher;
    this.candidate = candidate;
    this.lease = lease;
    this.permit = permit;
    this.ticket = ticket;
  }

  /** Whose part it is. */
  public Candidate candidate() {
    return candidate;
  }

  /** Its prompt is computed. */
  public void computed() {
    lease.firstByte();
  }

  /**
   * The worker did its part.
   *
   * @param firstByteMillis how long it took to answer, or NaN where that says nothing
   */
  public void succeeded(double firstByteMillis) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    this.firstByteMillis = firstByteMillis;
    try {
      long now = dispatcher.now();
      if (Double.isNaN(firstByteMillis)) {
        lease.state().alive(now);
      } else {
        lease.state().succeeded(firstByteMillis, now);
      }
      permit.succeeded(now);
      ticket.confirm();
    } finally {
      lease.release();
    }
  }

  /**
   * What it reported of the prompt, once it has done its part.
   *
   * @param timed whether the time it took was its own
   */
  void reported(Prompt prompt, Usage usage, boolean timed) {
    dispatcher.reported(prompt, candidate, ticket, usage);
    double millis = firstByteMillis;
    if (timed && !Double.isNaN(millis)) {
      dispatcher.calibrate(prompt, lease, millis, usage);
    }
  }

  /** The worker failed: it counts against its breaker. */
  public void failed(@Nullable Duration retryAfter) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    try {
      permit.failed(dispatcher.now());
      lease.state().failed();
      ticket.withdraw();
    } finally {
      lease.release();
      dispatcher.judged(candidate.target(), retryAfter, dispatcher.now());
    }
  }

  /**
   * Nothing was learnt of the worker: it was cancelled, busy, or never sent to.
   *
   * @param retryAfter how long it asked to be left alone, or null
   */
  public void neutral(@Nullable Duration retryAfter) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    try {
      permit.neutral(dispatcher.now());
      ticket.withdraw();
    } finally {
      lease.release();
      if (retryAfter != null) {
        dispatcher.judged(candidate.target(), retryAfter, dispatcher.now());
      }
    }
  }
}
