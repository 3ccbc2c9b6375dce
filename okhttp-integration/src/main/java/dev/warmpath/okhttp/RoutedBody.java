package dev.warmpath.okhttp;

import dev.warmpath.api.FailurePhase;
import dev.warmpath.dispatch.RequestRunner;
import dev.warmpath.transport.TransportException;
import java.io.IOException;
import java.lang.ref.Cleaner;
import okhttp3.MediaType;
import okhttp3.Response;
import okhttp3.ResponseBody;
import okio.Buffer;
import okio.BufferedSource;
import okio.ByteString;
import okio.ForwardingSource;
import okio.Okio;
import org.jspecify.annotations.Nullable;

/**
 * A response body that tells how the request ends as its bytes go by: at its end, at its end
 * marker, at a failure, at a close before the end of a stream (which is a cancellation), or when it
 * is collected unclosed. One of them counts, the first.
 */
final class RoutedBody extends ResponseBody {
  private static final Cleaner CLEANER = Cleaner.create();
  private static final ByteString DONE = ByteString.encodeUtf8("[DONE]");

  /** Longest body that is kept to be read at its end; okio shares the bytes, it copies none. */
  private static final long MAX_KEPT_BYTES = 1 << 20;

  /** Enough for the end marker and the line ends after it. */
  private static final int TAIL_BYTES = 32;

  private final ResponseBody inner;
  private final BufferedSource source;

  /**
   * Wraps a response's body.
   *
   * @param response the worker's response
   * @param exchange the attempt that it answers
   * @param finisher is told how it ends
   */
  RoutedBody(Response response, RoutedExchange exchange, RequestRunner.Finisher finisher) {
    this.inner = response.body();
    exchange.handedOver();
    Watched watched = new Watched(response, exchange, finisher);
    this.source = Okio.buffer(watched);
    // What callers keep may be the source alone, not this body.
    CLEANER.register(watched, finisher::cancelled);
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
    private final boolean doneMarked;
    private final int status;
    private final RoutedExchange exchange;
    private final RequestRunner.Finisher finisher;
    private final Buffer tail = new Buffer();
    private @Nullable Buffer kept;
    private long seen;
    private boolean over;

    Watched(Response response, RoutedExchange exchange, RequestRunner.Finisher finisher) {
      super(response.body().source());
      boolean bodiless = response.request().method().equals("HEAD");
      this.expected = bodiless ? 0 : response.body().contentLength();
      this.events = StreamFormat.events(response.body().contentType());
      this.status = response.code();
      this.doneMarked = events && status < 300 && StreamFormat.endsDone(exchange.path());
      this.exchange = exchange;
      this.finisher = finisher;
      this.kept =
          status < 300 && response.header("Content-Encoding") == null && finisher.wantsBody()
              ? new Buffer()
              : null;
      exchange.limits().awaitFirst(timeout());
      if (expected == 0) {
        complete();
      }
    }

    @Override
    public long read(Buffer sink, long byteCount) throws IOException {
      long read;
      try {
        read = super.read(sink, byteCount);
      } catch (IOException e) {
        failed(exchange.failure(e));
        throw e;
      }
      if (read < 0) {
        end();
        return read;
      }
      if (seen == 0 && read > 0) {
        exchange.progress().bodyBegan();
        finisher.firstByte();
        if (events) {
          exchange.limits().flowing(timeout());
        }
      }
      seen += read;
      keep(sink, read);
      if (doneMarked) {
        keepTail(sink, read);
      }
      if (seen == expected || (doneMarked && marked())) {
        complete();
      }
      return read;
    }

    private void keep(Buffer sink, long read) {
      Buffer all = kept;
      if (all != null) {
        if (all.size() + read > MAX_KEPT_BYTES) {
          kept = null;
        } else {
          sink.copyTo(all, sink.size() - read, read);
        }
      }
    }

    private void keepTail(Buffer sink, long read) {
      long take = Math.min(read, TAIL_BYTES);
      sink.copyTo(tail, sink.size() - take, take);
      if (tail.size() > TAIL_BYTES) {
        try {
          tail.skip(tail.size() - TAIL_BYTES);
        } catch (IOException e) {
          throw new AssertionError("a buffer in memory has all it holds", e);
        }
      }
    }

    /** Whether the bytes end in a line that holds the end marker and nothing after it. */
    private boolean marked() {
      ByteString end = tail.snapshot();
      int last = end.size();
      while (last > 0 && (end.getByte(last - 1) == '\n' || end.getByte(last - 1) == '\r')) {
        last--;
      }
      int first = last - DONE.size();
      return first > 0
          && last < end.size()
          && end.rangeEquals(first, DONE, 0, DONE.size())
          && (end.getByte(first - 1) == ' ' || end.getByte(first - 1) == ':');
    }

    private void end() {
      if (doneMarked && !over) {
        // The caller sees the end as it is; the worker's breaker must know that it was cut short.
        failed(
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

    private void failed(TransportException error) {
      over = true;
      finisher.failed(error);
    }

    private void complete() {
      if (!over) {
        over = true;
        Buffer all = kept;
        kept = null;
        finisher.completed(status, all == null || all.size() == 0 ? null : all.readByteArray());
      }
    }

    @Override
    public void close() throws IOException {
      if (events && !over) {
        over = true;
        finisher.cancelled();
      }
      // A whole response was ready before its headers came: a reader that stops short of the last
      // byte has given nothing up.
      complete();
      exchange.close();
    }
  }
}
