package dev.warmpath.pd;

import dev.warmpath.api.AttemptRecord;
import dev.warmpath.api.DeadlineExceededException;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.PrefillDecodeException;
import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import dev.warmpath.dispatch.AnswerOwner;
import dev.warmpath.dispatch.PairDispatch;
import dev.warmpath.dispatch.RequestRunner;
import dev.warmpath.pd.PdAction.Word;
import dev.warmpath.pd.PdMailbox.Letter;
import dev.warmpath.policy.Candidate;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.prompt.UsageReader;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.WorkerRole;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One session over blocking exchanges: decode is carried by the calling thread, prefill by one of
 * the client's executor. Used by one calling thread; cancellation may come from any.
 */
final class PdCall implements PdPort, AnswerOwner {
  private static final UsageReader USAGES = new UsageReader();

  /** An engine that gives a generation up unasked has not answered. */
  private static final LegResult ABORTED =
      LegResult.broken(LegOutcome.PROTOCOL_ERROR, true, "the generation was aborted");

  /** How much of decode's answer the session's caller takes. */
  enum Mode {
    /** All of it at once. */
    WHOLE,
    /** Events. */
    STREAM,
    /** Headers: the body is its own to carry. */
    HEADERS
  }

  /** How a session ends for whoever began it. */
  interface Ending {
    /** It ended with an answer. */
    void completed(@Nullable Usage usage);

    /** A worker's client error is its answer. */
    void refused();

    /** It failed; null where what it threw is no routing error. */
    void failed(@Nullable RouterException error);

    /** Gives up whatever the session is a part of. */
    void cancel();
  }

  private final PairDispatch request;
  private final Ending ending;
  private final Mode mode;
  private final Executor executor;
  private final Function<OutboundRequest, Exchange> transports;
  private final Function<OutboundRequest, Exchange> decodes;
  private final boolean logprobs;
  private final PdConductor conductor;
  private final PdMailbox mailbox = new PdMailbox();
  private volatile @Nullable PrefillLeg prefill;
  private @Nullable LegCall decodeLeg;
  private @Nullable PdAnswer whole;
  private @Nullable ExchangeResponse pending;
  private @Nullable StreamEvent first;
  private volatile @Nullable Usage usage;
  private volatile @Nullable RuntimeException error;
  private volatile @Nullable Word last;

  /**
   * Creates a call that has not begun.
   *
   * @param transports opens the exchanges of prefill legs
   * @param decodes opens those of decode legs
   */
  PdCall(
      PdShared shared,
      PairDispatch request,
      Ending ending,
      Original original,
      String path,
      Mode mode,
      Executor executor,
      Function<OutboundRequest, Exchange> transports,
      Function<OutboundRequest, Exchange> decodes) {
    this.request = request;
    this.ending = ending;
    this.mode = mode;
    this.executor = executor;
    this.transports = transports;
    this.decodes = decodes;
    this.logprobs = mode != Mode.HEADERS && original.promptLogprobs();
    this.conductor = new PdConductor(shared, request, original, path, this, mode == Mode.HEADERS);
  }

  PdConductor conductor() {
    return conductor;
  }

  /** The answer that was read whole, once {@link #carry} has returned for {@link Mode#WHOLE}. */
  PdAnswer whole() {
    return Objects.requireNonNull(whole);
  }

  /** Whether its answer, at hand in part, comes as events. */
  boolean streams() {
    return mode == Mode.STREAM;
  }

  /** Decode's response, once {@link #carry} has returned for the other modes. */
  ExchangeResponse response() {
    return Objects.requireNonNull(pending);
  }

  /** The first event of its stream, likewise; null where it has none. */
  @Nullable StreamEvent first() {
    return first;
  }

  /** The client error that is the answer, once {@link #carry} has returned; null for none. */
  @Nullable PdAnswer refusedAnswer() {
    PdAnswer answer = whole;
    return answer != null && answer.status() >= 300 ? answer : null;
  }

  @Nullable Usage usage() {
    return usage;
  }

  /**
   * Carries the session until its caller can be given something: the whole answer, or one whose
   * first payload is released.
   *
   * @throws RouterException when there is nothing to give
   */
  void carry() {
    request.onCancel(conductor::cancel);
    conductor.start();
    while (true) {
      Letter letter = take();
      LegCall leg = letter.leg();
      if (leg != null) {
        closePending();
        decodeLeg = leg;
        decode(leg);
        continue;
      }
      switch (Objects.requireNonNull(letter.word())) {
        case RELEASED -> {
          if (mode != Mode.WHOLE) {
            return;
          }
        }
        case ENDED -> {
          return;
        }
        case REFUSED -> {
          refused();
          return;
        }
        case FAILED, CANCELLED -> {
          closePending();
          throw told();
        }
      }
    }
  }

  private Letter take() {
    try {
      return mailbox.take(request);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      ending.cancel();
      closePending();
      throw new RequestCancelledException("interrupted while the workers were at it");
    }
  }

  private RuntimeException told() {
    RuntimeException known = error;
    return known != null ? known : new RequestCancelledException("the request was cancelled");
  }

  /** A worker's client error is the answer, whichever worker's it is. */
  private void refused() {
    PrefillLeg source = prefill;
    PdAnswer prefills = source == null ? null : source.refused();
    if (whole != null && whole.status() >= 300) {
      return;
    }
    if (mode == Mode.HEADERS && pending != null && pending.status() >= 300) {
      return;
    }
    closePending();
    if (prefills == null || mode == Mode.HEADERS) {
      throw told();
    }
    whole = prefills;
  }

  /** Gives decode's response up, after the answer to an abort call that is under way. */
  void closeResponse() {
    ExchangeResponse open = response();
    Objects.requireNonNull(decodeLeg).afterAbort(open::close);
  }

  private void closePending() {
    ExchangeResponse open = pending;
    pending = null;
    first = null;
    whole = null;
    if (open != null) {
      open.close();
    }
  }

  @Override
  public void send(LegCall leg) {
    if (leg.role() == WorkerRole.DECODE) {
      mailbox.post(new Letter(leg, null));
      return;
    }
    PdAttempt at = Objects.requireNonNull(conductor.attempt());
    PrefillLeg carrier = new PrefillLeg(at.protocol().handsOver(), logprobs);
    prefill = carrier;
    executor.execute(() -> carrier.run(leg, transports));
  }

  private void decode(LegCall leg) {
    ExchangeResponse response = null;
    boolean kept = false;
    try {
      Exchange exchange = decodes.apply(leg.outbound());
      if (!leg.sending(exchange::cancel)) {
        return;
      }
      response = exchange.execute();
      kept = answered(leg, response);
    } catch (TransportException e) {
      decodeEnded(leg, LegReading.of(e));
    } catch (Throwable e) {
      // A transport's bug: everything is given back, and the caller sees what happened.
      leg.ended(LegResult.broken(LegOutcome.IO_ERROR, true, e.getClass().getName()), null);
      ending.cancel();
      throw e;
    } finally {
      if (response != null && !kept) {
        response.close();
      }
    }
  }

  /** Tells of decode's end; one that its own thread's interrupt brought is a cancellation. */
  private void decodeEnded(LegCall leg, LegResult end) {
    if (end.outcome() == LegOutcome.CANCELLED && !leg.dropped()) {
      ending.cancel();
    }
    leg.ended(end, null);
  }

  private boolean answered(LegCall leg, ExchangeResponse response) throws TransportException {
    int status = response.status();
    if (status >= 300) {
      return refusedBy(leg, response, status);
    }
    leg.headers();
    if (mode == Mode.HEADERS) {
      pending = response;
      leg.listening(false); // whoever carries the body limits its silence
      leg.payload();
      return true;
    }
    if (mode == Mode.STREAM && response.streaming()) {
      first = response.nextEvent();
      if (first != null && LegReading.aborted(first.data())) {
        leg.ended(ABORTED, null);
        return false;
      }
      pending = response;
      leg.listening(false);
      leg.payload();
      if (first == null) {
        leg.ended(LegResult.ok(false), null);
      }
      return true;
    }
    byte[] body = response.readBody();
    LegResult wrong = LegReading.wrong(body);
    if (wrong != null) {
      leg.ended(wrong, null);
      return false;
    }
    whole = new PdAnswer(status, response.headers(), body);
    usage = USAGES.read(body);
    leg.payload();
    if (mode == Mode.STREAM) {
      // Asked for a stream, answered whole: one event, then the end.
      pending = response;
      first = new StreamEvent(null, new String(body, StandardCharsets.UTF_8));
      return true;
    }
    leg.ended(LegResult.ok(false), null);
    return false;
  }

  private boolean refusedBy(LegCall leg, ExchangeResponse response, int status)
      throws TransportException {
    Duration retryAfter = RequestRunner.retryAfter(response.headers().get("Retry-After"));
    byte[] body;
    if (mode == Mode.HEADERS) {
      pending = response;
      body = peeked(response);
    } else {
      body = response.readBody();
      whole = new PdAnswer(status, response.headers(), body);
    }
    PdEvidence evidence = PdEvidence.of(new String(body, StandardCharsets.UTF_8));
    leg.ended(LegResult.status(status, evidence, retryAfter), null);
    return mode == Mode.HEADERS;
  }

  /** What an error's body says, where whoever carries it can tell without taking it away. */
  private static byte[] peeked(ExchangeResponse response) {
    try {
      return response.readBody();
    } catch (TransportException e) {
      return new byte[0];
    }
  }

  /** A whole answer of decode with prefill's part of it. */
  byte[] merged(byte[] body) {
    LogprobMerge merge = merge();
    return merge == null ? body : merge.merged(body);
  }

  private @Nullable LogprobMerge merge() {
    PrefillLeg source = prefill;
    return source == null ? null : source.merge();
  }

  /** The next event of decode's stream; null once it has ended as a whole session should. */
  @Nullable StreamEvent nextEvent() throws TransportException {
    LegCall leg = Objects.requireNonNull(decodeLeg);
    StreamEvent event = response().streaming() ? listen(leg) : null;
    if (event == null) {
      leg.ended(LegResult.ok(false), null);
      if (awaitLast() != Word.ENDED) {
        throw broke("prefill failed");
      }
      return null;
    }
    if (LegReading.aborted(event.data())) {
      leg.ended(ABORTED, null);
      Word unused = awaitLast();
      throw broke("the generation was aborted");
    }
    leg.payload();
    return taken(event);
  }

  private @Nullable StreamEvent listen(LegCall leg) throws TransportException {
    leg.listening(true);
    try {
      return response().nextEvent();
    } finally {
      leg.listening(false);
    }
  }

  private static TransportException broke(String message) {
    return new TransportException(
        TransportException.Kind.STREAM_ERROR, FailurePhase.BODY, 0, message, null);
  }

  /** An event as the caller gets it. */
  StreamEvent taken(StreamEvent event) {
    Usage reported = USAGES.readEvent(event.data());
    usage = reported == null ? usage : reported;
    LogprobMerge merge = merge();
    return merge == null ? event : new StreamEvent(event.event(), merge.merged(event.data()));
  }

  private Word awaitLast() {
    while (true) {
      Word known = last;
      if (known != null) {
        return known;
      }
      Letter unused = take();
    }
  }

  @Override
  public void tell(Word word, @Nullable PdFailure failure) {
    switch (word) {
      case RELEASED -> {
        // nothing has ended
      }
      case ENDED -> {
        reportPrefill();
        ending.completed(usage);
        last = word;
      }
      case REFUSED -> {
        error = failureOf(Objects.requireNonNull(failure));
        ending.refused();
        last = word;
      }
      case FAILED -> {
        RuntimeException known = failureOf(Objects.requireNonNull(failure));
        error = known;
        ending.failed(known instanceof RouterException routing ? routing : null);
        last = word;
      }
      case CANCELLED -> last = word;
    }
    mailbox.post(new Letter(null, word));
  }

  /** What prefill says of its cache is what was predicted of it. */
  private void reportPrefill() {
    PrefillLeg source = prefill;
    Usage reported = source == null ? null : source.usage();
    if (reported != null) {
      conductor.reported(reported);
    }
  }

  private RuntimeException failureOf(PdFailure failure) {
    RuntimeException refusal = conductor.refusal();
    if (failure.phase() == PdFailure.Phase.SELECT && refusal != null) {
      return refusal;
    }
    List<AttemptRecord> attempts = request.attempts();
    if (failure.verdict().equals(PdVerdict.DEADLINE)) {
      return new DeadlineExceededException(request.deadline(), attempts);
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
        attempts,
        refusal);
  }

  private static String outcome(@Nullable LegOutcome outcome) {
    return outcome == null ? "running" : outcome.label();
  }

  @Override
  public Prompt prompt() {
    return request.prompt();
  }

  @Override
  public RouteDecision decision() {
    return request.decision();
  }

  @Override
  public Candidate candidate() {
    return Objects.requireNonNull(conductor.attempt()).pair().decode();
  }

  @Override
  public boolean abandoned() {
    return request.cancelled();
  }

  @Override
  public boolean ended() {
    return last != null;
  }

  @Override
  public void firstByte() {
    // told by the session
  }

  @Override
  public void completed(@Nullable Usage reported, @Nullable String answer) {
    if (mode == Mode.HEADERS) {
      usage = reported;
      Objects.requireNonNull(decodeLeg).ended(LegResult.ok(false), null);
    }
  }

  @Override
  public void rejected(int status) {
    // told by the session
  }

  @Override
  public RouterException broken(TransportException cause) {
    LegCall leg = Objects.requireNonNull(decodeLeg);
    if (last == null) {
      decodeEnded(leg, LegReading.of(cause));
      Word unused = awaitLast();
    }
    return error instanceof RouterException routing
        ? routing
        : new RequestCancelledException("the stream was closed");
  }

  @Override
  public void abandon() {
    ending.cancel();
  }
}
