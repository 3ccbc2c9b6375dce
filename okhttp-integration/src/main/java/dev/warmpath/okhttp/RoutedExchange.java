package dev.warmpath.okhttp;

import dev.warmpath.RouterClient;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.Headers;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Secret;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import okhttp3.HttpUrl;
import okhttp3.Interceptor;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a routed call, through the rest of its interceptor chain. An application
 * interceptor may proceed as often as it likes, one after another, each response closed before.
 */
final class RoutedExchange implements Exchange, ExchangeResponse {
  private static final long MAX_ERROR_BYTES = 16 << 10;

  private final Interceptor.Chain chain;
  private final RouterClient router;
  private final OutboundRequest outbound;
  private final @Nullable StreamedBody streamed;
  private final Set<String> forwarded;
  private final AtomicBoolean watched;
  private final ExchangeProgress progress;
  private final Hangup hangup;

  /** Held while a connection is broken off, so that it is not another call's by then. */
  private final ReentrantLock breaking = new ReentrantLock();

  private boolean finished; // guarded by breaking
  private volatile @Nullable BodyLimits limits;
  private volatile @Nullable Response response;

  /**
   * Creates an attempt.
   *
   * @param streamed the caller's body, where it is not in {@code outbound}
   * @param forwarded lower-case names of headers that go to the worker as the caller set them
   * @param watched whether calls are known to pass a {@link ConnectionWatch}; set where one does
   */
  RoutedExchange(
      Interceptor.Chain chain,
      RouterClient router,
      OutboundRequest outbound,
      @Nullable StreamedBody streamed,
      Set<String> forwarded,
      AtomicBoolean watched) {
    this.chain = chain;
    this.router = router;
    this.outbound = outbound;
    this.streamed = streamed;
    this.forwarded = forwarded;
    this.watched = watched;
    Duration total = outbound.timeouts().total();
    this.progress =
        ExchangeProgress.unwatched(
            total == null ? Long.MAX_VALUE : System.nanoTime() + total.toNanos());
    this.hangup = new Hangup(this::breakOff);
  }

  Response response() {
    return Objects.requireNonNull(response);
  }

  ExchangeProgress progress() {
    return progress;
  }

  BodyLimits limits() {
    return Objects.requireNonNull(limits);
  }

  String path() {
    return outbound.path();
  }

  /** Names what OkHttp threw: whoever cancelled the call, it is no fault of the worker's. */
  TransportException failure(IOException error) {
    if (chain.call().isCanceled() && !progress.deadlinePassed()) {
      progress.cancel();
    }
    return Failures.of(error, progress);
  }

  @Override
  public ExchangeResponse execute() throws TransportException {
    Timeouts timeouts = outbound.timeouts();
    limits = BodyLimits.from(timeouts);
    Duration total = timeouts.total();
    Duration first = timeouts.firstToken();
    Duration read = total == null || total.compareTo(first) > 0 ? first : total;
    Response opened;
    try {
      opened =
          chain
              .withConnectTimeout(millis(timeouts.connect()), TimeUnit.MILLISECONDS)
              .withReadTimeout(millis(read), TimeUnit.MILLISECONDS)
              .withWriteTimeout(millis(read), TimeUnit.MILLISECONDS)
              .proceed(toWorker());
    } catch (IOException e) {
      throw failure(e);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw failure(Failures.undeclared(e));
    }
    progress.headersArrived();
    if (progress.connected()) {
      watched.set(true);
    }
    response = opened;
    if (progress.cancelled()) {
      close();
      throw Failures.cancelled(progress);
    }
    return this;
  }

  /** Rounded up: a timeout that fires before the deadline it stands for would look like another. */
  private static int millis(Duration duration) {
    long millis = duration.plusNanos(999_999).toMillis();
    return (int) Math.min(Integer.MAX_VALUE, Math.max(1, millis));
  }

  private Request toWorker() {
    Request original = chain.request();
    Request.Builder out =
        original
            .newBuilder()
            .url(HttpUrl.get(outbound.target().worker().id().value() + outbound.path()))
            .headers(new okhttp3.Headers.Builder().build())
            .tag(ExchangeProgress.class, progress);
    outbound.headers().forEach(out::addHeader);
    Secret key = outbound.target().worker().spec().apiKey();
    if (key != null) {
      out.header("Authorization", "Bearer " + key.reveal());
    }
    for (String name : forwarded) {
      List<String> values = original.headers(name);
      if (!values.isEmpty()) {
        out.removeHeader(name);
        values.forEach(value -> out.addHeader(name, value));
      }
    }
    RequestBody body = original.body();
    if (body != null) {
      RequestBody kept = streamed;
      body = kept != null ? kept : new OneShotBody(outbound.body(), body.contentType());
    }
    return out.method(outbound.method(), body).build();
  }

  /**
   * {@inheritDoc}
   *
   * <p>Over a connection of its own it is the connection that is broken off: the call itself has to
   * live on for another attempt. One that is still to come is refused by the watch as soon as it is
   * there. The call may be on its way to a worker whose abort call goes first. When it is the
   * application that cancels its call, OkHttp has dropped the connection before this is asked.
   */
  @Override
  public void cancel() {
    progress.cancel();
    String rid = outbound.rid();
    boolean tell =
        rid != null
            && outbound.target().worker().engine() == EngineKind.SGLANG
            && progress.reachedWorker()
            && !chain.call().isCanceled();
    hangup.begin(tell ? () -> router.abort(outbound.target(), Objects.requireNonNull(rid)) : null);
  }

  private void breakOff() {
    breaking.lock();
    try {
      if (!finished) {
        breakConnection();
      }
    } finally {
      breaking.unlock();
    }
  }

  private void breakConnection() {
    if (watched.get() && !progress.connected() && !progress.deadlinePassed()) {
      return;
    }
    Socket own = progress.socket();
    if (own == null) {
      chain.call().cancel();
      return;
    }
    try {
      own.close();
    } catch (IOException e) {
      chain.call().cancel();
    }
  }

  /** From now on the connection may serve others at any time: its reader lets it go. */
  void handedOver() {
    letGo(false);
  }

  /** From now on there is nothing to break off: the connection may serve others at any time. */
  private void finish() {
    letGo(true);
  }

  private void letGo(boolean over) {
    breaking.lock();
    try {
      finished |= over;
      progress.alone(null);
    } finally {
      breaking.unlock();
    }
  }

  @Override
  public int status() {
    return response().code();
  }

  @Override
  public Headers headers() {
    return OkHttpHeaders.of(response().headers());
  }

  @Override
  public boolean streaming() {
    return false;
  }

  /** What an error says; it stays there to be read by the call's owner, as all else does. */
  @Override
  public byte[] readBody() throws TransportException {
    if (status() < 300) {
      throw readElsewhere();
    }
    finish(); // what is read to its end lets the connection go
    try {
      return response().peekBody(MAX_ERROR_BYTES).bytes();
    } catch (IOException e) {
      throw failure(e);
    }
  }

  @Override
  public @Nullable StreamEvent nextEvent() throws TransportException {
    throw readElsewhere();
  }

  private static TransportException readElsewhere() {
    return new TransportException(
        Kind.PROTOCOL, FailurePhase.BODY, 0, "the body is read by the call's owner", null);
  }

  @Override
  public void close() {
    Response open = response;
    finish();
    if (open != null) {
      hangup.close(open::close);
    }
  }
}
