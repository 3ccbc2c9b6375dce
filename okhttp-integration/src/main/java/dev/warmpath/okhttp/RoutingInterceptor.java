package dev.warmpath.okhttp;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import dev.warmpath.RouterClient;
import dev.warmpath.api.DeadlineExceededException;
import dev.warmpath.api.Headers;
import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.LookupInfo;
import dev.warmpath.api.PdInfo;
import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterOverloadedException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.dispatch.RequestRunner;
import dev.warmpath.policy.Candidate;
import dev.warmpath.transport.TransportException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
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
 * {@code -policy}, {@code -attempts}, {@code -matched-tokens}, {@code -block-hashes} (how many:
 * none while prompts are matched by bytes) and, where a block locator is asked, {@code
 * -umbp-matches} (the blocks it found there, or {@code unknown}), and the {@link RouteDecision} as
 * a tag of its request.
 *
 * <p>Where a prefill and a decode worker share a request, decode goes over the call and prefill
 * over the router's own transport. A request for several generations (n above 1, several prompts),
 * or with log-probabilities of the prompt, becomes several exchanges whose answers are put
 * together: the router's transports carry all of them, so that the client's network interceptors,
 * event listener and timeouts see none, and a header that {@link Builder#forwardHeader} adds does
 * not take the place of the worker's key there.
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
          "content-encoding",
          "accept",
          "x-request-id",
          "traceparent",
          "tracestate",
          "baggage",
          "user-agent");

  private static final Set<String> CONNECTION =
      Set.of(
          "connection",
          "content-length",
          "expect",
          "host",
          "keep-alive",
          "proxy-authorization",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade");

  private final RouterClient router;
  private final String host;
  private final Set<String> forwarded;
  private final long maxBodyBytes;
  private final boolean failuresAsResponses;
  private final AtomicBoolean watched = new AtomicBoolean();

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
   * that drops idle connections before workers do, no limit on the whole call, no redirects, and a
   * watch that tells a stale pooled connection from a worker that broke. Replaces its dispatcher
   * and connection pool, so call it on a builder for routed calls.
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
        .followRedirects(false)
        .followSslRedirects(false)
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
    } catch (RuntimeException e) {
      // A policy's or a listener's, say. OkHttp hands anything but an IOException of an enqueued
      // call to the thread's uncaught handler.
      throw new IOException("routing the call failed: " + e.getClass().getName(), e);
    }
  }

  private Response route(Chain chain, Request request) throws IOException {
    RequestBody body = request.body();
    // An encoded body can't be read, and neither can one that is not held in memory.
    byte[] bytes =
        body == null || request.header("Content-Encoding") != null
            ? null
            : BodyPeek.bytes(body, maxBodyBytes);
    StreamedBody streamed = body == null || bytes != null ? null : new StreamedBody(body);
    RouterRequest routed =
        RouterRequest.builder(path(request.url()))
            .method(request.method())
            .body(bytes == null ? new byte[0] : bytes)
            .headers(headers(request, body))
            .build();
    AtomicReference<@Nullable RoutedExchange> last = new AtomicReference<>();
    AtomicReference<@Nullable Future<?>> carried = new AtomicReference<>();
    RequestRunner.Opened opened;
    try {
      opened =
          router.open(
              routed,
              outbound -> {
                RoutedExchange exchange =
                    new RoutedExchange(chain, router, outbound, streamed, forwarded, watched);
                last.set(exchange);
                return exchange;
              },
              () -> (streamed == null || streamed.repeatable()) && !chain.call().isCanceled(),
              cancel -> carried.set(CancelWatch.of(chain.call(), cancel)));
    } catch (RuntimeException | Error e) {
      end(carried.get());
      throw e;
    }
    Future<?> watch = carried.get();
    if (watch != null && !(opened.response() instanceof RoutedExchange)) {
      return carried(request, opened, watch);
    }
    end(watch);
    RoutedExchange served = Objects.requireNonNull(last.get());
    try {
      Response raw = served.response();
      return annotated(raw.newBuilder(), request, opened)
          .body(new RoutedBody(raw, served, opened.finisher()))
          .build();
    } catch (RuntimeException | Error e) {
      opened.finisher().cancelled();
      served.close();
      throw e;
    }
  }

  private static void end(@Nullable Future<?> watch) {
    if (watch != null) {
      boolean unused = watch.cancel(false);
    }
  }

  /** An answer that the router put together itself. */
  private static Response carried(Request request, RequestRunner.Opened opened, Future<?> watch)
      throws IOException {
    try {
      Response answer = CarriedResponse.of(request, opened, watch);
      return annotated(answer.newBuilder(), request, opened).build();
    } catch (TransportException e) {
      end(watch);
      throw new RouterIOException(opened.owner().broken(e));
    }
  }

  private static Response.Builder annotated(
      Response.Builder response, Request request, RequestRunner.Opened opened) {
    RouteDecision decision = opened.owner().decision();
    Candidate candidate = opened.owner().candidate();
    LookupInfo lookup = decision.lookup();
    if (lookup != null) {
      response.header("x-warmpath-umbp-matches", matches(lookup, decision));
    }
    return response
        .request(request.newBuilder().tag(RouteDecision.class, decision).build())
        .header("x-warmpath-worker", candidate.target().toString())
        .header("x-warmpath-policy", printable(decision.policy()))
        .header("x-warmpath-attempts", Integer.toString(decision.attempts().size()))
        .header("x-warmpath-matched-tokens", Integer.toString(candidate.matchedTokens()))
        .header("x-warmpath-block-hashes", Integer.toString(decision.prompt().blocks()));
  }

  /** The blocks found at the worker that computes the prompt; unknown where nothing was told. */
  private static String matches(LookupInfo lookup, RouteDecision decision) {
    PdInfo pd = decision.pd();
    RouteDecision.CandidateView chosen = decision.chosen();
    LookupInfo.Match match = null;
    if (pd != null && pd.prefill() != null) {
      match = lookup.match(pd.prefill(), pd.prefillRank());
    } else if (chosen != null) {
      match = lookup.match(chosen.worker(), chosen.rank());
    }
    if (match != null) {
      return Integer.toString(match.blocks());
    }
    return lookup.told() ? "0" : "unknown";
  }

  /** A policy of the user's may have any name; a header may not. */
  private static String printable(String text) {
    return text.replaceAll("[^ -~]", "?");
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
    int status = 503;
    String message = "Service Unavailable";
    Duration retryAfter = Duration.ofSeconds(1);
    if (error instanceof InvalidRequestException) {
      status = 400;
      message = "Bad Request";
    } else if (error instanceof DeadlineExceededException) {
      status = 504;
      message = "Gateway Timeout";
    } else if (error instanceof RouterOverloadedException overloaded) {
      retryAfter = overloaded.retryAfter();
    }
    byte[] json =
        ("{\"error\":{\"message\":\""
                + new String(
                    JsonStringEncoder.getInstance()
                        .quoteAsString(String.valueOf(error.getMessage())))
                + "\",\"type\":\""
                + error.getClass().getSimpleName()
                + "\",\"code\":"
                + status
                + "}}")
            .getBytes(StandardCharsets.UTF_8);
    Response.Builder out =
        new Response.Builder()
            .request(request)
            .protocol(Protocol.HTTP_1_1)
            .code(status)
            .message(message)
            .body(ResponseBody.create(json, MediaType.get("application/json")));
    if (status == 503) {
      // Whole seconds, rounded up: earlier is too early.
      out.header("Retry-After", Long.toString(Math.max(1, retryAfter.plusMillis(999).toSeconds())));
    }
    return out.build();
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

    /**
     * Lets one more request header through to workers, as the application set it: {@code
     * Authorization} too, which then goes in place of the worker's key.
     *
     * @throws IllegalArgumentException when the header belongs to one connection
     */
    public Builder forwardHeader(String name) {
      String lower = name.toLowerCase(Locale.ROOT);
      if (CONNECTION.contains(lower)) {
        throw new IllegalArgumentException(
            "header " + name + " belongs to one connection and can't be forwarded");
      }
      forwarded.add(lower);
      return this;
    }

    /**
     * Sets the largest body that is read into memory to route by its prompt; larger ones go by
     * load, and so do those that can be written only once and do not say how long they are. 64 MB.
     */
    public Builder maxBodyBytes(long maxBodyBytes) {
      this.maxBodyBytes = maxBodyBytes;
      return this;
    }

    /**
     * Answers a failure with a response in place of an exception; off by default. A request that
     * can't be understood is answered with 400, a passed deadline with 504, the rest with 503 and
     * {@code Retry-After}. A cancelled call still throws.
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
