package dev.warmpath.okhttp;

import dev.warmpath.config.HttpSettings;
import dev.warmpath.okhttp.internal.HttpAdmin;
import dev.warmpath.okhttp.internal.WorkerTelemetry;
import dev.warmpath.okhttp.internal.WorkerTls;
import dev.warmpath.prompt.EngineAdapters;
import dev.warmpath.transport.AdminCommand;
import dev.warmpath.transport.AdminReply;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.HealthReport;
import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.ProbeReport;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.transport.Transport;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportStats;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.Worker;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.net.ssl.X509TrustManager;
import okhttp3.Authenticator;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.ConnectionPool;
import okhttp3.CookieJar;
import okhttp3.Dispatcher;
import okhttp3.HttpUrl;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Protocol;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.jspecify.annotations.Nullable;

/**
 * Reaches {@code http} and {@code https} workers with OkHttp: HTTP/1.1 and, over TLS, HTTP/2; h2c
 * on request.
 *
 * <p>Never repeats a request by itself, never follows a redirect, and keeps idle connections for
 * less long than engines do (uvicorn closes after 5 s), so that few are found closed. A client that
 * is passed in keeps its TLS, proxy, DNS and interceptors; its dispatcher, pool, cookies and
 * authenticator are not used. Thread safe.
 */
public final class OkHttpTransport implements Transport {
  /** Shorter than the 5 s after which engines close an idle connection. */
  public static final Duration DEFAULT_KEEP_ALIVE = HttpSettings.DEFAULT.keepAlive();

  private static final MediaType JSON = MediaType.get("application/json");
  private static final String ABORT_PATH = "/abort_request";
  private static final Duration ABORT_TIMEOUT = Duration.ofSeconds(1);

  /**
   * Distinct timeouts come from configuration, so there are few; beyond this many a client is
   * derived per call.
   */
  private static final int MAX_CACHED_CLIENTS = 64;

  private final OkHttpClient client;
  private final OkHttpClient control;
  private final @Nullable WorkerTls tls;
  private final WorkerTelemetry telemetry;
  private final InterruptWatch interrupts = new InterruptWatch();
  private final Connects connects = new Connects();
  private final ConcurrentHashMap<Timeouts, OkHttpClient> byTimeouts = new ConcurrentHashMap<>();

  private final boolean http2PriorKnowledge;
  private volatile boolean closed;

  private OkHttpTransport(Builder builder) {
    this.http2PriorKnowledge = builder.http2PriorKnowledge;
    OkHttpClient base = builder.client == null ? new OkHttpClient() : builder.client;
    OkHttpClient.Builder derived =
        base.newBuilder()
            .dispatcher(new Dispatcher())
            .connectionPool(
                new ConnectionPool(
                    builder.maxIdleConnections,
                    builder.keepAlive.toMillis(),
                    TimeUnit.MILLISECONDS))
            .followRedirects(false)
            .followSslRedirects(false)
            .retryOnConnectionFailure(false)
            .cache(null)
            .cookieJar(CookieJar.NO_COOKIES)
            .authenticator(Authenticator.NONE)
            .addNetworkInterceptor(new ConnectionWatch());
    X509TrustManager trusted = base.x509TrustManager();
    this.tls =
        builder.http2PriorKnowledge || trusted == null
            ? null
            : new WorkerTls(base.sslSocketFactory(), trusted);
    if (tls != null && trusted != null) {
      derived.sslSocketFactory(tls, trusted);
    }
    if (builder.http2PriorKnowledge) {
      derived.protocols(List.of(Protocol.H2_PRIOR_KNOWLEDGE));
    }
    this.client = derived.build();
    this.client.dispatcher().setMaxRequests(Integer.MAX_VALUE);
    this.client.dispatcher().setMaxRequestsPerHost(Integer.MAX_VALUE);
    // Small GETs and aborts: one limit over all, set per call, and repeated where a pooled
    // connection turns out to be closed.
    this.control =
        client
            .newBuilder()
            .retryOnConnectionFailure(true)
            .callTimeout(ABORT_TIMEOUT)
            .readTimeout(Duration.ZERO)
            .writeTimeout(Duration.ZERO)
            .build();
    this.telemetry = new WorkerTelemetry(control);
  }

  /** A transport with the defaults. */
  public static OkHttpTransport create() {
    return builder().build();
  }

  /** Starts a transport. */
  public static Builder builder() {
    return new Builder();
  }

  private void know(Worker worker) {
    WorkerTls own = tls;
    if (own != null) {
      own.know(worker);
    }
  }

  @Override
  public Set<String> schemes() {
    return http2PriorKnowledge ? Set.of("http") : Set.of("http", "https");
  }

  @Override
  public Exchange open(OutboundRequest request) {
    know(request.target().worker());
    Timeouts timeouts = request.timeouts();
    Duration total = timeouts.total();
    ExchangeProgress progress =
        ExchangeProgress.watched(
            total == null ? Long.MAX_VALUE : System.nanoTime() + total.toNanos(), connects);
    Call call =
        client(timeouts)
            .newCall(toOkHttp(request).newBuilder().tag(ExchangeProgress.class, progress).build());
    if (total != null) {
      call.timeout().timeout(Math.max(1, total.toNanos()), TimeUnit.NANOSECONDS);
    }
    return new OkHttpExchange(call, request, abort(request), progress, interrupts);
  }

  private OkHttpClient client(Timeouts timeouts) {
    Timeouts parts = timeouts.withTotal(null);
    OkHttpClient known = byTimeouts.get(parts);
    if (known != null) {
      return known;
    }
    OkHttpClient made =
        client
            .newBuilder()
            .connectTimeout(parts.connect())
            .readTimeout(parts.firstToken())
            .writeTimeout(parts.firstToken())
            .callTimeout(Duration.ZERO)
            .build();
    if (byTimeouts.size() < MAX_CACHED_CLIENTS) {
      byTimeouts.put(parts, made);
    }
    return made;
  }

  private static Request toOkHttp(OutboundRequest request) {
    Worker worker = request.target().worker();
    Request.Builder out =
        new Request.Builder().url(HttpUrl.get(worker.id().value() + request.path()));
    request.headers().forEach(out::addHeader);
    Secret key =
        request.admin() && worker.spec().adminKey() != null
            ? worker.spec().adminKey()
            : worker.spec().apiKey();
    if (key != null) {
      out.header("Authorization", "Bearer " + key.reveal());
    }
    return out.method(request.method(), body(request)).build();
  }

  private static @Nullable RequestBody body(OutboundRequest request) {
    boolean bodiless =
        switch (request.method().toUpperCase(Locale.ROOT)) {
          case "GET", "HEAD" -> true;
          default -> false;
        };
    if (bodiless) {
      return null;
    }
    String type = request.headers().get("Content-Type");
    return new OneShotBody(request.body(), type == null ? JSON : null);
  }

  /**
   * SGLang 0.5.18 and 0.5.19 go on computing a request whose connection is dropped, and know an
   * abort that comes after the drop no more; other versions take the abort gladly. vLLM and ATOM
   * end a request with its connection.
   */
  private @Nullable Supplier<CompletionStage<?>> abort(OutboundRequest request) {
    Worker worker = request.target().worker();
    String rid = request.rid();
    if (rid == null || worker.engine() != EngineKind.SGLANG) {
      return null;
    }
    return () -> abort(worker, rid);
  }

  private CompletionStage<?> abort(Worker worker, String rid) {
    Request.Builder out =
        new Request.Builder()
            .url(HttpUrl.get(worker.id().value() + ABORT_PATH))
            .post(RequestBody.create(EngineAdapters.abortBody(rid), JSON));
    Secret key =
        worker.spec().adminKey() != null ? worker.spec().adminKey() : worker.spec().apiKey();
    if (key != null) {
      out.header("Authorization", "Bearer " + key.reveal());
    }
    CompletableFuture<Void> told = new CompletableFuture<>();
    control
        .newCall(out.build())
        .enqueue(
            new Callback() {
              @Override
              public void onFailure(Call call, IOException e) {
                told.completeExceptionally(e);
                leave();
              }

              @Override
              public void onResponse(Call call, Response response) {
                told.complete(null);
                response.close();
                leave();
              }
            });
    return told;
  }

  /** After the last abort of a closed transport no connection stays. */
  private void leave() {
    if (closed) {
      client.connectionPool().evictAll();
    }
  }

  @Override
  public ProbeReport probe(Worker worker, Duration timeout) throws TransportException {
    know(worker);
    return telemetry.probe(worker, timeout);
  }

  @Override
  public HealthReport health(Worker worker, Duration timeout) throws TransportException {
    know(worker);
    return telemetry.health(worker, timeout);
  }

  @Override
  public LoadReport load(Worker worker, Duration timeout) throws TransportException {
    know(worker);
    return telemetry.load(worker, timeout);
  }

  @Override
  public AdminReply admin(Worker worker, AdminCommand command, Duration timeout) {
    return new HttpAdmin(this::open).run(worker, command, timeout);
  }

  @Override
  public TransportStats stats() {
    ConnectionPool pool = client.connectionPool();
    return new TransportStats(
        pool.connectionCount(), pool.idleConnectionCount(), connects.count(), connects.seconds());
  }

  /** Aborts that are under way are let through: each ends within a second, answered or not. */
  @Override
  public void close() {
    closed = true;
    interrupts.close();
    for (Call call : client.dispatcher().runningCalls()) {
      if (!abortsSomething(call)) {
        call.cancel();
      }
    }
    client.dispatcher().executorService().shutdown();
    client.connectionPool().evictAll();
  }

  private static boolean abortsSomething(Call call) {
    ExchangeProgress progress = call.request().tag(ExchangeProgress.class);
    return call.request().url().encodedPath().endsWith(ABORT_PATH)
        || (progress != null && progress.cancelled());
  }

  /** Builds an {@link OkHttpTransport}. Not thread safe. */
  public static final class Builder {
    private @Nullable OkHttpClient client;
    private Duration keepAlive = DEFAULT_KEEP_ALIVE;
    private int maxIdleConnections = HttpSettings.DEFAULT.maxIdleConnections();
    private boolean http2PriorKnowledge;

    private Builder() {}

    /** Derives from this client, which stays its owner's: TLS, proxy, DNS, interceptors. */
    public Builder client(OkHttpClient client) {
      this.client = Objects.requireNonNull(client, "client");
      return this;
    }

    /**
     * Sets how long an idle connection is kept; less than the workers' own keep-alive. 4 s by
     * default.
     */
    public Builder keepAlive(Duration keepAlive) {
      if (keepAlive.isNegative() || keepAlive.isZero()) {
        throw new IllegalArgumentException("keepAlive must be positive");
      }
      this.keepAlive = keepAlive;
      return this;
    }

    /** Sets how many idle connections are kept over all workers; 1,024 by default. */
    public Builder maxIdleConnections(int maxIdleConnections) {
      this.maxIdleConnections = maxIdleConnections;
      return this;
    }

    /**
     * Speaks HTTP/2 without TLS (h2c) to {@code http} workers, which must all understand it; no
     * {@code https} then: give the router client a second transport for those.
     */
    public Builder http2PriorKnowledge(boolean http2PriorKnowledge) {
      this.http2PriorKnowledge = http2PriorKnowledge;
      return this;
    }

    /** The finished transport. */
    public OkHttpTransport build() {
      return new OkHttpTransport(this);
    }
  }
}
