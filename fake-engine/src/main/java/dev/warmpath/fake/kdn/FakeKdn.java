package dev.warmpath.fake.kdn;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.internal.http.HttpServer;
import dev.warmpath.fake.text.FakeTokenizer;
import dev.warmpath.fake.text.FakeTokenizer.Turn;
import dev.warmpath.knowledge.KnowledgeIds;
import dev.warmpath.knowledge.KnowledgeNode;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A knowledge delivery node with CacheRoute's wire (v0.1.9), over real HTTP on loopback, whose link
 * is simulated: it keeps texts by the hash of their content, tells which of them have KV, and sends
 * that KV to instances. What a fake engine takes in by {@code /v1/kv/inject_ready} its next prompt
 * that begins with it finds in its cache.
 *
 * <p>No KV exists, of course: it takes as long to send as its bytes would on the {@linkplain
 * KdnNetwork link}.
 *
 * <p>Thread safe. Whoever starts it closes it, which unregisters it.
 */
public final class FakeKdn implements AutoCloseable {
  private static final int MAX_BODY = 16 << 20;

  private final String id;
  private final KdnLibrary library;
  private final KdnLink link;
  private final KdnFaults faults = new KdnFaults(this::kill);
  private final KdnApi api;
  private final HttpServer server;
  private final @Nullable KdnReporter reporter;

  private FakeKdn(Builder builder) {
    library = new KdnLibrary(builder.kv);
    link = new KdnLink(builder.network, builder.speedup);
    id = builder.id;
    api = new KdnApi(id, library, link, faults);
    builder.texts.forEach(this::add);
    builder.ready.forEach(this::addReady);
    server =
        new HttpServer(
            new InetSocketAddress(builder.host, builder.port),
            Duration.ofSeconds(30),
            MAX_BODY,
            exchange -> api.handle(exchange, server()));
    reporter =
        builder.controlPlane == null
            ? null
            : new KdnReporter(
                builder.controlPlane, builder.secret, builder.heartbeat, identity(), link, faults);
  }

  private HttpServer server() {
    return server;
  }

  private ObjectNode identity() {
    ObjectNode body =
        KdnJson.object()
            .put("kdn_id", id)
            .put("host", host())
            .put("port", port())
            .put("weight", 1.0);
    body.putArray("endpoints").add("knowledge/snapshot").add("knowledge/search/text");
    body.putArray("tags");
    body.putObject("meta").put("db_dir", "memory");
    return body;
  }

  /**
   * Starts a node on a free port of loopback that registers nowhere.
   *
   * @return the running node
   */
  public static FakeKdn start() {
    return builder().start();
  }

  /**
   * Starts to describe a node.
   *
   * @return a builder with the original's defaults
   */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Returns its id.
   *
   * @return as it registers
   */
  public String id() {
    return id;
  }

  /**
   * Returns where it listens, also while it is gone.
   *
   * @return {@code http://HOST:PORT}
   */
  public String url() {
    return "http://" + host() + ":" + port();
  }

  /**
   * Returns the name under which links to it may be told.
   *
   * @return {@code kdn://HOST:PORT}
   */
  public String address() {
    return KnowledgeNode.addressOf(host(), port());
  }

  /**
   * Returns the port.
   *
   * @return the real one
   */
  public int port() {
    return server.address().getPort();
  }

  private String host() {
    return server.address().getAddress().getHostAddress();
  }

  /**
   * Adds a text without KV.
   *
   * @param text any text, which is normalised
   * @return its id
   */
  public String add(String text) {
    String kid = KnowledgeIds.of(text);
    library.add(kid, text);
    return kid;
  }

  /**
   * Adds a text with KV, as if a fake engine with its own tokenizer had computed it.
   *
   * @param text any text, which is normalised
   * @param model the served model's name whose KV it is
   * @return its id; there is KV only if the text fills a chunk
   */
  public String addReady(String text, String model) {
    String normalised = KnowledgeIds.normalise(text);
    return addReady(
        text,
        model,
        FakeTokenizer.encodeChat(List.of(new Turn("system", normalised)), true).length);
  }

  /**
   * Adds a text with KV.
   *
   * @param text any text, which is normalised
   * @param model the served model's name whose KV it is
   * @param promptTokens length of the prompt that consists of this text as system message
   * @return its id; there is KV only if the prompt fills a chunk
   */
  public String addReady(String text, String model, int promptTokens) {
    Objects.requireNonNull(model, "model");
    String kid = add(text);
    library.ready(kid, model, promptTokens, System.currentTimeMillis() / 1e3);
    return kid;
  }

  /**
   * Forgets a text and its KV.
   *
   * @param kid its id
   * @return whether it was there
   */
  public boolean forget(String kid) {
    return library.remove(kid);
  }

  /**
   * Returns the switchboard of failures.
   *
   * @return live, also while it is gone
   */
  public KdnFaults faults() {
    return faults;
  }

  /**
   * Returns what it has done so far.
   *
   * @return counts since its start, and what its link does now
   */
  public KdnStats stats() {
    KdnLink.Load load = link.load();
    return new KdnStats(
        api.requests.sum(),
        api.snapshots.sum(),
        api.texts.sum(),
        api.textBytes.sum(),
        api.transfers.sum(),
        api.kvBytes.sum(),
        load == null ? 0 : load.pending(),
        load == null ? 0 : load.active(),
        load == null ? 0 : load.queueMillis(),
        reporter == null ? 0 : reporter.registrations.sum(),
        reporter == null ? 0 : reporter.heartbeats.sum());
  }

  /**
   * Disappears as a crashed process would: connections are reset, new ones refused, heartbeats end,
   * and nobody is told. The port stays reserved.
   */
  public void kill() {
    if (reporter != null) {
      reporter.silent(true);
    }
    faults.forgetHeld();
    server.refuse();
  }

  /** Comes back after {@link #kill}, with all it had. */
  public void restart() {
    server.accept();
    if (reporter != null) {
      reporter.silent(false);
    }
  }

  @Override
  public void close() {
    if (reporter != null) {
      reporter.close();
    }
    server.close();
    faults.forgetHeld();
  }

  @Override
  public String toString() {
    return "FakeKdn[" + id + " " + url() + "]";
  }

  /** Describes a node. */
  public static final class Builder {
    private String id = "kdn";
    private String host = "127.0.0.1";
    private int port;
    private @Nullable KdnNetwork network = KdnNetwork.DEFAULT;
    private KnowledgeKv kv = KnowledgeKv.DEFAULT;
    private double speedup = 1;
    private @Nullable URI controlPlane;
    private @Nullable String secret;
    private @Nullable Duration heartbeat;
    private final List<String> texts = new ArrayList<>();
    private final Map<String, String> ready = new LinkedHashMap<>();

    private Builder() {}

    /**
     * Gives it a text without KV before it registers anywhere, as {@link FakeKdn#add} does later.
     *
     * @param text any text
     * @return this builder
     */
    public Builder text(String text) {
      texts.add(text);
      return this;
    }

    /**
     * Gives it a text with KV before it registers anywhere, as {@link FakeKdn#addReady(String,
     * String)} does later.
     *
     * @param text any text
     * @param model the served model's name whose KV it is
     * @return this builder
     */
    public Builder ready(String text, String model) {
      ready.put(text, model);
      return this;
    }

    /**
     * Names the node.
     *
     * @param value unique among nodes; {@code kdn}
     * @return this builder
     */
    public Builder id(String value) {
      id = Objects.requireNonNull(value, "id");
      return this;
    }

    /**
     * Sets the interface to listen on.
     *
     * @param value a name or address; loopback
     * @return this builder
     */
    public Builder host(String value) {
      host = Objects.requireNonNull(value, "host");
      return this;
    }

    /**
     * Sets the port.
     *
     * @param value the port; 0, the default, picks a free one
     * @return this builder
     */
    public Builder port(int value) {
      port = value;
      return this;
    }

    /**
     * Sets what its link is like.
     *
     * @param value the link; {@link KdnNetwork#DEFAULT}. Null for one that takes no time, whose
     *     load isn't reported either
     * @return this builder
     */
    public Builder network(@Nullable KdnNetwork value) {
      network = value;
      return this;
    }

    /**
     * Sets how large KV is.
     *
     * @param value sizes; {@link KnowledgeKv#DEFAULT}
     * @return this builder
     */
    public Builder kv(KnowledgeKv value) {
      kv = Objects.requireNonNull(value, "kv");
      return this;
    }

    /**
     * Makes the link's time pass faster.
     *
     * @param value divides all simulated times; 1
     * @return this builder
     */
    public Builder speedup(double value) {
      if (!(value > 0)) {
        throw new IllegalArgumentException("speedup " + value + " must be above 0");
      }
      speedup = value;
      return this;
    }

    /**
     * Sets where it registers and sends heartbeats to.
     *
     * @param url the control plane, such as {@code http://127.0.0.1:7002}; none
     * @return this builder
     */
    public Builder controlPlane(String url) {
      controlPlane = URI.create(url);
      return this;
    }

    /**
     * Sets what a control plane wants to hear before it listens.
     *
     * @param value sent as bearer token; none
     * @return this builder
     */
    public Builder controlPlaneSecret(String value) {
      secret = Objects.requireNonNull(value, "secret");
      return this;
    }

    /**
     * Sets the time between two heartbeats.
     *
     * @param value more than 0; what the control plane asks for, but at least 2 s
     * @return this builder
     */
    public Builder heartbeat(Duration value) {
      heartbeat = Objects.requireNonNull(value, "heartbeat");
      return this;
    }

    /**
     * Starts the node.
     *
     * @return the running node
     * @throws UncheckedIOException if the port can't be bound
     */
    public FakeKdn start() {
      return new FakeKdn(this);
    }
  }
}
