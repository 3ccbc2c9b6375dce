package dev.warmpath.dispatch;

import dev.warmpath.api.AttemptRecord;
import dev.warmpath.api.Headers;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.api.RouteOptions;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterListener.Outcome;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterTracer.HopTrace;
import dev.warmpath.api.Usage;
import dev.warmpath.dispatch.Listeners.Moment;
import dev.warmpath.index.BlockLocations;
import dev.warmpath.policy.Candidate;
import dev.warmpath.policy.KnowledgeChoice;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.Timeouts;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An admitted request that takes more than one worker: what its driver needs of the dispatch, which
 * keeps admission, deadline, cancellation and listeners, and leaves attempts to the driver. Thread
 * safe.
 */
public final class PairDispatch {
  private static final Logger log = LoggerFactory.getLogger(PairDispatch.class);

  private final Dispatcher dispatcher;
  private final Dispatch dispatch;
  private final String policy;
  private final Supplier<RouteDecision> decided;
  private final List<AttemptRecord> attempts = new CopyOnWriteArrayList<>();
  private final List<Runnable> onCancel = new CopyOnWriteArrayList<>();
  private volatile @Nullable String worker;
  private volatile int attempt;

  PairDispatch(
      Dispatcher dispatcher, Dispatch dispatch, String policy, Supplier<RouteDecision> decided) {
    this.dispatcher = dispatcher;
    this.dispatch = dispatch;
    this.policy = policy;
    this.decided = decided;
  }

  /** The request as the application gave it. */
  public RouterRequest request() {
    return dispatch.request();
  }

  /** What is known of its prompt. */
  public Prompt prompt() {
    return dispatch.prompt();
  }

  /** How it wants to be routed. */
  public RouteOptions options() {
    return dispatch.options();
  }

  /** What is known of where its blocks are. */
  public BlockLocations located() {
    return dispatch.located();
  }

  /** Who should prefill it by where its knowledge is. */
  public KnowledgeChoice knowledge() {
    return dispatch.knowledge();
  }

  /** The exchange of a prefill leg, before which KV is put in place where that is due. */
  public Exchange prefill(Candidate candidate, Exchange exchange) {
    return dispatch.exchange(candidate, remaining(), exchange);
  }

  /** Prefill has told of the prompt's tokens, which shows whether the KV was found. */
  public void prefilled(WorkerClaim claim, Usage usage) {
    dispatch.reported(claim.candidate(), usage);
    claim.reported(prompt(), usage, !dispatch.awaitedKv());
  }

  /** Its headers without those that must not leave. */
  public Headers forwarded() {
    return OptionsReader.forwarded(dispatch.request().headers());
  }

  /** How long its parts may take, without a total. */
  public Timeouts timeouts() {
    return dispatch.timeouts();
  }

  /** What is left of its deadline, or null where it has none. */
  public @Nullable Duration remaining() {
    return dispatch.remaining(dispatcher.now());
  }

  /** How long it may take in all; zero where it has no limit. */
  public Duration deadline() {
    return dispatch.deadline();
  }

  /** Whether it was cancelled. */
  public boolean cancelled() {
    return dispatch.cancelled();
  }

  /** Runs {@code action} when the request is cancelled; at once if it has been. Idempotent. */
  public void onCancel(Runnable action) {
    onCancel.add(action);
    if (cancelled()) {
      action.run();
    }
  }

  void tellCancelled() {
    onCancel.forEach(Runnable::run);
  }

  /** Whether it could be sent again: not so where its caller carries it and can't. */
  public boolean repeatable() {
    return dispatch.repeatable();
  }

  /** Whether the retry budget allows one more attempt; counts it if so. */
  public boolean payRetry() {
    return dispatcher.retryBudget().withdraw();
  }

  /** How long to wait before the attempt that follows {@code attemptsMade}. */
  public long backoffNanos(int attemptsMade) {
    return dispatcher.backoffNanos(attemptsMade);
  }

  /** A new id for an attempt: 32 hex digits, of which none is given twice. */
  public String newId() {
    return dispatcher.newId();
  }

  /** Blocks the calling thread until {@code until} is counted down. */
  public void await(CountDownLatch until) throws InterruptedException {
    boolean down = false;
    while (!down) {
      down = dispatcher.pauser().pause(Duration.ofHours(1).toNanos(), until);
    }
  }

  /** Tells listeners that a choice was made, which took {@code decisionNanos}. */
  public void routed(long decisionNanos) {
    dispatch.clock().decided(decisionNanos);
    dispatch.tellRouted(dispatcher.now());
  }

  /** Tells listeners that an attempt begins. */
  public void attempting(int number, String workers) {
    attempt = number;
    worker = workers;
    dispatch.clock().attempt(dispatcher.now());
    if (log.isDebugEnabled()) {
      log.debug("Request {}, attempt {}: {}", dispatch.requestId(), number, workers);
    }
    dispatch.tellAttempt();
  }

  /** Tells listeners of the first byte. */
  public void firstByte() {
    dispatch.tellFirstByte(dispatcher.now());
  }

  /** What follows a leg that is about to be sent to {@code candidate}. */
  public HopTrace hop(Candidate candidate, int number) {
    return dispatch.hop(candidate, number);
  }

  /** The headers that a leg takes along. */
  public Map<String, String> headers(HopTrace hop) {
    return dispatch.headers(hop);
  }

  /** A leg is over. */
  public void ended(HopTrace hop, int status, @Nullable String error) {
    dispatch.ended(hop, status, error);
  }

  /** Records an attempt that is over, and tells listeners if it failed. */
  public void attempted(AttemptRecord record) {
    attempts.add(record);
    if (record.phase() != null) {
      dispatch.tell(Moment.ATTEMPT_FAILED, null, record, null);
    }
  }

  /** The attempts that are over. */
  public List<AttemptRecord> attempts() {
    return List.copyOf(attempts);
  }

  /** A candidate as decisions show it. */
  public CandidateView view(Candidate candidate) {
    return dispatch.view(candidate);
  }

  /** Ends the request well. */
  public void completed(@Nullable Usage usage) {
    dispatch.finish(Outcome.COMPLETED, usage, null);
  }

  /** Ends the request with what the caller is told; null where that is no routing error. */
  public void failed(@Nullable RouterException error) {
    dispatch.finish(Outcome.FAILED, null, error);
  }

  String policy() {
    return policy;
  }

  @Nullable String worker() {
    return worker;
  }

  int attempt() {
    return attempt;
  }

  /** Where it goes and why, as far as its driver has come. */
  public RouteDecision decision() {
    return decided.get();
  }
}
