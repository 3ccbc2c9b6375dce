package dev.warmpath.grpc;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.grpc.internal.Answer;
import dev.warmpath.grpc.internal.EngineService;
import dev.warmpath.grpc.internal.EngineServices;
import dev.warmpath.grpc.internal.ErrorBody;
import dev.warmpath.grpc.internal.InexpressibleException;
import dev.warmpath.grpc.internal.Statuses;
import dev.warmpath.grpc.internal.WireCall;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import io.grpc.Status;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** One request to one worker, in the words of the service that the worker offers. */
final class GrpcExchange implements Exchange {
  private final OutboundRequest request;
  private final Endpoint endpoint;
  private final String rid;
  private final long createdSeconds;
  private @Nullable EngineService service;
  private @Nullable RunningCall<?> running;
  private boolean cancelled;

  GrpcExchange(OutboundRequest request, Endpoint endpoint, long createdSeconds) {
    this.request = request;
    this.endpoint = endpoint;
    this.createdSeconds = createdSeconds;
    String known = request.rid();
    this.rid = known == null ? UUID.randomUUID().toString().replace("-", "") : known;
  }

  @Override
  public ExchangeResponse execute() throws TransportException {
    EngineServices.Found found =
        endpoint.found(request.target().worker(), request.timeouts().connect());
    WireCall<?, ?> wire;
    try {
      wire = found.service().call(request, rid, found.facts(), createdSeconds);
    } catch (InexpressibleException e) {
      return new WholeResponse(400, ErrorBody.of(400, e.reason()));
    }
    return execute(found.service(), wire);
  }

  private <R> ExchangeResponse execute(EngineService offered, WireCall<?, R> wire)
      throws TransportException {
    RunningCall<R> call = begin(offered, wire);
    Deque<StreamEvent> events = new ArrayDeque<>();
    Status failed;
    try {
      failed = call.begin(events::addLast);
    } catch (TransportException e) {
      giveUp(call, e);
      throw e;
    }
    if (failed != null) {
      if (failed.getCode() == Status.Code.UNIMPLEMENTED) {
        endpoint.forget();
      }
      int status = Statuses.http(failed);
      String description = failed.getDescription();
      return new WholeResponse(
          status,
          ErrorBody.of(status, description == null ? failed.getCode().name() : description));
    }
    Answer<R> answer = wire.answer();
    return request.stream() && answer.status() == 200
        ? new EventResponse(this, call, events)
        : new WholeResponse(answer.status(), answer.body());
  }

  private synchronized <R> RunningCall<R> begin(EngineService offered, WireCall<?, R> wire)
      throws TransportException {
    if (cancelled) {
      throw cancellation();
    }
    RunningCall<R> call =
        RunningCall.start(
            endpoint.channel(),
            wire,
            endpoint.headers(request),
            request.timeouts(),
            request.stream());
    service = offered;
    running = call;
    return call;
  }

  /**
   * Nobody waits any more for a call that did not come to its end, as after a timeout: the engine
   * is to know it, where it has got the call.
   */
  void giveUp(RunningCall<?> call, TransportException why) {
    if (!call.ended() && why.kind() != Kind.CONNECT) {
      cancel();
    }
  }

  static TransportException cancellation() {
    return new TransportException(Kind.CANCELLED, FailurePhase.CONNECT, 0, "cancelled", null);
  }

  @Override
  public void cancel() {
    RunningCall<?> call;
    EngineService offered;
    synchronized (this) {
      if (cancelled) {
        return;
      }
      cancelled = true;
      call = running;
      offered = service;
    }
    if (call != null) {
      call.cancel();
      if (offered != null && offered.outlivesCancel()) {
        endpoint.abortLater(request.target().worker(), offered, rid);
      }
    }
  }
}
