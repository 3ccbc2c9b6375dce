package dev.warmpath.okhttp;

import dev.warmpath.api.Headers;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.dispatch.RequestRunner;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.TransportException;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Future;
import okhttp3.MediaType;
import okhttp3.Protocol;
import okhttp3.Request;
import okhttp3.Response;
import okhttp3.ResponseBody;
import okio.Buffer;
import okio.BufferedSource;
import okio.Okio;
import okio.Source;
import okio.Timeout;
import org.jspecify.annotations.Nullable;

/**
 * A response that the router put together from several, as OkHttp's callers know responses: what it
 * read as events becomes bytes again, {@code [DONE]} included.
 */
final class CarriedResponse {
  private static final Cleaner CLEANER = Cleaner.create();

  /** They told how the worker's bytes were framed, which these are not. */
  private static final Set<String> FRAMING =
      Set.of("content-length", "content-encoding", "transfer-encoding", "connection");

  private CarriedResponse() {}

  /**
   * Makes the response.
   *
   * @param watch looks for a cancellation of the call; ended with the body
   * @throws TransportException never for answers that were put together in memory
   */
  static Response of(Request request, RequestRunner.Opened opened, Future<?> watch)
      throws TransportException {
    ExchangeResponse answer = opened.response();
    Response.Builder out =
        new Response.Builder()
            .request(request)
            .protocol(Protocol.HTTP_1_1)
            .code(answer.status())
            .message("");
    answer
        .headers()
        .forEach(
            (name, value) -> {
              if (!FRAMING.contains(name.toLowerCase(Locale.ROOT))) {
                out.addHeader(name, value);
              }
            });
    MediaType type = type(answer.headers());
    if (!answer.streaming()) {
      boolean unused = watch.cancel(false);
      return out.body(ResponseBody.create(answer.readBody(), type)).build();
    }
    Events events = new Events(opened, watch);
    CLEANER.register(events, new Dropped(opened, watch));
    return out.body(new Body(type, Okio.buffer(events))).build();
  }

  private static @Nullable MediaType type(Headers headers) {
    String type = headers.get("Content-Type");
    return type == null ? null : MediaType.parse(type);
  }

  /** Ends a request whose body was never closed. */
  private record Dropped(RequestRunner.Opened opened, Future<?> watch) implements Runnable {
    @Override
    public void run() {
      boolean unused = watch.cancel(false);
      opened.finisher().cancelled();
      opened.response().close();
    }
  }

  private static final class Body extends ResponseBody {
    private final @Nullable MediaType type;
    private final BufferedSource source;

    Body(@Nullable MediaType type, BufferedSource source) {
      this.type = type;
      this.source = source;
    }

    @Override
    public @Nullable MediaType contentType() {
      return type;
    }

    @Override
    public long contentLength() {
      return -1;
    }

    @Override
    public BufferedSource source() {
      return source;
    }
  }

  /** The events as they would go over the wire. */
  private static final class Events implements Source {
    private final RequestRunner.Opened opened;
    private final Future<?> watch;
    private final Buffer ready = new Buffer();
    private boolean ended;

    Events(RequestRunner.Opened opened, Future<?> watch) {
      this.opened = opened;
      this.watch = watch;
    }

    @Override
    public long read(Buffer sink, long byteCount) throws IOException {
      while (ready.exhausted()) {
        if (ended) {
          return -1;
        }
        next();
      }
      return ready.read(sink, byteCount);
    }

    private void next() throws IOException {
      StreamEvent event;
      try {
        event = opened.response().nextEvent();
      } catch (TransportException e) {
        end();
        throw new RouterIOException(opened.owner().broken(e));
      }
      if (event == null) {
        ready.writeUtf8("data: [DONE]\n\n");
        opened.finisher().completed(opened.response().status(), null);
        end();
        return;
      }
      if (event.event() != null) {
        ready.writeUtf8("event: ").writeUtf8(event.event()).writeByte('\n');
      }
      for (String line : event.data().split("\n", -1)) {
        ready.writeUtf8("data: ").writeString(line, StandardCharsets.UTF_8).writeByte('\n');
      }
      ready.writeByte('\n');
    }

    private void end() {
      ended = true;
      boolean unused = watch.cancel(false);
      opened.response().close();
    }

    @Override
    public Timeout timeout() {
      return Timeout.NONE;
    }

    @Override
    public void close() {
      if (!ended) {
        opened.finisher().cancelled();
        end();
      }
    }
  }
}
