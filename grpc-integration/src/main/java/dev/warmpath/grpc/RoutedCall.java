package dev.warmpath.grpc;

import dev.warmpath.RouterClient;
import dev.warmpath.api.DeadlineExceededException;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterOverloadedException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.dispatch.RequestRunner;
import dev.warmpath.grpc.internal.MessagePrompts;
import dev.warmpath.grpc.internal.Statuses;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A stub's call, which waits for its message before it is routed. Until then, and until a worker
 * has answered, what the stub asks is only noted.
 */
final class RoutedCall<Q, R> extends ClientCall<Q, R> {
  /** W3C Trace Context and Baggage. */
  private static final List<String> TRACE_CONTEXT = List.of("traceparent", "tracestate", "baggage");

  private final RouterClient router;
  private final GrpcTransport transport;
  private final Executor executor;
  private final MethodDescriptor<Q, R> method;
  private final CallOptions options;

  /** The caller's, which cancels what is called in it. */
  private final Context context = Context.current();

  private @Nullable Listener<R> listener;
  private Metadata headers = new Metadata();
  private @Nullable Q message;
  private int requested;
  private boolean cancelled;
  private @Nullable CallAttempt<Q, R> attempt;
  private @Nullable Player live;

  RoutedCall(
      RouterClient router,
      GrpcTransport transport,
      Executor executor,
      MethodDescriptor<Q, R> method,
      CallOptions options) {
    this.router = router;
    this.transport = transport;
    this.executor = executor;
    this.method = method;
    this.options = options;
  }

  @Override
  public void start(Listener<R> responses, Metadata metadata) {
    listener = responses;
    headers = metadata;
  }

  @Override
  public void sendMessage(Q sent) {
    message = sent;
  }

  @Override
  public void halfClose() {
    try {
      executor.execute(context.wrap(this::route));
    } catch (RejectedExecutionException e) {
      end(Status.UNAVAILABLE.withDescription("the channel's executor is shut down").withCause(e));
    }
  }

  @Override
  public void request(int more) {
    Player player;
    synchronized (this) {
      player = live;
      if (player == null) {
        requested += more;
      }
    }
    if (player != null) {
      player.request(more);
    }
  }

  @Override
  public void cancel(@Nullable String why, @Nullable Throwable cause) {
    CallAttempt<Q, R> running;
    synchronized (this) {
      cancelled = true;
      running = attempt;
    }
    if (running != null) {
      running.cancel();
    }
  }

  private void route() {
    Q sent = message;
    try {
      if (sent == null) {
        throw new InvalidRequestException("the call has no message", null);
      }
      RequestRunner.Opened opened =
          router.open(request(sent), out -> attempt(sent, out), () -> true);
      play(opened);
    } catch (RouterException e) {
      end(status(e));
    } catch (RuntimeException | Error e) {
      end(Status.INTERNAL.withCause(e));
      throw e;
    }
  }

  private RouterRequest request(Q sent) {
    RouterRequest.Builder builder =
        RouterRequest.builder(MessagePrompts.path(method.getFullMethodName())).body(bytes(sent));
    for (String name : headers.keys()) {
      if (!name.endsWith(Metadata.BINARY_HEADER_SUFFIX)) {
        String value = headers.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER));
        if (value != null) {
          builder.header(name, value);
        }
      }
    }
    Deadline deadline = options.getDeadline();
    if (deadline != null) {
      long left = Math.max(1, deadline.timeRemaining(TimeUnit.NANOSECONDS));
      builder.deadline(Duration.ofNanos(left));
    }
    return builder.build();
  }

  private byte[] bytes(Q sent) {
    try (InputStream in = method.streamRequest(sent)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new InvalidRequestException("the message can't be written", e);
    }
  }

  private Exchange attempt(Q sent, OutboundRequest out) {
    CallAttempt<Q, R> made =
        new CallAttempt<>(transport, method, options, traced(headers, out), sent, out);
    boolean late;
    synchronized (this) {
      attempt = made;
      late = cancelled;
    }
    if (late) {
      made.cancel();
    }
    return made;
  }

  /** A call's headers with the trace context of the attempt in the place of the call's own. */
  private static Metadata traced(Metadata given, OutboundRequest out) {
    Metadata sent = new Metadata();
    sent.merge(given);
    for (String name : TRACE_CONTEXT) {
      String value = out.headers().get(name);
      if (value != null) {
        Metadata.Key<String> key = Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
        sent.discardAll(key);
        sent.put(key, value);
      }
    }
    return sent;
  }

  /** Hands the call of the worker that answered over to the stub. */
  private void play(RequestRunner.Opened opened) {
    CallAttempt<Q, R> answered;
    Player player;
    synchronized (this) {
      answered = java.util.Objects.requireNonNull(attempt);
      player = new Player(opened, answered, requested);
      live = player;
    }
    tell(() -> answered.first().takeOver(player));
  }

  /**
   * A blocking stub waits for its own executor to be used, and hears nothing that comes otherwise.
   */
  private void tell(Runnable news) {
    Executor stubs = options.getExecutor();
    if (stubs == null) {
      news.run();
    } else {
      stubs.execute(news);
    }
  }

  private void end(Status status) {
    Listener<R> to = listener;
    if (to != null) {
      tell(() -> to.onClose(status, new Metadata()));
    }
  }

  private static Status status(RouterException error) {
    Status status =
        error instanceof DeadlineExceededException
            ? Status.DEADLINE_EXCEEDED
            : error instanceof RequestCancelledException
                ? Status.CANCELLED
                : error instanceof RouterOverloadedException
                    ? Status.RESOURCE_EXHAUSTED
                    : error instanceof InvalidRequestException
                        ? Status.INVALID_ARGUMENT
                        : Status.UNAVAILABLE;
    return status.withDescription(error.getMessage()).withCause(error);
  }

  /**
   * Plays a worker's answer to the stub and tells the router how it fares. The first message was
   * asked for already: it counts against what the stub asks.
   */
  private final class Player extends Listener<R> {
    private final RequestRunner.Opened opened;
    private final CallAttempt<Q, R> answered;
    private final AtomicInteger ahead;

    Player(RequestRunner.Opened opened, CallAttempt<Q, R> answered, int before) {
      this.opened = opened;
      this.answered = answered;
      this.ahead = new AtomicInteger(before == 0 ? 1 : 0);
      if (before > 1) {
        answered.call().request(before - 1);
      }
    }

    void request(int more) {
      // A stub that had asked for nothing has got a message all the same: one less to ask.
      int rest = more - ahead.getAndSet(0);
      if (rest > 0) {
        answered.call().request(rest);
      }
    }

    @Override
    public void onHeaders(Metadata metadata) {
      stub().onHeaders(metadata);
    }

    @Override
    public void onMessage(R response) {
      opened.finisher().firstByte();
      stub().onMessage(response);
    }

    @Override
    public void onReady() {
      stub().onReady();
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (status.isOk()) {
        opened.finisher().completed(200, null);
      } else if (status.getCode() == Status.Code.CANCELLED) {
        opened.finisher().cancelled();
      } else if (opened.response().status() >= 300) {
        opened.finisher().completed(opened.response().status(), null);
      } else {
        opened
            .finisher()
            .failed(
                new TransportException(
                    Kind.STREAM_ERROR,
                    FailurePhase.BODY,
                    Statuses.http(status),
                    "the worker ended the call with " + status.getCode(),
                    status.asException()));
      }
      stub().onClose(status, trailers);
    }

    private Listener<R> stub() {
      return java.util.Objects.requireNonNull(listener);
    }
  }
}
