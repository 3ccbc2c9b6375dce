package dev.warmpath.dispatch;

import dev.warmpath.api.AttemptRecord;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterTracer.HopTrace;
import dev.warmpath.api.Usage;
import dev.warmpath.policy.Candidate;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One request at one worker, holding that worker's lease. Ends exactly once, in {@link #completed},
 * {@link #rejected}, {@link #failed} or by the dispatch's cancellation, whichever comes first;
 * later calls do nothing. Driven by one thread; cancellation may come from any.
 */
public final class Attempt implements Step, AnswerOwner {
  private final Dispatch dispatch;
  private final Candidate candidate;
  private final int number;
  private final OutboundRequest outbound;
  private final DispatchLease lease;
  private final CircuitBreaker.Permit permit;
  private final PrefixFeed.Ticket ticket;
  private final HopTrace traced;
  private final long startedNanos;
  private final CandidateView view;
  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile long firstByteNanos;
  private volatile boolean gotFirstByte;
  private volatile @Nullable Exchange exchange;

  Attempt(
      Dispatch dispatch,
      Candidate candidate,
      int number,
      OutboundRequest outbound,
      DispatchLease lease,
      CircuitBreaker.Permit permit,
      PrefixFeed.Ticket ticket,
      HopTrace traced,
      CandidateView view,
      long startedNanos) {
    this.dispatch = dispatch;
    this.candidate = candidate;
    this.number = number;
    this.outbound = outbound;
    this.lease = lease;
    this.permit = permit;
    this.ticket = ticket;
    this.traced = traced;
    this.startedNanos = startedNanos;
    this.view = view;
  }

  /** Where it goes and why. */
  @Override
  public Candidate candidate() {
    return candidate;
  }

  /** The same as decisions show it: as things stood when the attempt began. */
  CandidateView view() {
    return view;
  }

  /** Its number within the request, from 1. */
  public int number() {
    return number;
  }

  /** What is to be sent. */
  public OutboundRequest outbound() {
    return outbound;
  }

  /**
   * Names the exchange that carries it, so that a cancellation reaches it; cancels it if that came
   * already.
   */
  public void carriedBy(Exchange exchange) {
    this.exchange = exchange;
    if (ended.get()) {
      exchange.cancel();
    }
  }

  @Override
  public void firstByte() {
    if (gotFirstByte || ended.get()) {
      return;
    }
    firstByteNanos = dispatch.now();
    gotFirstByte = true;
    lease.state().alive(firstByteNanos);
    lease.firstByte();
    dispatch.tellFirstByte(firstByteNanos);
  }

  @Override
  public Prompt prompt() {
    return dispatch.prompt();
  }

  @Override
  public RouteDecision decision() {
    return dispatch.decision();
  }

  @Override
  public boolean abandoned() {
    return dispatch.cancelled();
  }

  @Override
  public void abandon() {
    dispatch.cancel();
  }

  @Override
  public RouterException broken(TransportException error) {
    return dispatch.broken(this, Failure.of(error));
  }

  @Override
  public void completed(@Nullable Usage usage, @Nullable String answer) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    try {
      long now = dispatch.now();
      long first = gotFirstByte ? firstByteNanos : now;
      lease.state().succeeded((first - startedNanos) / 1e6, now);
      permit.succeeded(now);
      ticket.confirm();
      dispatch.learn(this, ticket, usage, answer);
      if (gotFirstByte && dispatch.prompt().stream()) {
        dispatch.calibrate(lease, (first - startedNanos) / 1e6, usage);
      }
    } finally {
      lease.release();
      dispatch.ended(traced, 200, null);
      dispatch.completed(this, null, 200, usage);
    }
  }

  /**
   * The worker answered with a client error, which is the request's fault and no other worker would
   * answer differently: ends the request without judging the worker, which has proved alive.
   *
   * @param status the status
   */
  @Override
  public void rejected(int status) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    try {
      long now = dispatch.now();
      permit.neutral(now);
      lease.state().alive(now);
      ticket.withdraw();
    } finally {
      lease.release();
      dispatch.ended(traced, status, "status " + status);
      dispatch.completed(this, "status " + status, status, null);
    }
  }

  /**
   * The attempt failed. Ask the dispatch for its next step: another attempt, a pause, or the final
   * error.
   *
   * @param delivered whether bytes of this response have reached the caller, so that nothing may be
   *     sent again
   */
  void failed(Failure failure, boolean delivered) {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    long now = dispatch.now();
    try {
      if (failure.blame() == Failure.Blame.BROKEN) {
        permit.failed(now);
        lease.state().failed();
      } else {
        permit.neutral(now);
      }
      if (gotFirstByte) {
        ticket.confirm();
      } else {
        ticket.withdraw();
      }
    } finally {
      lease.release();
      dispatch.ended(traced, failure.status(), failure.error());
      dispatch.attemptFailed(this, failure, delivered, now);
    }
  }

  /** The caller cancelled. */
  void cancelled() {
    if (!ended.compareAndSet(false, true)) {
      return;
    }
    Exchange carrying = exchange;
    try {
      if (carrying != null) {
        carrying.cancel();
      }
      permit.neutral(dispatch.now());
      if (gotFirstByte) {
        ticket.confirm();
      } else {
        ticket.withdraw();
      }
    } finally {
      lease.release();
      dispatch.ended(traced, 0, "cancelled");
    }
  }

  @Override
  public boolean ended() {
    return ended.get();
  }

  /** How it stands, or stood when it ended. */
  AttemptRecord record(@Nullable FailurePhase phase, int status, @Nullable String error, long now) {
    return new AttemptRecord(
        candidate.target().toString(),
        candidate.step(),
        phase,
        status,
        error,
        Duration.ofNanos(now - startedNanos));
  }
}
