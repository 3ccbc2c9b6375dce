package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.internal.http.HttpExchange;
import dev.warmpath.fake.internal.http.HttpServer;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The port at which a prefill or decode worker is found by the other side: SGLang's and Mooncake's
 * bootstrap server, NIXL's side channel, MoRIIO's and ATOM's handshake port, the port of P2pNccl.
 * It stays while its engine dies and starts again. Thread-safe; the engine closes it.
 */
public final class SideChannel implements AutoCloseable {
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(30);
  private static final int MAX_BODY_BYTES = 16 << 20;

  /** Those of this process, by port. */
  private static final Map<Integer, SideChannel> HERE = new ConcurrentHashMap<>();

  /**
   * Where a side channel is.
   *
   * @param host name or address, an IPv6 literal without brackets
   * @param port a port
   */
  record Address(String host, int port) {
    @Override
    public String toString() {
      return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + port;
    }
  }

  private final String host;
  private final HttpServer server;
  private volatile @Nullable Life life;
  private volatile @Nullable HandoffServer handoffs;

  /**
   * Binds the port.
   *
   * @param host where to listen
   * @param port 0 picks a free one
   * @throws java.io.UncheckedIOException if the port can't be bound
   */
  public SideChannel(String host, int port) {
    this.host = host;
    this.server =
        new HttpServer(new InetSocketAddress(host, port), KEEP_ALIVE, MAX_BODY_BYTES, this::handle);
    HERE.put(port(), this);
  }

  /**
   * Returns the port.
   *
   * @return the real one
   */
  public int port() {
    return server.address().getPort();
  }

  /** The desk at an address, if that is in this process and alive. */
  static @Nullable HandoffDesk deskAt(Address address) {
    SideChannel channel = HERE.get(address.port());
    Life current = channel == null || !channel.isAt(address.host()) ? null : channel.life;
    return current == null ? null : current.desk();
  }

  private boolean isAt(String name) {
    return name.equals(host)
        || name.equals("localhost")
        || name.equals(server.address().getAddress().getHostAddress());
  }

  /**
   * Serves a life of the engine from now on.
   *
   * @param next its present life
   */
  public void serve(Life next) {
    handoffs = new HandoffServer(next, server);
    life = next;
    server.accept();
  }

  /** Refuses connections and resets those that are open, because the engine has died. */
  public void refuse() {
    life = null;
    server.refuse();
  }

  private void handle(HttpExchange exchange) {
    Life current = life;
    if (current == null) {
      exchange.reset();
      return;
    }
    if (!Objects.requireNonNull(handoffs).handle(exchange)) {
      BootstrapServer.handle(current, exchange);
    }
  }

  @Override
  public void close() {
    HERE.remove(port(), this);
    life = null;
    server.close();
  }
}
