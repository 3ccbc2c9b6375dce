package dev.warmpath.okhttp;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.Headers;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import okhttp3.Response;
import okio.BufferedSource;
import org.jspecify.annotations.Nullable;

/**
 * A response of OkHttp's whose headers have arrived. OkHttp's bodies are not to be closed while
 * another thread reads them: the reader is woken and closes it then.
 */
final class OkHttpExchangeResponse implements ExchangeResponse {
  private enum Use {
    IDLE,
    READING,
    CLOSED
  }

  private final Response response;
  private final BufferedSource source;
  private final OkHttpExchange exchange;
  private final ExchangeProgress progress;
  private final BodyLimits limits;
  private final boolean streaming;
  private final boolean markedEnd;
  private final SseReader events;
  private final AtomicReference<Use> use = new AtomicReference<>(Use.IDLE);
  private boolean ended;

  OkHttpExchangeResponse(
      Response response,
      OkHttpExchange exchange,
      ExchangeProgress progress,
      BodyLimits limits,
      String path) {
    this.response = response;
    this.source = response.body().source();
    this.exchange = exchange;
    this.progress = progress;
    this.limits = limits;
    this.streaming = StreamFormat.events(response.body().contentType());
    this.markedEnd = StreamFormat.endsMarked(path);
    this.events = new SseReader(source);
    limits.awaitFirst(source.timeout());
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
    begin();
    try {
      return exchange.interruptibly(
          () -> {
            if (source.request(1)) {
              progress.bodyBegan();
            }
            return source.readByteArray();
          });
    } finally {
      end();
      close();
    }
  }

  @Override
  public @Nullable StreamEvent nextEvent() throws TransportException {
    begin();
    try {
      return ended ? null : event();
    } finally {
      end();
    }
  }

  private @Nullable StreamEvent event() throws TransportException {
    Optional<StreamEvent> read = exchange.interruptibly(() -> Optional.ofNullable(events.next()));
    StreamEvent event = read.orElse(null);
    FailurePhase phase = progress.phase();
    if (event == null) {
      if (!markedEnd) {
        ended = true;
        return null;
      }
      throw new TransportException(
          Kind.PROTOCOL, phase, 0, "the stream ended without its end marker", null);
    }
    if (phase != FailurePhase.BODY) {
      progress.bodyBegan();
      limits.flowing(source.timeout());
    }
    if (StreamFormat.done(event)) {
      ended = true;
      return null;
    }
    Integer error = StreamFormat.error(event);
    if (error != null) {
      throw TransportException.reported(phase, error, event.data());
    }
    ended = StreamFormat.last(event);
    return event;
  }

  private void begin() throws TransportException {
    if (!use.compareAndSet(Use.IDLE, Use.READING)) {
      throw Failures.cancelled(progress);
    }
  }

  private void end() {
    if (!use.compareAndSet(Use.READING, Use.IDLE)) {
      exchange.close(response);
    }
  }

  @Override
  public void close() {
    switch (use.getAndSet(Use.CLOSED)) {
      case IDLE -> exchange.close(response);
      case READING -> exchange.cancel();
      case CLOSED -> {
        // whoever closed it first gives it up
      }
    }
  }
}
