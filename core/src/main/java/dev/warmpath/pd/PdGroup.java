package dev.warmpath.pd;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.Headers;
import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RequestRejectedException;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.api.Usage;
import dev.warmpath.dispatch.AnswerOwner;
import dev.warmpath.dispatch.PairDispatch;
import dev.warmpath.policy.Candidate;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.TransportException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * A request for several generations, as a session for each: all run at once, the first that fails
 * ends the others, and the group ends once. Its answer, whole or as events, is theirs with choices
 * numbered by part.
 */
final class PdGroup implements PdCall.Ending, AnswerOwner, ExchangeResponse {
  private static final int EVENTS = 256;
  private static final long CHECK_MILLIS = 50;

  private record Event(int part, @Nullable StreamEvent event) {}

  private final PairDispatch request;
  private final PdCall.Ending whole;
  private final Executor executor;
  private final List<PdCall> parts = new ArrayList<>();
  private final BlockingQueue<Event> events = new ArrayBlockingQueue<>(EVENTS);
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicInteger running;
  private final CountDownLatch ended;
  private volatile @Nullable Throwable failure;
  private volatile @Nullable PdAnswer refused;
  private volatile @Nullable String id;

  /** Nobody reads events any more. */
  private volatile boolean stopped;

  private int streaming;

  /** An event has been handed on: a refusal is then a stream that broke. */
  private boolean handedOn;

  /**
   * Creates the sessions of a group.
   *
   * @param whole how the request as a whole ends
   * @param make makes the session of a part, which ends as it is told
   */
  PdGroup(
      PairDispatch request,
      PdCall.Ending whole,
      Executor executor,
      List<Original> originals,
      BiFunction<Original, PdCall.Ending, PdCall> make) {
    this.request = request;
    this.whole = whole;
    this.executor = executor;
    for (Original original : originals) {
      parts.add(make.apply(original, this));
    }
    this.running = new AtomicInteger(parts.size());
    this.ended = new CountDownLatch(parts.size());
    this.streaming = parts.size();
  }

  /** The first part's attempt stands for the group in decisions. */
  @Nullable PdAttempt attempt() {
    return shown().conductor().attempt();
  }

  /** How many sessions there are. */
  int size() {
    return parts.size();
  }

  private void each(java.util.function.IntConsumer run) {
    for (int i = 0; i < parts.size(); i++) {
      int part = i;
      Runnable task =
          () -> {
            try {
              run.accept(part);
            } catch (RuntimeException | Error e) {
              fail(e);
            } finally {
              ended.countDown();
            }
          };
      try {
        executor.execute(task);
      } catch (RuntimeException e) {
        fail(e);
        ended.countDown();
      }
    }
  }

  /** The first failure counts: it ends the other parts. */
  private void fail(Throwable error) {
    failOnce(error);
    stopped = true;
    parts.forEach(part -> part.conductor().cancel());
    // Whoever waits for an event is to look.
    boolean unused = events.offer(new Event(-1, null));
  }

  private void failOnce(Throwable error) {
    if (over.compareAndSet(false, true)) {
      failure = error;
      whole.failed(error instanceof RouterException routing ? routing : null);
    }
  }

  /**
   * Carries all parts to their whole answers.
   *
   * @throws RouterException what the first part threw that failed
   */
  PdAnswer whole(String path) {
    each(
        i -> {
          PdCall part = parts.get(i);
          part.carry();
          PdAnswer answer = part.refusedAnswer();
          if (answer != null && over.compareAndSet(false, true)) {
            refused = answer;
            whole.completed(null);
            parts.forEach(other -> other.conductor().cancel());
          }
        });
    try {
      request.await(ended);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      whole.cancel();
      throw new RequestCancelledException("interrupted while the workers were at it");
    }
    PdAnswer refusal = refused;
    if (refusal != null) {
      return refusal;
    }
    rethrow();
    List<byte[]> bodies = new ArrayList<>();
    for (PdCall part : parts) {
      bodies.add(part.merged(part.whole().body()));
    }
    PdAnswer first = parts.get(0).whole();
    Headers headers = first.headers().without("Content-Length");
    return new PdAnswer(first.status(), headers, PdParts.joined(path, bodies));
  }

  private void rethrow() {
    Throwable error = failure;
    if (error instanceof RuntimeException known) {
      throw known;
    }
    if (error instanceof Error known) {
      throw known;
    }
    if (request.cancelled()) {
      throw new RequestCancelledException("the request was cancelled");
    }
  }

  /**
   * Begins all parts' streams and waits for the first event of any.
   *
   * @throws RouterException what the first part threw that failed
   */
  @Nullable StreamEvent begin() {
    each(this::pump);
    try {
      return nextEvent();
    } catch (TransportException e) {
      throw broken(e);
    }
  }

  /** The refusal that is the answer, or null. */
  @Nullable PdAnswer refusal() {
    return refused;
  }

  private void pump(int i) {
    PdCall part = parts.get(i);
    part.carry();
    PdAnswer answer = part.refusedAnswer();
    if (answer != null) {
      refused = answer;
      if (over.compareAndSet(false, true)) {
        whole.completed(null);
      }
      stopped = true;
      parts.forEach(other -> other.conductor().cancel());
      return;
    }
    try {
      StreamEvent event = part.first();
      event = event == null ? null : part.taken(event);
      while (event != null) {
        if (!put(new Event(i, event))) {
          return;
        }
        event = part.nextEvent();
      }
      boolean unused = put(new Event(i, null));
    } catch (TransportException e) {
      fail(part.broken(e));
    } finally {
      part.closeResponse();
    }
  }

  /** Hands an event over; false when nobody takes it any more. */
  private boolean put(Event event) {
    try {
      while (!stopped && !request.cancelled()) {
        if (events.offer(event, CHECK_MILLIS, TimeUnit.MILLISECONDS)) {
          return true;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      cancel();
    }
    return false;
  }

  @Override
  public @Nullable StreamEvent nextEvent() throws TransportException {
    while (streaming > 0) {
      Event next;
      try {
        next = events.poll(CHECK_MILLIS, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        whole.cancel();
        throw broke("interrupted");
      }
      if (failure != null || request.cancelled()) {
        throw broke("a part of the request failed");
      }
      if (refused != null) {
        if (handedOn) {
          throw broke("a part of the request was refused");
        }
        return null;
      }
      if (next == null) {
        continue;
      }
      StreamEvent event = next.event();
      if (event == null) {
        streaming--;
        continue;
      }
      if (id == null) {
        id = PdParts.id(event.data());
      }
      handedOn = true;
      return new StreamEvent(event.event(), PdParts.numbered(event.data(), next.part(), id));
    }
    return null;
  }

  private static TransportException broke(String message) {
    return new TransportException(
        TransportException.Kind.STREAM_ERROR, FailurePhase.BODY, 0, message, null);
  }

  // How the parts end.

  @Override
  public void completed(@Nullable Usage unused) {
    if (running.decrementAndGet() == 0 && over.compareAndSet(false, true)) {
      whole.completed(usage());
    }
  }

  /** The parts' counts, added up. */
  @Nullable Usage usage() {
    int prompt = 0;
    int completion = 0;
    boolean any = false;
    for (PdCall part : parts) {
      Usage each = part.usage();
      if (each != null) {
        any = true;
        prompt += each.promptTokens() == null ? 0 : each.promptTokens();
        completion += each.completionTokens() == null ? 0 : each.completionTokens();
      }
    }
    return any ? new Usage(prompt, null, completion) : null;
  }

  @Override
  public void refused() {
    // what the part's own thread finds tells it
  }

  @Override
  public void failed(@Nullable RouterException error) {
    // what the part's own thread throws tells it
  }

  @Override
  public void cancel() {
    whole.cancel();
  }

  /** The first part that has got to its workers, which need not be the first to be sent. */
  private PdCall shown() {
    return parts.stream()
        .filter(part -> part.conductor().attempt() != null)
        .findFirst()
        .orElse(parts.get(0));
  }

  // The group's answer, for whoever reads it.

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
    return shown().candidate();
  }

  @Override
  public boolean abandoned() {
    return request.cancelled();
  }

  @Override
  public boolean ended() {
    return over.get();
  }

  @Override
  public void firstByte() {
    // told by the parts
  }

  @Override
  public void completed(@Nullable Usage reported, @Nullable String answer) {
    // told by the parts
  }

  @Override
  public void rejected(int status) {
    // told by the parts
  }

  @Override
  public RouterException broken(TransportException cause) {
    Throwable error = failure;
    if (error instanceof RouterException routing) {
      return routing;
    }
    PdAnswer refusal = refused;
    if (refusal != null) {
      return new RequestRejectedException(refusal.status(), refusal.body(), request.decision());
    }
    whole.cancel();
    return new RequestCancelledException("the stream was closed");
  }

  @Override
  public void abandon() {
    whole.cancel();
  }

  @Override
  public int status() {
    return 200;
  }

  @Override
  public Headers headers() {
    return Headers.of("Content-Type", "text/event-stream");
  }

  @Override
  public boolean streaming() {
    return true;
  }

  @Override
  public byte[] readBody() {
    return new byte[0];
  }

  @Override
  public void close() {
    stopped = true;
    if (over.compareAndSet(false, true)) {
      whole.cancel();
    }
  }
}
