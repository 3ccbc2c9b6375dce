package dev.warmpath.okhttp;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.dispatch.RequestRunner;
import dev.warmpath.transport.TransportException;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import okhttp3.MediaType;
import okhttp3.Response;
import okhttp3.ResponseBody;
import okio.Buffer;
import okio.BufferedSource;
import okio.ByteString;
import okio.ForwardingSource;
import okio.Okio;
import okio.Source;
import org.jspecify.annotations.Nullable;

/**
 * A response body that tells how the request ends as its bytes go by: at its end, at its end
 * marker, at a failure, at a close before the end (which is a cancellation), or when it is
 * collected unclosed. One of them counts, the first.
 */
final class RoutedBody extends ResponseBody {
  private static final Cleaner CLEANER = Cleaner.create();
  private static final ByteString DONE = ByteString.encodeUtf8("[DONE]");

  /** Enough for the end marker and the line ends after it. */
  private static final int TAIL_BYTES = 32;

  private final ResponseBody inner;
  private final BufferedSource source;

  /**
   * Wraps a response's body.
   *
   * @param markedEnd whether a stream of this path ends with {@code [DONE]}
   */
  RoutedBody(
      Response response,
      boolean markedEnd,
      RequestRunner.Finisher finisher,
      ExchangeProgress progress,
      Duration interToken) {
    this.inner = response.body();
    MediaType type = inner.contentType();
    boolean events =
        type != null && type.type().equals("text") && type.subtype().equals("event-stream");
    Watched watched =
        new Watched(
            inner.source(),
            inner.contentLength(),
            events,
            markedEnd,
            response.code(),
            finisher,
            progress,
            interToken);
    this.source = Okio.buffer(watched);
    CLEANER.register(this, finisher::cancelled);
  }

  @Override
  public @Nullable MediaType contentType() {
    return inner.contentType();
  }

  @Override
  public long contentLength() {
    return inner.contentLength();
  }

  @Override
  public BufferedSource source() {
    return source;
  }

  private static final class Watched extends ForwardingSource {
    private final long expected;
    private final boolean events;
    private final boolean markedEnd;
    private final int status;
    private final RequestRunner.Finisher finisher;
    private final ExchangeProgress progress;
    private final Duration interToken;
    private final Buffer tail = new Buffer();
    private long seen;
    private boolean complete;

    Watched(
        Source inner,
        long expected,
        boolean events,
        boolean markedEnd,
        int status,
        RequestRunner.Finisher finisher,
        ExchangeProgress progress,
        Duration interToken) {
      super(inner);
      this.expected = expected;
      this.events = events;
      this.markedEnd = markedEnd;
      this.status = status;
      this.finisher = finisher;
      this.progress = progress;
      this.interToken = interToken;
    }

    @Override
    public long read(Buffer sink, long byteCount) throws IOException {
      long read;
      try {
        read = super.read(sink, byteCount);
      } catch (IOException e) {
        finisher.failed(Failures.of(e, progress));
        throw e;
      }
      if (read < 0) {
        end();
        return read;
      }
      if (seen == 0 && read > 0) {
        progress.bodyBegan();
        finisher.firstByte();
        timeout().timeout(interToken.toMillis(), TimeUnit.MILLISECONDS);
      }
      seen += read;
      if (events) {
        keepTail(sink, read);
      }
      if (seen == expected || (events && marked())) {
        complete();
      }
      return read;
    }

    private void keepTail(Buffer sink, long read) throws IOException {
      long take = Math.min(read, TAIL_BYTES);
      sink.copyTo(tail, sink.size() - take, take);
      if (tail.size() > TAIL_BYTES) {
        tail.skip(tail.size() - TAIL_BYTES);
      }
    }

    private boolean marked() {
      ByteString end = tail.snapshot();
      int last = end.size();
      while (last > 0 && (end.getByte(last - 1) == '\n' || end.getByte(last - 1) == '\r')) {
        last--;
      }
      return last >= DONE.size()
          && last < end.size()
          && end.rangeEquals(last - DONE.size(), DONE, 0, DONE.size());
    }

    private void end() {
      if (events && status < 300 && !complete && markedEnd) {
        // The caller sees the end as it is; the worker's breaker must know that it was cut short.
        finisher.failed(
            new TransportException(
                TransportException.Kind.PROTOCOL,
                seen == 0 ? FailurePhase.AWAIT_FIRST_BYTE : FailurePhase.BODY,
                0,
                "the stream ended without its end marker",
                null));
        return;
      }
      complete();
    }

    private void complete() {
      if (!complete) {
        complete = true;
        finisher.completed(status, null);
      }
    }

    @Override
    public void close() throws IOException {
      if (!complete) {
        finisher.cancelled();
      }
      super.close();
    }
  }
}
