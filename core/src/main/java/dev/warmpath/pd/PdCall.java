package dev.warmpath.pd;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import dev.warmpath.dispatch.AnswerOwner;
import dev.warmpath.dispatch.PairDispatch;
import dev.warmpath.pd.PdAction.Word;
import dev.warmpath.pd.PdMailbox.Letter;
import dev.warmpath.policy.Candidate;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.WorkerRole;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One session over blocking exchanges: decode is carried by the calling thread, prefill by one of
 * the client's executor. Used by one calling thread; cancellation may come from any.
 */
final class PdCall implements PdPort, AnswerOwner {
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
  private final DecodeLeg decode;
  private final boolean logprobs;
  private final PdConductor conductor;
  private final PdMailbox mailbox = new PdMailbox();
  private volatile @Nullable PrefillLeg prefill;

  /** The client error that is the answer. */
  private @Nullable PdAnswer refusal;

  private volatile @Nullable RuntimeException error;
  private volatile @Nullable Word last;

  /**
   * Creates a call that has not begun.
   *
   * @param rules what it goes by to its end
   * @param transports opens the exchanges of prefill legs
   * @param decodes opens those of decode legs
   */
  PdCall(
      PdShared shared,
      PdRules rules,
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
    this.decode = new DecodeLeg(mode, ending::cancel, decodes);
    this.logprobs = mode != Mode.HEADERS && original.promptLogprobs();
    this.conductor =
        new PdConductor(shared, rules, request, original, path, this, mode == Mode.HEADERS);
  }

  PdConductor conductor() {
    return conductor;
  }

  /** The answer that was read whole, once {@link #carry} has returned for {@link Mode#WHOLE}. */
  PdAnswer whole() {
    return Objects.requireNonNull(refusal != null ? refusal : decode.whole());
  }

  /** Whether its answer, at hand in part, comes as events. */
  boolean streams() {
    return mode == Mode.STREAM;
  }

  /** Decode's response, once {@link #carry} has returned for the other modes. */
  ExchangeResponse response() {
    return Objects.requireNonNull(decode.pending());
  }

  /** The first event of its stream, likewise; null where it has none. */
  @Nullable StreamEvent first() {
    return decode.first();
  }

  /** The client error that is the answer, once {@link #carry} has returned; null for none. */
  @Nullable PdAnswer refusedAnswer() {
    PdAnswer answer = refusal != null ? refusal : decode.whole();
    return answer != null && answer.status() >= 300 ? answer : null;
  }

  @Nullable Usage usage() {
    return decode.usage();
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
        decode.run(leg);
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
          decode.forget();
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
      decode.forget();
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
    if (decode.refused()) {
      return;
    }
    decode.forget();
    if (prefills == null || mode == Mode.HEADERS) {
      throw told();
    }
    refusal = prefills;
  }

  /** Gives decode's response up, after the answer to an abort call that is under way. */
  void closeResponse() {
    decode.close();
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
    executor.execute(
        () ->
            carrier.run(
                leg,
                outbound -> request.prefill(leg.claim().candidate(), transports.apply(outbound))));
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
    StreamEvent event = decode.next();
    if (event == null) {
      if (awaitLast() != Word.ENDED) {
        throw broke("prefill failed");
      }
      return null;
    }
    if (LegReading.aborted(event.data())) {
      Word unused = awaitLast();
      throw broke("the generation was aborted");
    }
    return taken(event);
  }

  private static TransportException broke(String message) {
    return new TransportException(
        TransportException.Kind.STREAM_ERROR, FailurePhase.BODY, 0, message, null);
  }

  /** An event as the caller gets it. */
  StreamEvent taken(StreamEvent event) {
    decode.count(event);
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
        ending.completed(decode.usage());
        last = word;
      }
      case REFUSED -> {
        error = PdErrors.of(Objects.requireNonNull(failure), request, conductor.refusal());
        ending.refused();
        last = word;
      }
      case FAILED -> {
        RuntimeException known =
            PdErrors.of(Objects.requireNonNull(failure), request, conductor.refusal());
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
      decode.reported(reported);
      decode.leg().ended(LegResult.ok(false), null);
    }
  }

  @Override
  public void rejected(int status) {
    // told by the session
  }

  @Override
  public RouterException broken(TransportException cause) {
    if (last == null) {
      decode.broken(LegReading.of(cause));
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
