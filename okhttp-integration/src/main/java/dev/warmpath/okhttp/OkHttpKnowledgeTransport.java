package dev.warmpath.okhttp;

import dev.warmpath.okhttp.internal.KnowledgeReader;
import dev.warmpath.transport.KnowledgeTransport;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.Secret;
import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import okhttp3.Authenticator;
import okhttp3.Call;
import okhttp3.ConnectionPool;
import okhttp3.CookieJar;
import okhttp3.Dispatcher;
import okhttp3.OkHttpClient;
import org.jspecify.annotations.Nullable;

/**
 * Talks to knowledge delivery nodes and instances over HTTP with OkHttp, as CacheRoute v0.1.9 does.
 * Never follows a redirect, and reads no more of an answer than what was asked for can take. A
 * client that is passed in keeps its TLS, proxy, DNS and interceptors. Thread safe.
 */
public final class OkHttpKnowledgeTransport implements KnowledgeTransport {
  private final OkHttpClient client;
  private final KnowledgeReader reader;
  private final InterruptWatch interrupts = new InterruptWatch();

  private OkHttpKnowledgeTransport(Builder builder) {
    OkHttpClient base = builder.client == null ? new OkHttpClient() : builder.client;
    client =
        base.newBuilder()
            .dispatcher(new Dispatcher())
            .connectionPool(new ConnectionPool(64, 4, TimeUnit.SECONDS))
            .followRedirects(false)
            .followSslRedirects(false)
            .retryOnConnectionFailure(true)
            .connectTimeout(Duration.ZERO)
            .readTimeout(Duration.ZERO)
            .writeTimeout(Duration.ZERO)
            .cache(null)
            .cookieJar(CookieJar.NO_COOKIES)
            .authenticator(Authenticator.NONE)
            .build();
    reader =
        new KnowledgeReader(
            client,
            builder.key,
            call -> interrupts.waitingFor(new WaitingCall(call)),
            call -> interrupts.done(new WaitingCall(call)));
  }

  private record WaitingCall(Call call) implements InterruptWatch.Waiting {
    @Override
    public void cancel() {
      call.cancel();
    }
  }

  /** A transport with the defaults. */
  public static OkHttpKnowledgeTransport create() {
    return builder().build();
  }

  /** Starts a transport. */
  public static Builder builder() {
    return new Builder();
  }

  @Override
  public List<Piece> snapshot(URI node, int atMost, Duration timeout) throws TransportException {
    return reader.snapshot(node, atMost, timeout);
  }

  @Override
  public Map<String, String> texts(URI node, Collection<String> ids, Duration timeout)
      throws TransportException {
    return reader.texts(node, ids, timeout);
  }

  @Override
  public KvInjected injectKv(URI instance, KvOrder order, Duration timeout)
      throws TransportException {
    return reader.injectKv(instance, order, timeout);
  }

  @Override
  public void close() {
    interrupts.close();
    client.dispatcher().cancelAll();
    client.dispatcher().executorService().shutdown();
    client.connectionPool().evictAll();
  }

  /** Builds an {@link OkHttpKnowledgeTransport}. Not thread safe. */
  public static final class Builder {
    private @Nullable OkHttpClient client;
    private @Nullable Secret key;

    private Builder() {}

    /** Derives from this client, which stays its owner's. */
    public Builder client(OkHttpClient client) {
      this.client = Objects.requireNonNull(client, "client");
      return this;
    }

    /** Sets the key that goes with every call ({@code Authorization: Bearer}); none by default. */
    public Builder key(Secret key) {
      this.key = key;
      return this;
    }

    /** The finished transport. */
    public OkHttpKnowledgeTransport build() {
      return new OkHttpKnowledgeTransport(this);
    }
  }
}
