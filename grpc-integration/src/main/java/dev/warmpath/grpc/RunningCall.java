package dev.warmpath.grpc;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.grpc.Inbox.News;
import dev.warmpath.grpc.internal.Answer;
import dev.warmpath.grpc.internal.EngineErrorException;
import dev.warmpath.grpc.internal.Statuses;
import dev.warmpath.grpc.internal.WireCall;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientStreamTracer;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One call on its way, read by one thread; {@link #cancel} may come from any. What it may take is
 * counted part by part: the connection, the first message, the silence between two, and all.
 */
final class RunningCall<R> {
  /** Messages that may wait here unread. */
  private static final int WINDOW = 4;

  private static final long FOREVER = TimeUnit.DAYS.toNanos(36_500);

  private final ClientCall<?, R> call;
  private final Inbox<R> inbox = new Inbox<>();
  private final Answer<R> answer;
  private final Timeouts timeouts;
  private final boolean streaming;
  private final long started;
  private final long total;
  private final @Nullable Deadline deadline;
  private FailurePhase phase = FailurePhase.CONNECT;
  private boolean ended;
  private volatile boolean cancelled;

  private RunningCall(
      ClientCall<?, R> call,
      Answer<R> answer,
      Timeouts timeouts,
      boolean streaming,
      @Nullable Deadline deadline) {
    this.call = call;
    this.deadline = deadline;
    this.answer = answer;
    this.timeouts = timeouts;
    this.streaming = streaming;
    this.started = System.nanoTime();
    this.total = nanos(timeouts.total());
  }

  /**
   * Begins a call.
   *
   * @param headers metadata that all of the worker's calls carry
   */
  static <Q, R> RunningCall<R> start(
      Channel channel, WireCall<Q, R> wire, Metadata headers, Timeouts timeouts, boolean stream) {
    Connected connected = new Connected();
    CallOptions options = CallOptions.DEFAULT.withStreamTracerFactory(connected);
    Duration total = timeouts.total();
    Deadline deadline =
        total == null ? null : Deadline.after(Math.max(1, total.toNanos()), TimeUnit.NANOSECONDS);
    if (deadline != null) {
      options = options.withDeadline(deadline);
    }
    ClientCall<Q, R> call = channel.newCall(wire.method(), options);
    RunningCall<R> running = new RunningCall<>(call, wire.answer(), timeouts, stream, deadline);
    connected.inbox = running.inbox;
    Metadata all = new Metadata();
    all.merge(headers);
    all.merge(wire.headers());
    call.start(running.inbox, all);
    call.request(WINDOW);
    call.sendMessage(wire.message());
    call.halfClose();
    return running;
  }

  /** Notes when a call has got a connection, which gRPC tells nobody else. */
  private static final class Connected extends ClientStreamTracer.Factory {
    private volatile @Nullable Inbox<?> inbox;

    @Override
    public ClientStreamTracer newClientStreamTracer(
        ClientStreamTracer.StreamInfo info, Metadata headers) {
      return new ClientStreamTracer() {
        @Override
        public void streamCreated(Attributes transport, Metadata sent) {
          Inbox<?> told = inbox;
          if (told != null) {
            told.connected();
          }
        }
      };
    }
  }

  private static long nanos(@Nullable Duration duration) {
    return duration == null || duration.toDays() > 36_500 ? FOREVER : duration.toNanos();
  }

  /** Ends the call wherever it stands; the engine sees it cancelled. */
  void cancel() {
    cancelled = true;
    call.cancel("cancelled", null);
  }

  /** Gives up the rest of a call whose answer is complete. */
  private void leave() {
    ended = true;
    call.cancel("nothing more is wanted", null);
  }

  /** Whether the answer is all there. */
  boolean ended() {
    return ended;
  }

  /** How far it has come. */
  FailurePhase phase() {
    return phase;
  }

  /**
   * Waits for the first message or, of an answer that is not streamed, for all of it.
   *
   * @param events receives what it makes of a stream
   * @return the status of a call that failed before a message of it came, or null
   * @throws TransportException when it ended otherwise than by the server's word
   */
  @Nullable Status begin(Consumer<StreamEvent> events) throws TransportException {
    boolean any = false;
    while (!ended && (!any || !streaming)) {
      Status failed = step(events);
      if (failed != null) {
        return failed;
      }
      any = true;
    }
    return null;
  }

  /**
   * Waits for the next message and takes it in, or for the end.
   *
   * @throws TransportException when the call breaks
   */
  void more(Consumer<StreamEvent> events) throws TransportException {
    Status failed = step(events);
    if (failed != null) {
      throw new TransportException(
          Kind.STREAM_ERROR,
          phase,
          Statuses.http(failed),
          "the worker ended the stream with " + failed.getCode(),
          failed.asException());
    }
  }

  /** One message, or the end; gives the server's status where that is an error. */
  private @Nullable Status step(Consumer<StreamEvent> events) throws TransportException {
    long since = phase == FailurePhase.BODY ? System.nanoTime() : started;
    try {
      News news = await(since);
      if (news == News.CLOSED) {
        return close(events);
      }
      R message = inbox.take();
      call.request(1);
      if (streaming) {
        phase = FailurePhase.BODY;
      }
      answer.take(message, events);
      if (answer.satisfied()) {
        answer.end(events);
        leave();
      }
      return null;
    } catch (EngineErrorException e) {
      call.cancel("the engine failed", null);
      throw new TransportException(Kind.STREAM_ERROR, phase, e.status(), e.reason(), null);
    }
  }

  private @Nullable Status close(Consumer<StreamEvent> events)
      throws TransportException, EngineErrorException {
    Status status = inbox.status();
    if (status.isOk()) {
      ended = true;
      answer.end(events);
      return null;
    }
    if (cancelled) {
      throw failure(Kind.CANCELLED, "cancelled", status);
    }
    if (Statuses.connectionBroke(status)) {
      throw Statuses.notConnected(status) || phase == FailurePhase.CONNECT
          ? failure(Kind.CONNECT, "connection refused or unreachable", status)
          : failure(Kind.RESET, "the connection broke", status);
    }
    if (status.getCode() == Status.Code.DEADLINE_EXCEEDED
        && deadline != null
        && deadline.isExpired()) {
      throw failure(Kind.DEADLINE, "the request's deadline passed", status);
    }
    return status;
  }

  private News await(long since) throws TransportException {
    while (true) {
      long now = System.nanoTime();
      long part = limit();
      long left = Math.min(part - (now - since), total - (now - started));
      News news;
      try {
        news = inbox.await(phase == FailurePhase.CONNECT, left);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        cancel();
        throw new TransportException(Kind.CANCELLED, phase, 0, "interrupted", e);
      }
      if (news == News.CONNECTED) {
        phase = FailurePhase.AWAIT_FIRST_BYTE;
      } else if (news == News.NOTHING) {
        throw timedOut();
      } else {
        phase =
            phase == FailurePhase.CONNECT && news == News.MESSAGE
                ? FailurePhase.AWAIT_FIRST_BYTE
                : phase;
        return news;
      }
    }
  }

  private long limit() {
    return switch (phase) {
      case CONNECT -> nanos(timeouts.connect());
      case BODY -> nanos(timeouts.interToken());
      case AWAIT_HEADERS, AWAIT_FIRST_BYTE, STATUS -> nanos(timeouts.firstToken());
    };
  }

  private TransportException timedOut() {
    boolean deadline = System.nanoTime() - started >= total;
    FailurePhase at = phase;
    call.cancel("timed out", null);
    if (deadline) {
      return new TransportException(Kind.DEADLINE, at, 0, "the request's deadline passed", null);
    }
    return switch (at) {
      case CONNECT -> new TransportException(Kind.CONNECT, at, 0, "connect timed out", null);
      case BODY ->
          new TransportException(
              Kind.IDLE_TIMEOUT, at, 0, "silent beyond the inter-token deadline", null);
      case AWAIT_HEADERS, AWAIT_FIRST_BYTE, STATUS ->
          new TransportException(
              Kind.FIRST_TOKEN_TIMEOUT, at, 0, "no answer before the first-token deadline", null);
    };
  }

  private TransportException failure(Kind kind, String word, Status status) {
    return new TransportException(kind, phase, 0, word, status.asException(inbox.trailers()));
  }
}
