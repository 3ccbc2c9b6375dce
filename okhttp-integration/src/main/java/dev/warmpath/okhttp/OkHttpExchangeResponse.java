package dev.warmpath.okhttp;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.Headers;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import okhttp3.MediaType;
import okhttp3.Response;
import okio.BufferedSource;
import org.jspecify.annotations.Nullable;

/** A response of OkHttp's whose headers have arrived. */
final class OkHttpExchangeResponse implements ExchangeResponse {
  private final OkHttpExchange exchange;
  private final Response response;
  private final BufferedSource source;
  private final ExchangeProgress progress;
  private final Duration interToken;
  private final boolean streaming;
  private final SseReader events;
  private boolean ended;

  OkHttpExchangeResponse(
      OkHttpExchange exchange, Response response, ExchangeProgress progress, Duration interToken) {
    this.exchange = exchange;
    this.response = response;
    this.source = response.body().source();
    this.progress = progress;
    this.interToken = interToken;
    MediaType type = response.body().contentType();
    this.streaming =
        type != null && type.type().equals("text") && type.subtype().equals("event-stream");
    this.events = new SseReader(source);
  }

  @Override
  public int status() {
    return response.code();
  }

  @Override
  public Headers headers() {
    return OkHttpHeaders.of(response.headers());
  }

  @Override
  public boolean streaming() {
    return streaming;
  }

  @Override
  public byte[] readBody() throws TransportException {
    try {
      return exchange.interruptibly(
          () -> {
            if (source.request(1)) {
              progress.bodyBegan();
            }
            return source.readByteArray();
          });
    } finally {
      close();
    }
  }

  @Override
  public @Nullable StreamEvent nextEvent() throws TransportException {
    if (ended) {
      return null;
    }
    Optional<StreamEvent> read = exchange.interruptibly(() -> Optional.ofNullable(events.next()));
    StreamEvent event = read.orElse(null);
    FailurePhase phase = progress.phase();
    if (event == null) {
      throw new TransportException(
          Kind.PROTOCOL, phase, 0, "the stream ended without its end marker", null);
    }
    if (phase != FailurePhase.BODY) {
      progress.bodyBegan();
      source.timeout().timeout(interToken.toMillis(), TimeUnit.MILLISECONDS);
    }
    if (StreamFormat.done(event)) {
      ended = true;
      return null;
    }
    Integer error = StreamFormat.error(event);
    if (error != null) {
      throw new TransportException(
          Kind.STREAM_ERROR, phase, error, "the worker reported an error in the stream", null);
    }
    ended = StreamFormat.last(event);
    return event;
  }

  @Override
  public void close() {
    response.close();
  }
}
