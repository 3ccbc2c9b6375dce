package dev.warmpath.dispatch;

import dev.warmpath.api.AllAttemptsFailedException;
import dev.warmpath.api.AttemptRecord;
import dev.warmpath.api.DeadlineExceededException;
import dev.warmpath.api.NoWorkerAvailableException;
import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RequestTimings;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.api.RouteDecision.PromptSummary;
import dev.warmpath.api.RouteOptions;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterListener.DeadLetter;
import dev.warmpath.api.RouterListener.Outcome;
import dev.warmpath.api.RouterListener.RequestEvent;
import dev.warmpath.api.RouterOverloadedException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterTracer.Hop;
import dev.warmpath.api.RouterTracer.HopEnd;
import dev.warmpath.api.RouterTracer.HopTrace;
import dev.warmpath.api.RouterTracer.RequestTrace;
import dev.warmpath.api.StreamInterruptedException;
import dev.warmpath.api.Usage;
import dev.warmpath.dispatch.Listeners.Moment;
import dev.warmpath.index.BlockLocations;
import dev.warmpath.knowledge.RequestKnowledge;
import dev.warmpath.policy.Candidate;
import dev.warmpath.policy.KnowledgeChoice;
import dev.warmpath.policy.RoutePlan;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.worker.Worker;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One admitted request on its way: walks its plan attempt by attempt until one completes or none is
 * left. It waits for nothing itself, so that a thread, a callback or a virtual clock can drive it
 * alike: {@link #next()} gives an attempt to make, or a pause to let pass, or throws the final
 * error.
 *
 * <p>Driven by one thread at a time; {@link #cancel()} may come from any. Ends exactly once, and
 * gives its admission back then.
 */
public final class Dispatch {
  private static final Logger log = LoggerFactory.getLogger(Dispatch.class);

  private final Dispatcher dispatcher;
  private final long requestId;
  private final RouterRequest request;
  private final Prompt prompt;
  private final RouteOptions options;
  private final Dispatcher.Terms terms;
  private final Course course;
  private final Executor lessons;
  private final @Nullable RequestKnowledge knowledge;
  private final AtomicBoolean finished = new AtomicBoolean();

  private volatile BlockLocations located = BlockLocations.NONE;
  private Dispatcher.@Nullable Routed routed;
  private @Nullable RoutePlan plan;
  private List<AttemptRecord> attempts = List.of();
  private final Deque<Candidate> heldBack = new ArrayDeque<>(0);
  private int started;
  private boolean retryPaid;
  private boolean paused;
  private @Nullable Attempt lastAttempt;
  private @Nullable Failure lastFailure;
  private boolean staleReplayed;
  private @Nullable PromptSummary summary;
  private volatile @Nullable RouteDecision settled;
  private BooleanSupplier repeatable = () -> true;
  private volatile @Nullable Attempt current;
  private volatile @Nullable PairDispatch pair;
  private final CountDownLatch cancelled = new CountDownLatch(1);

  Dispatch(
      Dispatcher dispatcher,
      long requestId,
      RouterRequest request,
      Prompt prompt,
      RouteOptions options,
      Dispatcher.Terms terms,
      Course course,
      Executor lessons,
      @Nullable RequestKnowledge knowledge) {
    this.dispatcher = dispatcher;
    this.requestId = requestId;
    this.request = request;
    this.prompt = prompt;
    this.options = options;
    this.terms = terms;
    this.course = course;
    this.lessons = lessons;
    this.knowledge = knowledge;
  }

  /**
   * What is told of a request.
   *
   * @param startedNanos when it came
   * @param clock where its time goes
   * @param trace follows it
   * @param heard the moments of which somebody hears, as {@link Listeners#heard} tells them
   */
  record Course(long startedNanos, RequestClock clock, RequestTrace trace, int heard) {}

  /** The client's number for the request. */
  public long requestId() {
    return requestId;
  }

  /** What is known of its prompt. */
  public Prompt prompt() {
    return prompt;
  }

  /** Whether it is over. */
  public boolean finished() {
    return finished.get();
  }

  /**
   * Where it goes, or went, and why, as far as it has come. Called by the driving thread, or once
   * it is over.
   */
  public RouteDecision decision() {
    return decision(now());
  }

  private RouteDecision decision(long now) {
    RequestKnowledge its = knowledge;
    RouteDecision decision = routing(now);
    return its == null ? decision : decision.withKnowledge(its.info());
  }

  private RouteDecision routing(long now) {
    PairDispatch several = pair;
    if (several != null) {
      return several.decision();
    }
    RouteDecision last = settled;
    if (last != null) {
      return last;
    }
    Dispatcher.Routed at = routed;
    Attempt attempt = lastAttempt;
    RouteDecision decision =
        new RouteDecision(
            policy(),
            at == null ? 0 : at.view().topology().version(),
            summary(),
            List.of(),
            attempt == null ? null : attempt.view(),
            List.of(),
            attempt != null && attempts.size() < started
                ? with(attempts, attempt.record(null, 0, null, now))
                : attempts,
            null,
            located.info());
    if (finished.get()) {
      settled = decision;
    }
    return decision;
  }

  private String policy() {
    PairDispatch several = pair;
    if (several != null) {
      return several.policy();
    }
    Dispatcher.Routed at = routed;
    return (at == null ? terms.policy() : at.policy()).name();
  }

  /** The attempt's worker, or null before the first. */
  private @Nullable String worker() {
    PairDispatch several = pair;
    if (several != null) {
      return several.worker();
    }
    Attempt attempt = lastAttempt;
    return attempt == null ? null : attempt.candidate().target().toString();
  }

  /** The attempt's number from 1, 0 before the first. */
  private int number() {
    PairDispatch several = pair;
    return several == null ? started : several.attempt();
  }

  private long elapsed(long now) {
    return now - course.startedNanos();
  }

  /** The same in every decision on it. */
  private PromptSummary summary() {
    PromptSummary known = summary;
    if (known == null) {
      known = Dispatcher.summary(prompt);
      summary = known;
    }
    return known;
  }

  private static List<AttemptRecord> with(List<AttemptRecord> before, AttemptRecord next) {
    if (before.isEmpty()) {
      return List.of(next);
    }
    List<AttemptRecord> all = new ArrayList<>(before);
    all.add(next);
    return List.copyOf(all);
  }

  /** Asks where its blocks are: once, whatever becomes of its attempts. */
  void locate() {
    if (!dispatcher.looksUp()) {
      return;
    }
    long began = now();
    located = dispatcher.locate(prompt, true, remaining(began));
    course.clock().lookedUp(now() - began);
  }

  /** What is known of where its blocks are. */
  BlockLocations located() {
    return located;
  }

  /**
   * Leaves the request to a driver that sends it to several workers at a time; {@link #next} is not
   * called then.
   *
   * @param policy the name of what it is routed by
   * @param decided tells where it goes, as far as the driver has come
   */
  public PairDispatch pair(String policy, Supplier<RouteDecision> decided) {
    PairDispatch made = new PairDispatch(dispatcher, this, policy, decided);
    pair = made;
    return made;
  }

  /** The driver's side of a request that {@link #pair} gave to one. */
  public PairDispatch pairing() {
    return Objects.requireNonNull(pair);
  }

  /** The path that is asked for, with its query. */
  public String path() {
    return request.path();
  }

  Duration deadline() {
    Duration deadline = terms.deadline();
    return deadline == null ? Duration.ZERO : deadline;
  }

  RouterRequest request() {
    return request;
  }

  /** Who should answer by where the request's knowledge is. */
  KnowledgeChoice knowledge() {
    RequestKnowledge its = knowledge;
    return its == null ? KnowledgeChoice.NONE : its.choice();
  }

  /** An attempt's exchange, before which the request's KV is put in place where that is due. */
  Exchange exchange(Attempt attempt, Exchange exchange) {
    return exchange(attempt.candidate(), attempt.outbound().timeouts().total(), exchange);
  }

  /** The same of an exchange with a worker that computes the prompt. */
  Exchange exchange(Candidate to, @Nullable Duration left, Exchange exchange) {
    RequestKnowledge its = knowledge;
    return its == null
        ? exchange
        : its.before(to.target(), dispatcher.credited(to), left, exchange);
  }

  /** A worker told what of the prompt was in its cache. */
  void reported(Candidate by, Usage usage) {
    RequestKnowledge its = knowledge;
    if (its != null) {
      its.answered(by.target(), Dispatcher.cached(prompt, usage));
    }
  }

  /** Whether KV was waited for, so that the time to the first token isn't the engine's alone. */
  boolean awaitedKv() {
    RequestKnowledge its = knowledge;
    return its != null && its.awaitedKv();
  }

  RouteOptions options() {
    return options;
  }

  Timeouts timeouts() {
    return terms.timeouts();
  }

  CandidateView view(Candidate candidate) {
    OptionalInt rank = candidate.target().rank();
    return new CandidateView(
        candidate.target().worker().id().value(),
        rank.isPresent() ? rank.getAsInt() : null,
        candidate.target().worker().role().label(),
        candidate.step(),
        candidate.score(),
        Map.of(),
        candidate.matchedTokens(),
        dispatcher.standing(candidate.target()));
  }

  /**
   * What to do next. After an attempt that failed, and first of all.
   *
   * @throws RouterException when the request is over: nothing is left to try, the deadline passed,
   *     it was cancelled, or its stream broke after it had begun
   */
  public Step next() {
    try {
      return step();
    } catch (RouterException e) {
      finish(e instanceof RequestCancelledException ? Outcome.CANCELLED : Outcome.FAILED, null, e);
      throw e;
    } catch (RuntimeException | Error e) {
      // A policy or listener of the user's may throw anything: the admission is given back all the
      // same.
      finish(Outcome.FAILED, null, null);
      throw e;
    }
  }

  private Step step() {
    long now = now();
    if (cancelled()) {
      throw new RequestCancelledException("the request was cancelled");
    }
    Duration remaining = remaining(now);
    if (remaining != null && (remaining.isNegative() || remaining.isZero())) {
      throw deadlineExceeded();
    }
    Failure failure = lastFailure;
    if (failure != null) {
      Step.Pause pause = afterFailure(failure, now);
      if (pause != null) {
        return pause;
      }
    }
    Candidate again = staleReplay(failure);
    if (again != null) {
      return start(again, dispatcher.gates().gate(worker(again)).force(now), now);
    }
    if (plan == null) {
      route(now);
    }
    return pick(now);
  }

  /** Decides whether a failure is followed by another attempt, and how long to wait for it. */
  private Step.@Nullable Pause afterFailure(Failure failure, long now) {
    if (failure.deadline()) {
      throw deadlineExceeded();
    }
    if (!failure.retryable()
        || started >= terms.settings().retry().maxAttempts()
        || !repeatable.getAsBoolean()) {
      throw allFailed(failure);
    }
    if (failure.stale() && !staleReplayed) {
      return null; // the worker saw nothing: free of budget and without a wait
    }
    if (!retryPaid) {
      if (!dispatcher.retryBudget().withdraw()) {
        throw allFailed(failure);
      }
      retryPaid = true;
    }
    if (!paused) {
      paused = true;
      long wait = dispatcher.backoffNanos(started);
      if (wait > 0) {
        return new Step.Pause(capped(wait, now));
      }
    }
    return null;
  }

  private @Nullable Candidate staleReplay(@Nullable Failure failure) {
    Attempt last = lastAttempt;
    if (failure != null && failure.stale() && !staleReplayed && last != null) {
      staleReplayed = true;
      return last.candidate();
    }
    return null;
  }

  private void route(long now) {
    Dispatcher.Routed made =
        dispatcher.route(request, prompt, options, terms.policy(), located, knowledge, now);
    long decided = now();
    course.clock().decided(decided - now);
    routed = made;
    plan = made.plan();
    if (started == 0) {
      tellRouted(decided);
    }
  }

  private Step pick(long now) {
    for (int round = 0; round < 2; round++) {
      Step step = pickFrom(Objects.requireNonNull(plan), now);
      if (step != null) {
        return step;
      }
      // Every candidate was tried: decide anew, with the state as it is now.
      route(now);
    }
    throw allFailed(lastFailure);
  }

  private @Nullable Step pickFrom(RoutePlan from, long now) {
    Attempt last = lastAttempt;
    boolean several = routed != null && routed.workers() > 1;
    for (Candidate candidate = from.next(); candidate != null; candidate = from.next()) {
      if (several
          && last != null
          && worker(last.candidate()).epoch() == worker(candidate).epoch()) {
        continue; // it has just failed; another rank of it shares its fate
      }
      WorkerGates.Gate gate = dispatcher.gates().gate(worker(candidate));
      if (gate.busyForNanos(now) > 0) {
        heldBack.addLast(candidate);
        continue;
      }
      CircuitBreaker.Permit permit = gate.tryAcquire(now);
      if (permit == null) {
        heldBack.addLast(candidate);
        continue;
      }
      return start(candidate, permit, now);
    }
    return leastHeldBack(now);
  }

  /**
   * All that is left are workers that are set aside: the one that is free soonest, waited for if
   * need be.
   */
  private @Nullable Step leastHeldBack(long now) {
    Candidate best = null;
    long bestWait = Long.MAX_VALUE;
    for (Candidate candidate : heldBack) {
      long wait = Math.max(0, dispatcher.gates().gate(worker(candidate)).busyForNanos(now));
      if (wait < bestWait) {
        best = candidate;
        bestWait = wait;
      }
    }
    if (best == null) {
      return null;
    }
    if (bestWait > 0) {
      Duration left = remaining(now);
      boolean tooLong =
          bestWait > terms.settings().retry().maxRetryAfter().toNanos()
              || (left != null && bestWait >= left.toNanos());
      if (tooLong) {
        throw new RouterOverloadedException(
            "every worker asked to be left alone", Duration.ofNanos(bestWait));
      }
      return new Step.Pause(bestWait);
    }
    heldBack.remove(best);
    return start(best, dispatcher.gates().gate(worker(best)).force(now), now);
  }

  private Attempt start(Candidate candidate, CircuitBreaker.Permit permit, long now) {
    Timeouts timeouts = terms.timeouts().withTotal(remaining(now));
    started++;
    course.clock().attempt(now);
    CandidateView view = view(candidate);
    HopTrace traced = hop(candidate, view, started);
    OutboundRequest outbound =
        dispatcher.outbound(candidate.target(), request, prompt, timeouts, headers(traced));
    retryPaid = false;
    paused = false;
    heldBack.clear();
    Attempt attempt =
        new Attempt(
            this,
            candidate,
            started,
            outbound,
            dispatcher.lease(candidate, prompt),
            permit,
            dispatcher.feed().dispatched(prompt, candidate.target()),
            traced,
            view,
            now);
    lastAttempt = attempt;
    lastFailure = null;
    current = attempt;
    if (cancelled()) {
      attempt.cancelled();
      throw new RequestCancelledException("the request was cancelled");
    }
    if (log.isDebugEnabled()) {
      log.debug(
          "Request {}, attempt {}: {} by {}, {} of {} tokens held",
          requestId,
          started,
          candidate.target(),
          candidate.step(),
          candidate.matchedTokens(),
          prompt.tokens());
    }
    tellAttempt();
    return attempt;
  }

  /**
   * Ends the request wherever it stands: its exchange is cancelled, its lease and admission are
   * given back. Idempotent; any thread.
   */
  public void cancel() {
    cancelled.countDown();
    Attempt running = current;
    PairDispatch several = pair;
    try {
      if (running != null) {
        running.cancelled();
      }
      if (several != null) {
        several.tellCancelled();
      }
    } finally {
      finish(Outcome.CANCELLED, null, null);
    }
  }

  /** Sets what tells, after a failure, whether the request can still be sent once more. */
  public void repeatable(BooleanSupplier repeatable) {
    this.repeatable = repeatable;
  }

  /** Whether the request could be sent once more, as far as its caller is concerned. */
  boolean repeatable() {
    return repeatable.getAsBoolean();
  }

  /** Whether {@link #cancel()} was called. */
  public boolean cancelled() {
    return cancelled.getCount() == 0;
  }

  /**
   * Lets a pause pass on the calling thread; a cancellation, or an interrupt (which is one), ends
   * it early.
   */
  void pause(Step.Pause pause) {
    try {
      boolean unused = dispatcher.pauser().pause(pause.nanos(), cancelled);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      cancel();
    }
  }

  void tellRouted(long now) {
    RequestMeter[] meters = dispatcher.listeners().meters();
    if (meters.length > 0) {
      String policy = policy();
      boolean lookedUp = located.info() != null;
      RequestTimings timings = course.clock().timings(now);
      for (RequestMeter meter : meters) {
        meter.routed(policy, elapsed(now), timings, lookedUp);
      }
    }
    tell(Moment.ROUTED, now, null, null, null);
  }

  void tellAttempt() {
    for (RequestMeter meter : dispatcher.listeners().meters()) {
      meter.attempting(worker(), number());
    }
    tell(Moment.ATTEMPT, null, null, null);
  }

  void tellFirstByte(long now) {
    course.clock().firstByte(now);
    for (RequestMeter meter : dispatcher.listeners().meters()) {
      meter.firstByte(worker(), elapsed(now), course.clock().firstByte());
    }
    tell(Moment.FIRST_BYTE, now, null, null, null);
  }

  void learn(
      Attempt attempt, PrefixFeed.Ticket ticket, @Nullable Usage usage, @Nullable String answer) {
    RequestKnowledge its = knowledge;
    if (its != null) {
      its.answered(attempt.candidate().target(), Dispatcher.cached(prompt, usage));
    }
    dispatcher.learn(prompt, attempt.candidate(), ticket, usage, answer, lessons);
  }

  void calibrate(DispatchLease lease, double firstTokenMillis, @Nullable Usage usage) {
    if (!awaitedKv()) {
      dispatcher.calibrate(prompt, lease, firstTokenMillis, usage);
      Dispatcher.Routed at = routed;
      if (at != null) {
        dispatcher.measured(at.policy(), firstTokenMillis, now());
      }
    }
  }

  void completed(Attempt attempt, @Nullable String error, int status, @Nullable Usage usage) {
    long now = now();
    attempts = with(attempts, attempt.record(null, status, error, now));
    finish(Outcome.COMPLETED, usage, null);
  }

  void attemptFailed(Attempt attempt, Failure failure, boolean delivered, long now) {
    AttemptRecord record = attempt.record(failure.phase(), failure.status(), failure.error(), now);
    attempts = with(attempts, record);
    dispatcher.failed(attempt.candidate().target(), failure, now);
    lastFailure =
        delivered
            ? new Failure(
                failure.blame(),
                false,
                failure.phase(),
                failure.status(),
                failure.error(),
                null,
                false,
                failure.cause())
            : failure;
    tell(Moment.ATTEMPT_FAILED, null, record, null);
    if (failure.cancelled()) {
      cancelled.countDown();
    }
  }

  /** Ends the request after its stream broke: nothing may be sent again. */
  RouterException broken(Attempt attempt, Failure failure) {
    attempt.failed(failure, true);
    RouterException error =
        cancelled()
            ? new RequestCancelledException("the stream was closed")
            : failure.deadline()
                ? deadlineExceeded()
                : new StreamInterruptedException(
                    attempt.candidate().target().toString(),
                    failure.status(),
                    failure.error(),
                    failure.cause());
    finish(cancelled() ? Outcome.CANCELLED : Outcome.FAILED, null, error);
    return error;
  }

  void finish(Outcome outcome, @Nullable Usage usage, @Nullable RouterException error) {
    if (!finished.compareAndSet(false, true)) {
      return;
    }
    dispatcher.finished(this);
    tell(Moment.FINISHED, outcome, null, usage);
    if (outcome == Outcome.FAILED
        && error != null
        && !(error instanceof NoWorkerAvailableException)) {
      RequestKnowledge its = knowledge;
      // As the application gave it: sent again, its knowledge is injected again.
      dispatcher.deadLetter(new DeadLetter(its == null ? request : its.original(), error));
    }
  }

  /** Tells of a moment of the request, of which there may be more to tell at some moments. */
  void tell(
      Moment moment,
      @Nullable Outcome outcome,
      @Nullable AttemptRecord failure,
      @Nullable Usage usage) {
    if (moment.in(course.heard())) {
      tell(moment, now(), outcome, failure, usage);
    }
  }

  private void tell(
      Moment moment,
      long now,
      @Nullable Outcome outcome,
      @Nullable AttemptRecord failure,
      @Nullable Usage usage) {
    if (moment.in(course.heard())) {
      dispatcher.listeners().tell(moment, course.trace(), event(now, outcome, failure, usage));
    }
  }

  /** What follows an exchange that is about to begin. */
  HopTrace hop(Candidate candidate, int attempt) {
    return RequestTrace.NONE.equals(course.trace())
        ? HopTrace.NONE
        : hop(candidate, view(candidate), attempt);
  }

  private HopTrace hop(Candidate candidate, CandidateView chosen, int attempt) {
    RequestTrace trace = course.trace();
    if (RequestTrace.NONE.equals(trace)) {
      return HopTrace.NONE;
    }
    Hop hop = new Hop(candidate.target().toString(), chosen.role(), attempt, chosen);
    return dispatcher.listeners().guarded(trace, () -> trace.hop(hop), HopTrace.NONE);
  }

  /** The headers that an exchange takes along. */
  Map<String, String> headers(HopTrace hop) {
    return HopTrace.NONE.equals(hop)
        ? Map.of()
        : dispatcher.listeners().guarded(hop, hop::headers, Map.of());
  }

  /** An exchange is over. */
  void ended(HopTrace hop, int status, @Nullable String error) {
    if (!HopTrace.NONE.equals(hop)) {
      dispatcher.listeners().guard(hop, () -> hop.ended(new HopEnd(status, error)));
    }
  }

  /** Where its time goes. */
  RequestClock clock() {
    return course.clock();
  }

  private RequestEvent event(
      long now, @Nullable Outcome outcome, @Nullable AttemptRecord failure, @Nullable Usage usage) {
    return new RequestEvent(
        requestId,
        request.path(),
        prompt.model(),
        prompt.stream(),
        worker(),
        number(),
        Duration.ofNanos(elapsed(now)),
        course.clock().timings(now),
        outcome,
        failure,
        usage,
        decision(now));
  }

  private AllAttemptsFailedException allFailed(@Nullable Failure failure) {
    return new AllAttemptsFailedException(attempts, failure == null ? null : failure.cause());
  }

  private DeadlineExceededException deadlineExceeded() {
    return new DeadlineExceededException(deadline(), attempts);
  }

  @Nullable Duration remaining(long now) {
    Duration deadline = terms.deadline();
    return deadline == null ? null : deadline.minusNanos(elapsed(now));
  }

  private long capped(long nanos, long now) {
    Duration left = remaining(now);
    return left == null ? nanos : Math.min(nanos, Math.max(1, left.toNanos()));
  }

  private static Worker worker(Candidate candidate) {
    return candidate.target().worker();
  }

  long now() {
    return dispatcher.now();
  }
}
