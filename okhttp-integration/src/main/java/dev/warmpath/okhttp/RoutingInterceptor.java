package dev.warmpath.okhttp;

import dev.warmpath.RouterClient;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.Headers;
import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterOverloadedException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.dispatch.RequestRunner;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Secret;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import okhttp3.Call;
import okhttp3.ConnectionPool;
import okhttp3.Dispatcher;
import okhttp3.HttpUrl;
import okhttp3.Interceptor;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import okhttp3.ResponseBody;
import okio.Buffer;
import org.jspecify.annotations.Nullable;

/**
 * Routes the calls of an existing OkHttp client: a call to the logical host ({@value #DEFAULT_HOST}
 * unless set) goes to the worker the router chooses; every other call passes by untouched. Add it
 * as an application interceptor:
 *
 * <pre>{@code
 * OkHttpClient.Builder builder = existing.newBuilder();
 * RoutingInterceptor.tune(builder);
 * OkHttpClient http = builder.addInterceptor(RoutingInterceptor.of(router)).build();
 * // base URL: http://warmpath.invalid/v1
 * }</pre>
 *
 * <p>Works with OkHttp 4.12 and 5. The call returns at the response's headers; until then failures
 * are retried elsewhere. Then the lease is held until the body ends, breaks or is closed: close
 * every response. The response carries the original request, headers {@code x-warmpath-worker},
 * {@code -policy}, {@code -attempts} and {@code -matched-tokens}, and the {@link RouteDecision} as
 * a tag of its request.
 *
 * <p>Only headers on the allow-list go to workers (content type, accept, request id, trace context,
 * and what {@link Builder#forwardHeader} adds): the application's own {@code Authorization} stays
 * here; the worker's key takes its place.
 *
 * <p>The client's limits still count the logical host as one host, its idle connections outlive the
 * workers' patience and its read timeout cuts long prefills short unless {@link #tune} sets them
 * right. Failures are {@link RouterIOException}s.
 */
public final class RoutingInterceptor implements Interceptor {
  /** The host whose calls are routed. */
  public static final String DEFAULT_HOST = "warmpath.invalid";

  private static final Set<String> ALLOWED =
      Set.of(
          "content-type",
          "accept",
          "x-request-id",
          "traceparent",
          "tracestate",
          "baggage",
          "user-agent");

  private final RouterClient router;
  private final String host;
  private final Set<String> forwarded;
  private final long maxBodyBytes;
  private final boolean failuresAsResponses;

  private RoutingInterceptor(Builder builder) {
    this.router = builder.router;
    this.host = builder.host;
    this.forwarded = Set.copyOf(builder.forwarded);
    this.maxBodyBytes = builder.maxBodyBytes;
    this.failuresAsResponses = builder.failuresAsResponses;
  }

  /** An interceptor with the defaults. The router stays its owner's. */
  public static RoutingInterceptor of(RouterClient router) {
    return builder(router).build();
  }

  /** Starts an interceptor. The router stays its owner's. */
  public static Builder builder(RouterClient router) {
    return new Builder(router);
  }

  /**
   * Sets on {@code client} what routed calls need: a dispatcher without a limit per host, a pool
   * that drops idle connections before workers do, no limit on the whole call, and a watch that
   * tells a stale pooled connection from a worker that broke. Replaces its dispatcher and
   * connection pool, so call it on a builder for routed calls.
   */
  public static void tune(OkHttpClient.Builder client) {
    Dispatcher dispatcher = new Dispatcher();
    dispatcher.setMaxRequests(Integer.MAX_VALUE);
    dispatcher.setMaxRequestsPerHost(Integer.MAX_VALUE);
    client
        .dispatcher(dispatcher)
        .connectionPool(
            new ConnectionPool(
                1_024, OkHttpTransport.DEFAULT_KEEP_ALIVE.toMillis(), TimeUnit.MILLISECONDS))
        .callTimeout(Duration.ZERO)
        .addNetworkInterceptor(new ConnectionWatch());
  }

  @Override
  public Response intercept(Chain chain) throws IOException {
    Request request = chain.request();
    if (!request.url().host().equals(host)) {
      return chain.proceed(request);
    }
    try {
      return route(chain, request);
    } catch (RequestCancelledException e) {
      throw new RouterIOException(e);
    } catch (RouterException e) {
      if (failuresAsResponses) {
        return failureResponse(request, e);
      }
      throw new RouterIOException(e);
    } catch (BodyGone e) {
      throw e.cause;
    }
  }

  private Response route(Chain chain, Request request) throws IOException {
    RequestBody body = request.body();
    boolean buffered = body != null && buffers(body);
    byte[] bytes = buffered ? bytes(Objects.requireNonNull(body)) : new byte[0];
    RouterRequest.Builder routed =
        RouterRequest.builder(path(request.url()))
            .method(request.method())
            .body(bytes)
            .headers(headers(request, body));
    AtomicReference<@Nullable ChainExchange> last = new AtomicReference<>();
    RequestRunner.Opened opened =
        router.open(
            routed.build(),
            outbound -> {
              ChainExchange exchange =
                  new ChainExchange(chain, request, outbound, buffered ? null : body, last.get());
              last.set(exchange);
              return exchange;
            });
    ChainExchange served = Objects.requireNonNull(last.get());
    RouteDecision decision = opened.dispatch().decision();
    Response raw = served.response();
    Response.Builder out =
        raw.newBuilder()
            .request(request.newBuilder().tag(RouteDecision.class, decision).build())
            .header("x-warmpath-worker", opened.attempt().candidate().target().toString())
            .header("x-warmpath-policy", decision.policy())
            .header("x-warmpath-attempts", Integer.toString(decision.attempts().size()))
            .header(
                "x-warmpath-matched-tokens",
                Integer.toString(opened.attempt().candidate().matchedTokens()));
    boolean markedEnd = !request.url().encodedPath().endsWith(RouterRequest.RESPONSES);
    return out.body(
            new RoutedBody(
                raw, markedEnd, opened.finisher(), served.progress, served.timeouts.interToken()))
        .build();
  }

  /**
   * What can't be held in memory, or is written while the response is read, is routed without its
   * prompt.
   */
  private boolean buffers(RequestBody body) throws IOException {
    return !body.isDuplex() && body.contentLength() <= maxBodyBytes;
  }

  private static byte[] bytes(RequestBody body) throws IOException {
    Buffer buffer = new Buffer();
    body.writeTo(buffer);
    return buffer.readByteArray();
  }

  private static String path(HttpUrl url) {
    String query = url.encodedQuery();
    return query == null ? url.encodedPath() : url.encodedPath() + "?" + query;
  }

  private Headers headers(Request request, @Nullable RequestBody body) {
    Headers headers = Headers.EMPTY;
    for (int i = 0; i < request.headers().size(); i++) {
      String name = request.headers().name(i);
      String lower = name.toLowerCase(Locale.ROOT);
      if (ALLOWED.contains(lower)
          || forwarded.contains(lower)
          || lower.startsWith("x-warmpath-")
          || lower.equals("x-mori-session-id")) {
        headers = headers.with(name, request.headers().value(i));
      }
    }
    MediaType type = body == null ? null : body.contentType();
    if (type != null) {
      headers = headers.without("Content-Type").with("Content-Type", type.toString());
    }
    return headers;
  }

  private static Response failureResponse(Request request, RouterException error) {
    Duration retryAfter =
        error instanceof RouterOverloadedException overloaded
            ? overloaded.retryAfter()
            : Duration.ofSeconds(1);
    byte[] json =
        ("{\"error\":{\"message\":\""
                + new String(
                    com.fasterxml.jackson.core.io.JsonStringEncoder.getInstance()
                        .quoteAsString(String.valueOf(error.getMessage())))
                + "\",\"type\":\""
                + error.getClass().getSimpleName()
                + "\",\"code\":503}}")
            .getBytes(StandardCharsets.UTF_8);
    return new Response.Builder()
        .request(request)
        .protocol(Protocol.HTTP_1_1)
        .code(503)
        .message("Service Unavailable")
        .header("Retry-After", Long.toString(Math.max(1, retryAfter.toSeconds())))
        .body(ResponseBody.create(json, MediaType.get("application/json")))
        .build();
  }

  /** A body that could be written once was, and the attempt failed: no other attempt can follow. */
  private static final class BodyGone extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final IOException cause;

    BodyGone(IOException cause) {
      super(cause);
      this.cause = cause;
    }
  }

  /**
   * One attempt through the chain. An application interceptor may proceed as often as it likes, one
   * after another.
   */
  private final class ChainExchange implements Exchange, ExchangeResponse {
    private final Chain chain;
    private final Request original;
    private final OutboundRequest outbound;
    private final @Nullable RequestBody streamed;
    private final @Nullable ChainExchange before;
    private final ExchangeProgress progress;
    private final Timeouts timeouts;
    private volatile @Nullable Response response;
    private @Nullable IOException failure;

    ChainExchange(
        Chain chain,
        Request original,
        OutboundRequest outbound,
        @Nullable RequestBody streamed,
        @Nullable ChainExchange before) {
      this.chain = chain;
      this.original = original;
      this.outbound = outbound;
      this.streamed = streamed;
      this.before = before;
      this.timeouts = outbound.timeouts();
      Duration total = timeouts.total();
      this.progress =
          ExchangeProgress.unwatched(
              total == null ? Long.MAX_VALUE : System.nanoTime() + total.toNanos());
    }

    Response response() {
      return Objects.requireNonNull(response);
    }

    @Override
    public ExchangeResponse execute() throws TransportException {
      ChainExchange earlier = before;
      RequestBody once = streamed;
      if (earlier != null && once != null && (once.isDuplex() || once.isOneShot())) {
        IOException cause = earlier.failure;
        throw new BodyGone(
            cause != null ? cause : new IOException("the request's body can be sent only once"));
      }
      try {
        Duration total = timeouts.total();
        long firstToken = timeouts.firstToken().toMillis();
        long read =
            total == null ? firstToken : Math.min(firstToken, Math.max(1, total.toMillis()));
        response =
            chain
                .withConnectTimeout(millis(timeouts.connect().toMillis()), TimeUnit.MILLISECONDS)
                .withReadTimeout(millis(read), TimeUnit.MILLISECONDS)
                .withWriteTimeout(millis(firstToken), TimeUnit.MILLISECONDS)
                .proceed(toWorker());
        progress.headersArrived();
        return this;
      } catch (IOException e) {
        failure = e;
        if (chain.call().isCanceled()) {
          progress.cancel();
        }
        throw Failures.of(e, progress);
      }
    }

    private Request toWorker() {
      HttpUrl url = HttpUrl.get(outbound.target().worker().id().value() + outbound.path());
      Request.Builder out =
          original
              .newBuilder()
              .url(url)
              .headers(new okhttp3.Headers.Builder().build())
              .tag(ExchangeProgress.class, progress);
      outbound.headers().forEach(out::addHeader);
      Secret key = outbound.target().worker().spec().apiKey();
      if (key != null) {
        out.header("Authorization", "Bearer " + key.reveal());
      }
      RequestBody body = original.body();
      if (body != null) {
        RequestBody kept = streamed;
        body =
            kept != null
                ? new StreamedBody(kept)
                : new OneShotBody(outbound.body(), body.contentType());
      }
      return out.method(outbound.method(), body).build();
    }

    @Override
    public void cancel() {
      progress.cancel();
      Call call = chain.call();
      String rid = outbound.rid();
      if (rid == null
          || outbound.target().worker().engine() != EngineKind.SGLANG
          || call.isCanceled()) {
        call.cancel();
        return;
      }
      var unused =
          router.abort(outbound.target(), rid).whenComplete((done, error) -> call.cancel());
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

    @Override
    public byte[] readBody() throws TransportException {
      throw readElsewhere();
    }

    @Override
    public @Nullable StreamEvent nextEvent() throws TransportException {
      throw readElsewhere();
    }

    private TransportException readElsewhere() {
      return new TransportException(
          Kind.PROTOCOL, FailurePhase.BODY, 0, "the body is read by the call's owner", null);
    }

    @Override
    public void close() {
      Response open = response;
      if (open != null) {
        open.close();
      }
    }
  }

  private static int millis(long millis) {
    return (int) Math.min(Integer.MAX_VALUE, Math.max(1, millis));
  }

  /** Builds a {@link RoutingInterceptor}. Not thread safe. */
  public static final class Builder {
    private final RouterClient router;
    private final Set<String> forwarded = new TreeSet<>();
    private String host = DEFAULT_HOST;
    private long maxBodyBytes = 64L << 20;
    private boolean failuresAsResponses;

    private Builder(RouterClient router) {
      this.router = Objects.requireNonNull(router, "router");
    }

    /**
     * Sets the host whose calls are routed; {@value RoutingInterceptor#DEFAULT_HOST} by default.
     */
    public Builder host(String host) {
      this.host = host.toLowerCase(Locale.ROOT);
      return this;
    }

    /** Lets one more request header through to workers. */
    public Builder forwardHeader(String name) {
      forwarded.add(name.toLowerCase(Locale.ROOT));
      return this;
    }

    /**
     * Sets the largest body that is read into memory to route by its prompt; larger ones go by
     * load. 64 MB.
     */
    public Builder maxBodyBytes(long maxBodyBytes) {
      this.maxBodyBytes = maxBodyBytes;
      return this;
    }

    /**
     * Answers a failure with a 503 response with {@code Retry-After} in place of an exception; off
     * by default.
     */
    public Builder failuresAsResponses(boolean failuresAsResponses) {
      this.failuresAsResponses = failuresAsResponses;
      return this;
    }

    /** The finished interceptor. */
    public RoutingInterceptor build() {
      return new RoutingInterceptor(this);
    }
  }
}
