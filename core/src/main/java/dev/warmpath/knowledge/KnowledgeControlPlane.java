package dev.warmpath.knowledge;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.warmpath.worker.Secret;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves CacheRoute's control plane (v0.1.9, its scheduler's port 7002), so that existing nodes and
 * proxies register with a client as they are: {@code /v1/kdn} and {@code /v1/proxy} with {@code
 * register}, {@code heartbeat}, {@code unregister} and {@code list}; {@code /debug/status}, {@code
 * /debug/strategy}, {@code /debug/proxy_pool_resources}, {@code /healthz}.
 *
 * <p>Nothing listens until an application opens it, and then on the loopback address alone unless
 * told otherwise. Whoever can reach it decides where knowledge comes from: outside of loopback,
 * give it a {@linkplain Builder#secret secret} or a network of its own. Threads, calls that wait
 * for one and bodies are bounded; a call that finds no room is closed. A caller that sends slowly
 * holds one of four threads: let nobody in who might. Thread safe.
 */
public final class KnowledgeControlPlane implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(KnowledgeControlPlane.class);

  /** The port of CacheRoute's scheduler. */
  public static final int DEFAULT_PORT = 7002;

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final int THREADS = 4;
  private static final int QUEUE = 64;
  private static final int BACKLOG = 64;
  private static final int MAX_BODY_BYTES = 256 << 10;
  private static final String BEARER = "Bearer ";

  private final HttpServer server;
  private final ThreadPoolExecutor threads;
  private final byte @Nullable [] secret;
  private final Map<String, Call> calls = new HashMap<>();

  /** Carries a call out. */
  private interface Call {
    JsonNode answer(CallBody body, URI uri) throws InvalidCallException;
  }

  private KnowledgeControlPlane(Builder builder) throws IOException {
    Secret given = builder.secret;
    secret = given == null ? null : given.reveal().getBytes(StandardCharsets.UTF_8);
    ControlPlaneCalls does = new ControlPlaneCalls(builder.routing.registry());
    ControlPlaneViews views = builder.routing.views();
    post("/v1/kdn/register", does::registerNode);
    post("/v1/kdn/heartbeat", does::nodeHeartbeat);
    post("/v1/kdn/unregister", does::unregisterNode);
    post("/v1/proxy/register", does::registerTarget);
    post("/v1/proxy/heartbeat", does::targetHeartbeat);
    post("/v1/proxy/unregister", does::unregisterTarget);
    calls.put("GET /v1/kdn/list", (body, uri) -> views.nodes(flag(uri, "include_dead")));
    calls.put("GET /v1/proxy/list", (body, uri) -> views.targets(flag(uri, "include_dead")));
    calls.put(
        "GET /debug/proxy_pool_resources", (body, uri) -> views.pools(flag(uri, "include_dead")));
    calls.put("GET /debug/status", (body, uri) -> views.status());
    calls.put("GET /debug/strategy", (body, uri) -> views.strategy());
    calls.put("GET /healthz", (body, uri) -> JsonNodeFactory.instance.objectNode().put("ok", true));
    threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            10,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(QUEUE),
            task -> {
              Thread thread = new Thread(task, "warmpath-control-plane");
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
    server = HttpServer.create(new InetSocketAddress(builder.address, builder.port), BACKLOG);
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  private interface BodyCall {
    ObjectNode answer(CallBody body) throws InvalidCallException;
  }

  private void post(String path, BodyCall call) {
    calls.put("POST " + path, (body, uri) -> call.answer(body));
  }

  /**
   * Starts a control plane over what a client knows.
   *
   * @param routing what calls change and views show; it stays its owner's
   */
  public static Builder of(KnowledgeRouting routing) {
    return new Builder(routing);
  }

  /** Where it listens. */
  public InetSocketAddress address() {
    return server.getAddress();
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      int status = 200;
      JsonNode answer;
      try {
        answer = answer(exchange);
      } catch (InvalidCallException e) {
        status = e.status();
        answer = refusal(e);
      } catch (RuntimeException e) {
        log.warn("A call of the control plane failed", e);
        status = 500;
        answer = JsonNodeFactory.instance.objectNode().put("detail", "internal error");
      }
      byte[] bytes = MAPPER.writeValueAsBytes(answer);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(status, bytes.length);
      exchange.getResponseBody().write(bytes);
    }
  }

  private JsonNode answer(HttpExchange exchange) throws IOException, InvalidCallException {
    URI uri = exchange.getRequestURI();
    String path = uri.getPath();
    if (!path.equals("/healthz") && !allowed(exchange)) {
      throw new InvalidCallException(401, "", "not authorized");
    }
    String method = exchange.getRequestMethod();
    Call call = calls.get(method + " " + path);
    if (call == null) {
      boolean other = calls.containsKey((method.equals("GET") ? "POST " : "GET ") + path);
      throw other
          ? new InvalidCallException(405, "", "Method Not Allowed")
          : new InvalidCallException(404, "", "Not Found");
    }
    return call.answer(method.equals("POST") ? body(exchange) : NOTHING, uri);
  }

  private static final CallBody NOTHING = new CallBody(JsonNodeFactory.instance.objectNode());

  private boolean allowed(HttpExchange exchange) {
    byte[] wanted = secret;
    if (wanted == null) {
      return true;
    }
    String given = exchange.getRequestHeaders().getFirst("Authorization");
    return given != null
        && given.startsWith(BEARER)
        && MessageDigest.isEqual(
            given.substring(BEARER.length()).getBytes(StandardCharsets.UTF_8), wanted);
  }

  private static CallBody body(HttpExchange exchange) throws IOException, InvalidCallException {
    byte[] bytes;
    try (InputStream in = exchange.getRequestBody()) {
      bytes = in.readNBytes(MAX_BODY_BYTES + 1);
    }
    if (bytes.length > MAX_BODY_BYTES) {
      throw new InvalidCallException(413, "", "a body is at most " + MAX_BODY_BYTES + " bytes");
    }
    try {
      if (MAPPER.readTree(bytes) instanceof ObjectNode object) {
        return new CallBody(object);
      }
    } catch (JsonProcessingException e) {
      throw new InvalidCallException(422, "", "the body is not JSON");
    }
    throw new InvalidCallException(422, "", "value is not a valid dict");
  }

  /** As FastAPI words it: a list of fields for what is not valid, else a sentence. */
  private static ObjectNode refusal(InvalidCallException error) {
    ObjectNode answer = JsonNodeFactory.instance.objectNode();
    if (error.status() != 422) {
      return answer.put("detail", error.getMessage());
    }
    ObjectNode detail = answer.putArray("detail").addObject();
    detail.putArray("loc").add("body");
    if (!error.field().isEmpty()) {
      detail.withArray("loc").add(error.field());
    }
    detail.put("msg", error.getMessage()).put("type", "value_error");
    return answer;
  }

  private static boolean flag(URI uri, String name) {
    String query = uri.getQuery();
    if (query != null) {
      for (String part : query.split("&", -1)) {
        if (part.startsWith(name + "=")) {
          String value = part.substring(name.length() + 1);
          return value.equalsIgnoreCase("true") || value.equals("1") || value.equals("yes");
        }
      }
    }
    return false;
  }

  /** Stops listening; calls under way are cut off. Idempotent. */
  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  /** Opens a {@link KnowledgeControlPlane}. Not thread safe. */
  public static final class Builder {
    private final KnowledgeRouting routing;
    private InetAddress address = InetAddress.getLoopbackAddress();
    private int port = DEFAULT_PORT;
    private @Nullable Secret secret;

    private Builder(KnowledgeRouting routing) {
      this.routing = routing;
    }

    /** Sets the port; {@link #DEFAULT_PORT} by default, 0 for any that is free. */
    public Builder port(int port) {
      this.port = port;
      return this;
    }

    /** Sets the address to listen on; the loopback address by default. */
    public Builder address(InetAddress address) {
      this.address = address;
      return this;
    }

    /**
     * Sets a secret that every call must bring ({@code Authorization: Bearer}); none by default.
     * CacheRoute's own processes can't bring one.
     */
    public Builder secret(Secret secret) {
      this.secret = secret;
      return this;
    }

    /**
     * Opens it.
     *
     * @throws IOException when the port can't be listened on
     */
    public KnowledgeControlPlane open() throws IOException {
      return new KnowledgeControlPlane(this);
    }
  }
}
