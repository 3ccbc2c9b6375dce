package dev.warmpath.grpc;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.grpc.internal.Statuses;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A stub's call at one worker, up to its first message. */
final class CallAttempt<Q, R> implements Exchange {
  private final ClientCall<Q, R> call;
  private final FirstMessage<R> first = new FirstMessage<>();
  private final Q message;
  private final Metadata headers;
  private final OutboundRequest request;
  private boolean started;
  private boolean cancelled;

  /**
   * Prepares a call at the worker that {@code request} goes to.
   *
   * @param message the one message that is sent
   */
  CallAttempt(
      GrpcTransport transport,
      MethodDescriptor<Q, R> method,
      CallOptions options,
      Metadata headers,
      Q message,
      OutboundRequest request) {
    this.call = transport.channel(request.target().worker()).newCall(method, options);
    this.headers = headers;
    this.message = message;
    this.request = request;
  }

  ClientCall<Q, R> call() {
    return call;
  }

  FirstMessage<R> first() {
    return first;
  }

  @Override
  public ExchangeResponse execute() throws TransportException {
    Metadata sent = new Metadata();
    sent.merge(headers);
    start(sent);
    call.request(1);
    call.sendMessage(message);
    call.halfClose();
    Status failed = await() ? null : first.closed();
    if (failed == null || failed.isOk()) {
      return new WholeResponse(200, new byte[0]);
    }
    if (failed.getCode() == Status.Code.CANCELLED) {
      throw failure(Kind.CANCELLED, "cancelled", failed);
    }
    if (Statuses.connectionBroke(failed)) {
      throw failure(
          Statuses.notConnected(failed) ? Kind.CONNECT : Kind.RESET, "not connected", failed);
    }
    return new WholeResponse(Statuses.http(failed), new byte[0]);
  }

  private synchronized void start(Metadata sent) throws TransportException {
    if (cancelled) {
      throw failure(Kind.CANCELLED, "cancelled", null);
    }
    call.start(first, sent);
    started = true;
  }

  private boolean await() throws TransportException {
    Duration total = request.timeouts().total();
    long limit = request.timeouts().firstToken().toNanos();
    limit = total == null ? limit : Math.min(limit, total.toNanos());
    try {
      return first.came().get(limit, TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      cancel();
      boolean all = total != null && total.toNanos() <= limit;
      throw failure(all ? Kind.DEADLINE : Kind.FIRST_TOKEN_TIMEOUT, "no message in time", null);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      cancel();
      throw failure(Kind.CANCELLED, "interrupted", null);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // it is never completed so
    }
  }

  private static TransportException failure(Kind kind, String word, @Nullable Status status) {
    FailurePhase phase =
        kind == Kind.CONNECT ? FailurePhase.CONNECT : FailurePhase.AWAIT_FIRST_BYTE;
    return new TransportException(
        kind, phase, 0, word, status == null ? null : status.asException());
  }

  /** gRPC refuses to start what is cancelled, so that this is only noted until then. */
  @Override
  public synchronized void cancel() {
    cancelled = true;
    if (started) {
      call.cancel("cancelled", null);
    }
  }
}
