package dev.warmpath.fake;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Faults;
import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.internal.http.HttpExchange;
import dev.warmpath.fake.internal.http.HttpRequest;
import dev.warmpath.fake.internal.http.HttpServer;
import dev.warmpath.fake.internal.surface.EngineControl;
import dev.warmpath.fake.internal.surface.EngineSettings;
import dev.warmpath.fake.internal.surface.EngineSurface;
import dev.warmpath.fake.internal.surface.Life;
import dev.warmpath.fake.internal.surface.RequestCounts;
import dev.warmpath.fake.kv.KvEventEndpoint;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.live.EngineClock;
import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.KvTransfer;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.scheduler.PauseMode;
import dev.warmpath.fake.scheduler.SchedulePolicy;
import dev.warmpath.fake.scheduler.SglangCore;
import dev.warmpath.fake.scheduler.VllmCore;
import dev.warmpath.fake.text.FakeTokenizer;
import dev.warmpath.fake.text.PromptEncoder;
import dev.warmpath.fake.wire.CacheReport;
import dev.warmpath.fake.wire.LoadsShape;
import dev.warmpath.fake.wire.MetricNames;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One worker that behaves like SGLang, vLLM or ATOM over HTTP, without a GPU.
 *
 * <p>It serves the engine's inference, discovery, load and admin endpoints in the engine's own
 * shapes. Behind them a scheduler with continuous batching and a prefix cache runs on one thread
 * for each data-parallel rank; {@link LatencyModel} says how long its passes take. Answers are
 * deterministic: the same request gets the same text from every fake engine. Stops, sampling and
 * logprobs are not simulated; an answer has exactly as many tokens as the request asks for, or
 * {@link Builder#defaultOutputTokens} when it names no limit.
 *
 * <pre>{@code
 * try (FakeEngine engine = FakeEngine.builder().kind(EngineKind.SGLANG).model("qwen").start()) {
 *   client.post(engine.url() + "/v1/chat/completions", body);
 * }
 * }</pre>
 *
 * <p>Thread-safe. Whoever starts it closes it.
 */
public final class FakeEngine implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FakeEngine.class);

  private final EngineSettings settings;
  private final EngineClock clock;
  private final LatencyModel latency;
  private final @Nullable Consumer<ReceivedRequest> onRequest;
  private final Faults faults;
  private final HttpServer server;
  private final EngineControl control = new Control();
  private final ReentrantLock lock = new ReentrantLock();

  // Guarded by lock.
  private EngineStats before = EngineStats.NONE;
  private int starts;
  private boolean killed;
  private boolean closed;

  private volatile @Nullable Life life;
  private volatile @Nullable KvEventEndpoint kvEndpoint;
  private volatile @Nullable EngineSurface surface;

  private FakeEngine(Builder builder) {
    this.settings = builder.settings();
    this.clock = builder.clock;
    this.latency = builder.latency();
    this.onRequest = builder.onRequest;
    this.faults = new Faults(builder.seed, this::applyFaults);
    this.server =
        new HttpServer(
            new InetSocketAddress(builder.host, builder.port),
            builder.keepAlive,
            builder.maxBodyBytes,
            this::handle);
    try {
      boot();
    } catch (RuntimeException e) {
      server.close();
      throw e;
    }
    if (!builder.faults.isEmpty()) {
      faults.add(builder.faults);
    }
  }

  /**
   * Starts to describe an engine.
   *
   * @return a builder with defaults for everything
   */
  public static Builder builder() {
    return new Builder();
  }

  private final class Control implements EngineControl {
    @Override
    public void schedule(Duration delay, Runnable action) {
      server.schedule(delay, action);
    }

    /** On a thread of its own, since the server's thread has to go on while it restarts. */
    @Override
    public void restart() {
      Thread restarter = new Thread(this::restartUnlessClosed, "fake-restart-" + port());
      restarter.setDaemon(true);
      restarter.start();
    }

    private void restartUnlessClosed() {
      try {
        FakeEngine.this.restart();
      } catch (IllegalStateException e) {
        LOG.debug("closed before the restart", e);
      }
    }

    @Override
    public void refuse() {
      server.refuse();
    }
  }

  private void boot() {
    Life next =
        new Life(
            settings,
            starts,
            clock,
            this::newCore,
            "fake-" + server.address().getPort(),
            kvEndpoint);
    kvEndpoint = next.kvEndpoint();
    starts++;
    life = next;
    surface = EngineSurface.of(next, faults, control);
    applyConditions(next);
  }

  private EngineCore newCore() {
    return settings.kind() == EngineKind.SGLANG
        ? new SglangCore(settings.sglang(), latency)
        : new VllmCore(settings.core(), latency);
  }

  private void handle(HttpExchange exchange) {
    Consumer<ReceivedRequest> observer = onRequest;
    if (observer != null) {
      HttpRequest request = exchange.request();
      observer.accept(
          new ReceivedRequest(
              request.method(),
              request.path(),
              request.query(),
              request.headers(),
              request.body()));
    }
    EngineSurface current = surface;
    if (current == null) {
      exchange.reset();
    } else {
      current.handle(exchange);
    }
  }

  private void applyFaults() {
    lock.lock();
    try {
      Life current = life;
      if (current == null) {
        return;
      }
      applyConditions(current);
      if (faults.isOn(Fault.Kind.REFUSE)) {
        server.refuse();
      } else {
        server.accept();
      }
    } finally {
      lock.unlock();
    }
  }

  private void applyConditions(Life current) {
    current.slowdown(faults.slowdown());
    current.freeze(faults.isOn(Fault.Kind.FREEZE));
  }

  /**
   * Returns the address of the engine.
   *
   * @return {@code http://HOST:PORT}
   */
  public String url() {
    InetSocketAddress address = server.address();
    return "http://" + address.getAddress().getHostAddress() + ":" + address.getPort();
  }

  /**
   * Returns the port.
   *
   * @return the real one, also where 0 was asked for
   */
  public int port() {
    return server.address().getPort();
  }

  /**
   * Returns the imitated engine.
   *
   * @return its kind
   */
  public EngineKind kind() {
    return settings.kind();
  }

  /**
   * Returns what the worker computes.
   *
   * @return its role
   */
  public WorkerRole role() {
    return settings.role();
  }

  /**
   * Returns the name the model is served under.
   *
   * @return the first served name
   */
  public String model() {
    return settings.servedModel();
  }

  /**
   * Returns where changes of the KV cache are published.
   *
   * @return the endpoint, the same across restarts; null unless {@link Builder#kvEvents} was set
   */
  public @Nullable KvEventEndpoint kvEvents() {
    return kvEndpoint;
  }

  /**
   * Returns the switchboard of failures.
   *
   * @return live, also across restarts
   */
  public Faults faults() {
    return faults;
  }

  /**
   * Returns what happened so far and what is going on.
   *
   * @return the stats over all ranks
   */
  public EngineStats stats() {
    lock.lock();
    try {
      Life current = life;
      return current == null ? before : before.plus(stats(current));
    } finally {
      lock.unlock();
    }
  }

  private EngineStats stats(Life of) {
    int running = 0;
    int waiting = 0;
    int active = 0;
    int cached = 0;
    int total = 0;
    long preemptions = 0;
    long promptTokens = 0;
    long cachedTokens = 0;
    long generatedTokens = 0;
    for (RankSnapshot snapshot : of.snapshots()) {
      var metrics = snapshot.metrics();
      running += metrics.running();
      waiting += metrics.waiting();
      active += metrics.activeBlocks();
      cached += metrics.cachedBlocks();
      total += metrics.totalBlocks();
      preemptions += metrics.preemptions();
      promptTokens += metrics.promptTokens();
      cachedTokens += metrics.cachedTokens();
      generatedTokens += metrics.generatedTokens();
    }
    RequestCounts counts = of.counts();
    return new EngineStats(
        running,
        waiting,
        active,
        cached,
        total,
        server.connections(),
        counts.received(),
        counts.served(),
        counts.failed(),
        counts.aborted(),
        counts.rejected(),
        counts.leaked(),
        preemptions,
        promptTokens,
        cachedTokens,
        generatedTokens,
        1);
  }

  /**
   * Returns what each data-parallel rank published last.
   *
   * @return by rank; empty while the engine is dead
   */
  public List<RankSnapshot> ranks() {
    Life current = life;
    return current == null ? List.of() : current.snapshots();
  }

  /**
   * Counts the handoffs under way on a prefill or decode worker: rooms it waits in, KV it holds for
   * the other side, KV it awaits. The blocks of them are among {@link EngineStats#activeBlocks()}.
   *
   * @return how many; 0 when idle, and while the engine is dead
   */
  public int handoffs() {
    Life current = life;
    return current == null ? 0 : current.handoffsUnderWay();
  }

  /**
   * Empties the prefix cache if the engine is idle, on any kind of engine.
   *
   * @return whether it was idle
   */
  public boolean flushCache() {
    Life current = life;
    if (current == null) {
      return false;
    }
    try {
      return current.flush().join();
    } catch (CancellationException | CompletionException e) {
      return false;
    }
  }

  /**
   * Stops forward passes, so that requests arrive and wait; what runs keeps its KV. For tests that
   * need to see a request in flight.
   */
  public void pause() {
    apply(new EngineCommand.Pause(PauseMode.IN_PLACE));
  }

  /** Ends a {@link #pause()}. */
  public void resume() {
    apply(new EngineCommand.Resume());
  }

  private void apply(EngineCommand command) {
    Life current = life;
    if (current != null) {
      current.applyToAll(command).join();
    }
  }

  /**
   * Dies as a crashed process would: connections are reset, new ones refused, the cache is gone.
   * The port stays reserved.
   */
  public void kill() {
    lock.lock();
    try {
      if (!closed && !killed) {
        killed = true;
        announceDeath();
        server.refuse();
        retire();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Before the connections go, which would look as if the clients had left. */
  private void announceDeath() {
    Life current = life;
    if (current != null) {
      current.dying();
    }
  }

  /** Ends the present life; its counters stay. */
  private void retire() {
    Life current = life;
    if (current != null) {
      before = before.plus(stats(current)).countersOnly();
      life = null;
      surface = null;
      current.close();
    }
  }

  /**
   * Restarts the process, whether it is alive or killed: same port, connections reset, cache lost,
   * counters on the wire from zero. Armed faults stay armed.
   */
  public void restart() {
    lock.lock();
    try {
      if (closed) {
        throw new IllegalStateException("engine is closed");
      }
      announceDeath();
      server.refuse();
      retire();
      killed = false;
      boot();
      if (!faults.isOn(Fault.Kind.REFUSE)) {
        server.accept();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    lock.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
    } finally {
      lock.unlock();
    }
    announceDeath();
    server.close();
    lock.lock();
    try {
      retire();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public String toString() {
    return "FakeEngine[" + settings + " " + url() + "]";
  }

  /** Describes a {@link FakeEngine}; not thread-safe, usable for several starts. */
  public static final class Builder {
    private EngineKind kind = EngineKind.SGLANG;
    private WorkerRole role = WorkerRole.REGULAR;
    private String model = "fake-model";
    private List<String> servedModels = List.of();
    private List<String> loraAdapters = List.of();
    private PromptEncoder encoder = FakeTokenizer.instance();
    private String host = "127.0.0.1";
    private int port;
    private int dpSize = 1;
    private int blocks = 16_384;
    private int blockSize;
    private int maxNumSeqs = 256;
    private int maxBatchedTokens = 8_192;
    private SchedulePolicy schedulePolicy = SchedulePolicy.FCFS;
    private int maxModelLen = 131_072;
    private boolean prefixCaching = true;
    private LatencyModel timing = LatencyModel.polynomial();
    private double speedup = 1;
    private EngineClock clock = EngineClock.system();
    private long seed;
    private @Nullable String apiKey;
    private @Nullable String adminKey;
    private @Nullable String version;
    private CacheReport cacheReport = CacheReport.ALWAYS;
    private LoadsShape loadsShape = LoadsShape.CURRENT;
    private MetricNames metricNames = MetricNames.CURRENT;
    private Duration metricsRefresh = Duration.ofSeconds(5);
    private boolean devMode;
    private @Nullable Duration healthLatency;
    private @Nullable Duration disconnectDelay;
    private Duration keepAlive = Duration.ofSeconds(5);
    private int maxBodyBytes = 64 << 20;
    private int defaultOutputTokens = 64;
    private int embeddingDimensions = 64;
    private int bootstrapPort = 8998;
    private HandoffTimeouts handoffTimeouts = HandoffTimeouts.DEFAULT;
    private KvTransfer kvTransfer = KvTransfer.INSTANT;
    private String faults = "";
    private @Nullable Consumer<ReceivedRequest> onRequest;
    private @Nullable KvEventSettings kvEvents;

    private Builder() {}

    /**
     * Sets the engine to imitate; SGLang by default.
     *
     * @param value the kind
     * @return this
     */
    public Builder kind(EngineKind value) {
      if (value == EngineKind.UNKNOWN) {
        throw new IllegalArgumentException("an unknown engine can't be imitated");
      }
      kind = Objects.requireNonNull(value, "kind");
      return this;
    }

    /**
     * Sets what the worker computes; everything by default.
     *
     * @param value the role
     * @return this
     */
    public Builder role(WorkerRole value) {
      role = Objects.requireNonNull(value, "role");
      return this;
    }

    /**
     * Sets the model's path, which is also the name it is served under unless {@link #servedModels}
     * says otherwise.
     *
     * @param value a path or name
     * @return this
     */
    public Builder model(String value) {
      model = Objects.requireNonNull(value, "model");
      return this;
    }

    /**
     * Sets the names the model is served under.
     *
     * @param names at least one; the first is the one reported
     * @return this
     */
    public Builder servedModels(String... names) {
      servedModels = List.of(names);
      return this;
    }

    /**
     * Sets the LoRA adapters that can be named instead of the model.
     *
     * @param names their names
     * @return this
     */
    public Builder loraAdapters(String... names) {
      loraAdapters = List.of(names);
      return this;
    }

    /**
     * Sets what turns prompts into token ids; {@link FakeTokenizer} by default. The prefix cache
     * and all reported token counts follow it, and answers are made of its tokens.
     *
     * @param value the encoder; engines may share one
     * @return this
     */
    public Builder promptEncoder(PromptEncoder value) {
      encoder = Objects.requireNonNull(value, "encoder");
      return this;
    }

    /**
     * Sets the address to listen on; the loopback address by default.
     *
     * @param value host name or address
     * @return this
     */
    public Builder host(String value) {
      host = Objects.requireNonNull(value, "host");
      return this;
    }

    /**
     * Sets the port; 0, the default, picks a free one.
     *
     * @param value a port
     * @return this
     */
    public Builder port(int value) {
      port = value;
      return this;
    }

    /**
     * Sets the number of data-parallel ranks, each with its own scheduler and cache; 1 by default.
     *
     * @param value ranks
     * @return this
     */
    public Builder dpSize(int value) {
      if (value < 1 || value > 64) {
        throw new IllegalArgumentException("dpSize must be from 1 to 64, was " + value);
      }
      dpSize = value;
      return this;
    }

    /**
     * Sets the KV blocks of each rank; 16,384 by default.
     *
     * @param value blocks
     * @return this
     */
    public Builder blocks(int value) {
      blocks = value;
      return this;
    }

    /**
     * Sets the tokens in a block; by default 16 on ATOM and 64 elsewhere. (SGLang's own default is
     * pages of one token; 64 is usual with its hierarchical cache and keeps a simulated pool
     * small.)
     *
     * @param value tokens
     * @return this
     */
    public Builder blockSize(int value) {
      blockSize = value;
      return this;
    }

    /**
     * Caps the running requests of each rank; 256 by default.
     *
     * @param value requests
     * @return this
     */
    public Builder maxNumSeqs(int value) {
      maxNumSeqs = value;
      return this;
    }

    /**
     * Sets the token budget of a forward pass, which is SGLang's chunk size; 8,192 by default.
     *
     * @param value tokens
     * @return this
     */
    public Builder maxBatchedTokens(int value) {
      maxBatchedTokens = value;
      return this;
    }

    /**
     * Sets the order of SGLang's waiting queue; first come, first served by default.
     *
     * @param value the policy
     * @return this
     */
    public Builder schedulePolicy(SchedulePolicy value) {
      schedulePolicy = Objects.requireNonNull(value, "schedulePolicy");
      return this;
    }

    /**
     * Sets the context length; 131,072 by default.
     *
     * @param value tokens
     * @return this
     */
    public Builder maxModelLen(int value) {
      maxModelLen = value;
      return this;
    }

    /**
     * Switches the prefix cache; on by default.
     *
     * @param value whether computed prefixes are found again
     * @return this
     */
    public Builder prefixCaching(boolean value) {
      prefixCaching = value;
      return this;
    }

    /**
     * Sets how long forward passes take; {@link LatencyModel#polynomial()} by default.
     *
     * @param value the model, before {@link #speedup}
     * @return this
     */
    public Builder timing(LatencyModel value) {
      timing = Objects.requireNonNull(value, "timing");
      return this;
    }

    /**
     * Divides all simulated times: forward passes, and the default health and disconnect delays.
     *
     * @param value a factor; 0 or less means no scaling
     * @return this
     */
    public Builder speedup(double value) {
      speedup = value;
      return this;
    }

    /**
     * Sets the time the engine lives in; the machine's by default.
     *
     * @param value the clock
     * @return this
     */
    public Builder clock(EngineClock value) {
      clock = Objects.requireNonNull(value, "clock");
      return this;
    }

    /**
     * Sets what decides random ids and fault rates; 0 by default. Answers do not depend on it.
     *
     * @param value any number
     * @return this
     */
    public Builder seed(long value) {
      seed = value;
      return this;
    }

    /**
     * Requires a key, on the endpoints where the imitated engine does; ATOM never does.
     *
     * @param value the key, or null for none
     * @return this
     */
    public Builder apiKey(@Nullable String value) {
      apiKey = value;
      return this;
    }

    /**
     * Requires another key on SGLang's admin endpoints.
     *
     * @param value the key, or null for none
     * @return this
     */
    public Builder adminKey(@Nullable String value) {
      adminKey = value;
      return this;
    }

    /**
     * Sets the version that the engine reports.
     *
     * @param value a version
     * @return this
     */
    public Builder version(String value) {
      version = Objects.requireNonNull(value, "version");
      return this;
    }

    /**
     * Sets when usage reports cached tokens; always by default. ATOM has no such switch.
     *
     * @param value when
     * @return this
     */
    public Builder cacheReport(CacheReport value) {
      cacheReport = Objects.requireNonNull(value, "cacheReport");
      return this;
    }

    /**
     * Sets the version of SGLang's {@code /v1/loads}; the current one by default.
     *
     * @param value the shape
     * @return this
     */
    public Builder loadsShape(LoadsShape value) {
      loadsShape = Objects.requireNonNull(value, "loadsShape");
      return this;
    }

    /**
     * Sets the generation of metric names; the current one by default.
     *
     * @param value the names
     * @return this
     */
    public Builder metricNames(MetricNames value) {
      metricNames = Objects.requireNonNull(value, "metricNames");
      return this;
    }

    /**
     * Sets how often ATOM refreshes its metrics; 5 s by default.
     *
     * @param value the interval, more than zero
     * @return this
     */
    public Builder metricsRefresh(Duration value) {
      if (value.isZero() || value.isNegative()) {
        throw new IllegalArgumentException("metricsRefresh must be more than zero");
      }
      metricsRefresh = value;
      return this;
    }

    /**
     * Switches vLLM's development routes (flush, pause, sleep, abort, server info); off by default.
     *
     * @param value whether they exist
     * @return this
     */
    public Builder devMode(boolean value) {
      devMode = value;
      return this;
    }

    /**
     * Sets how long SGLang's health probe takes; 1 s over the speed-up by default.
     *
     * @param value the latency
     * @return this
     */
    public Builder healthLatency(Duration value) {
      healthLatency = Objects.requireNonNull(value, "healthLatency");
      return this;
    }

    /**
     * Sets how long a request goes on to run after its client disconnected. By default nothing on
     * vLLM and ATOM; on SGLang 2 s for streams and 4 s for plain requests, over the speed-up.
     *
     * @param value the delay for both
     * @return this
     */
    public Builder disconnectDelay(Duration value) {
      disconnectDelay = Objects.requireNonNull(value, "disconnectDelay");
      return this;
    }

    /**
     * Sets how long idle HTTP connections stay open; 5 s by default, as on all three engines.
     *
     * @param value the time
     * @return this
     */
    public Builder keepAlive(Duration value) {
      keepAlive = Objects.requireNonNull(value, "keepAlive");
      return this;
    }

    /**
     * Sets the largest request body; 64 MB by default.
     *
     * @param value bytes
     * @return this
     */
    public Builder maxBodyBytes(int value) {
      maxBodyBytes = value;
      return this;
    }

    /**
     * Sets the length of answers to requests that name no limit; 64 tokens by default.
     *
     * @param value tokens
     * @return this
     */
    public Builder defaultOutputTokens(int value) {
      defaultOutputTokens = value;
      return this;
    }

    /**
     * Sets the length of embedding vectors; 64 by default.
     *
     * @param value dimensions
     * @return this
     */
    public Builder embeddingDimensions(int value) {
      embeddingDimensions = value;
      return this;
    }

    /**
     * Sets the rendezvous port that an SGLang prefill worker reports; 8998 by default.
     *
     * @param value a port
     * @return this
     */
    public Builder bootstrapPort(int value) {
      bootstrapPort = value;
      return this;
    }

    /**
     * Sets how long a prefill or decode worker waits for the other one.
     *
     * @param value the timeouts, of the wall clock; default those of the engines
     * @return this
     */
    public Builder handoffTimeouts(HandoffTimeouts value) {
      handoffTimeouts = Objects.requireNonNull(value, "handoffTimeouts");
      return this;
    }

    /**
     * Sets the link that a prefill worker sends KV over.
     *
     * @param value size and bandwidth, before the speedup; default no delay
     * @return this
     */
    public Builder kvTransfer(KvTransfer value) {
      kvTransfer = Objects.requireNonNull(value, "kvTransfer");
      return this;
    }

    /**
     * Arms faults from the start.
     *
     * @param spec as {@link Fault#parse} reads it, or an empty text for none
     * @return this
     */
    public Builder faults(String spec) {
      if (!spec.isEmpty()) {
        Fault.parse(spec);
      }
      faults = spec;
      return this;
    }

    /**
     * Publishes changes of the KV cache over ZeroMQ; nothing is published by default.
     *
     * @param value how and where
     * @return this
     */
    public Builder kvEvents(KvEventSettings value) {
      kvEvents = Objects.requireNonNull(value, "kvEvents");
      return this;
    }

    /**
     * Shows every request to an observer before it is handled.
     *
     * @param observer called on the server's thread, must not block
     * @return this
     */
    public Builder onRequest(Consumer<ReceivedRequest> observer) {
      onRequest = Objects.requireNonNull(observer, "observer");
      return this;
    }

    /**
     * Binds the port and starts the engine.
     *
     * @return the running engine
     * @throws java.io.UncheckedIOException if the port can't be bound
     * @throws IllegalArgumentException if a setting is out of range
     */
    public FakeEngine start() {
      return new FakeEngine(this);
    }

    private int tokensPerBlock() {
      if (blockSize != 0) {
        return blockSize;
      }
      return kind == EngineKind.ATOM ? 16 : 64;
    }

    private Duration scaled(long millis) {
      return Duration.ofNanos((long) (millis * 1e6 / (speedup > 0 ? speedup : 1)));
    }

    private EngineSettings settings() {
      boolean sglang = kind == EngineKind.SGLANG;
      Duration stream = disconnectDelay;
      Duration plain = disconnectDelay;
      if (stream == null || plain == null) {
        stream = sglang ? scaled(2_000) : Duration.ZERO;
        plain = sglang ? scaled(4_000) : Duration.ZERO;
      }
      return new EngineSettings(
          kind,
          role,
          model,
          servedModels.isEmpty() ? List.of(model) : servedModels,
          loraAdapters,
          encoder,
          coreOptions(),
          schedulePolicy,
          dpSize,
          version != null ? version : defaultVersion(),
          apiKey,
          adminKey,
          cacheReport,
          loadsShape,
          metricNames,
          metricsRefresh,
          devMode,
          healthLatency != null ? healthLatency : scaled(1_000),
          stream,
          plain,
          defaultOutputTokens,
          embeddingDimensions,
          bootstrapPort,
          handoffTimeouts,
          seed,
          host,
          kvEvents);
    }

    private String defaultVersion() {
      return switch (kind) {
        case SGLANG -> "0.5.17";
        case VLLM -> "0.24.0";
        case ATOM, UNKNOWN -> "0.1.0";
      };
    }

    private CoreOptions coreOptions() {
      return CoreOptions.builder()
          .numBlocks(blocks)
          .blockSize(tokensPerBlock())
          .maxNumSeqs(maxNumSeqs)
          .maxNumBatchedTokens(maxBatchedTokens)
          .maxModelLen(maxModelLen)
          .prefixCaching(prefixCaching)
          .cacheEvents(kvEvents != null)
          .role(role)
          .transfer(
              new KvTransfer(
                  kvTransfer.bytesPerToken(),
                  kvTransfer.gigabytesPerSecond() * (speedup > 0 ? speedup : 1)))
          .build();
    }

    private LatencyModel latency() {
      return timing.scaled(speedup, speedup);
    }
  }
}
