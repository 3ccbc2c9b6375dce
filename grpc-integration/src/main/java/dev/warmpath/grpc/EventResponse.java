package dev.warmpath.grpc;

import dev.warmpath.api.Headers;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.TransportException;
import java.nio.charset.StandardCharsets;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** A streamed answer, event by event. */
final class EventResponse implements ExchangeResponse {
  private static final Headers EVENTS = Headers.of("content-type", "text/event-stream");

  private final GrpcExchange exchange;
  private final RunningCall<?> call;
  private final Deque<StreamEvent> events;

  /**
   * Creates a response.
   *
   * @param events what has come already, to which the rest is added
   */
  EventResponse(GrpcExchange exchange, RunningCall<?> call, Deque<StreamEvent> events) {
    this.exchange = exchange;
    this.call = call;
    this.events = events;
  }

  @Override
  public int status() {
    return 200;
  }

  @Override
  public Headers headers() {
    return EVENTS;
  }

  @Override
  public boolean streaming() {
    return true;
  }

  /** The events that are left, as server-sent events. */
  @Override
  public byte[] readBody() throws TransportException {
    StringBuilder body = new StringBuilder();
    for (StreamEvent event = nextEvent(); event != null; event = nextEvent()) {
      body.append("data: ").append(event.data()).append("\n\n");
    }
    return body.append("data: [DONE]\n\n").toString().getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public @Nullable StreamEvent nextEvent() throws TransportException {
    while (events.isEmpty() && !call.ended()) {
      try {
        call.more(events::addLast);
      } catch (TransportException e) {
        exchange.giveUp(call, e);
        throw e;
      }
    }
    return events.pollFirst();
  }

  @Override
  public void close() {
    if (!call.ended()) {
      exchange.cancel();
    }
  }
}
