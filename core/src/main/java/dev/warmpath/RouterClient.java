package dev.warmpath;

import dev.warmpath.api.Headers;
import dev.warmpath.api.NoWorkerAvailableException;
import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouteOptions;
import dev.warmpath.api.RouterClosedException;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.RouterTracer;
import dev.warmpath.api.StreamHandle;
import dev.warmpath.api.StreamListener;
import dev.warmpath.config.DiscoverySource;
import dev.warmpath.config.RouterConfig;
import dev.warmpath.dispatch.AdmissionSettings;
import dev.warmpath.dispatch.AnswerStats;
import dev.warmpath.dispatch.BreakerSettings;
import dev.warmpath.dispatch.DeadLetters;
import dev.warmpath.dispatch.Dispatch;
import dev.warmpath.dispatch.Dispatcher;
import dev.warmpath.dispatch.Pauser;
import dev.warmpath.dispatch.Profile;
import dev.warmpath.dispatch.RequestRunner;
import dev.warmpath.dispatch.RetrySettings;
import dev.warmpath.health.Fleet;
import dev.warmpath.health.FleetView;
import dev.warmpath.health.HealthListener;
import dev.warmpath.health.HealthMonitor;
import dev.warmpath.health.HealthSettings;
import dev.warmpath.health.PredictionCheck;
import dev.warmpath.health.RankState;
import dev.warmpath.index.BlockIndex;
import dev.warmpath.index.BlockLocator;
import dev.warmpath.index.BlockLookup;
import dev.warmpath.index.BranchTrie;
import dev.warmpath.index.ByteRadixTree;
import dev.warmpath.index.LookupSettings;
import dev.warmpath.index.kv.KvEventSettings;
import dev.warmpath.index.kv.KvEventStats;
import dev.warmpath.index.kv.KvEvents;
import dev.warmpath.index.kv.KvSubscriber;
import dev.warmpath.index.kv.KvSubscriberSource;
import dev.warmpath.index.kv.ZmqKvSubscriber;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.knowledge.RequestKnowledge;
import dev.warmpath.observe.LoadHistory;
import dev.warmpath.observe.LoadHistorySettings;
import dev.warmpath.observe.MetricFamily;
import dev.warmpath.observe.RequestMetrics;
import dev.warmpath.pd.PdRouting;
import dev.warmpath.pd.PdSettings;
import dev.warmpath.pd.PdStats;
import dev.warmpath.policy.HomingFeedback;
import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RolloutSettings;
import dev.warmpath.policy.RoutingEnvironment;
import dev.warmpath.policy.RoutingPolicy;
import dev.warmpath.prompt.EngineAdapters;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.prompt.PromptReader;
import dev.warmpath.prompt.PromptSource;
import dev.warmpath.prompt.StageTimers;
import dev.warmpath.transport.Exchange;
import dev.warmpath.transport.ExchangeResponse;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.transport.Transport;
import dev.warmpath.transport.TransportException;
import dev.warmpath.worker.Scheduler;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.ServedModel;
import dev.warmpath.worker.Topology;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerDiscovery;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends each LLM request straight to the worker that already holds its prefix. One instance serves
 * a whole application: it is thread safe, made to be shared, and owns the background work
 * (discovery, health, load) until it is closed.
 *
 * <p>Blocking calls come first, and do well on virtual threads; futures, publishers and listeners
 * stand beside them. Every failure is a {@link RouterException}.
 */
public final class RouterClient implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RouterClient.class);

  private static final long MIN_INDEX_BYTES = 64 << 10;

  /** The part of the indexes' budget that goes to statistics of where prompts part: a 16th. */
  private static final int BRANCH_SHARE = 16;

  private static final Timeouts ABORT_TIMEOUTS =
      new Timeouts(
          Duration.ofSeconds(1),
          Duration.ofSeconds(1),
          Duration.ofSeconds(1),
          Duration.ofSeconds(2));

  private final WorkerRegistry registry;
  private final Fleet fleet;
  private final HealthMonitor health;
  private final ByteRadixTree index;
  private final BlockIndex blocks;
  private final @Nullable BlockLookup lookup;
  private final BranchTrie branches;
  private final @Nullable BranchStore branchStore;
  private final @Nullable TopologyStore topologyStore;
  private final @Nullable IndexStore indexStore;
  private final @Nullable LoadHistory loadHistory;
  private final EscapeHatch escapeHatch;
  private final @Nullable RequestMetrics requestMetrics;
  private final RoutingEnvironment environment;
  private final PromptReader prompts;
  private final PromptWork promptWork;
  private final Dispatcher dispatcher;
  private final @Nullable KvEvents kvEvents;
  private final @Nullable KnowledgeRouting knowledge;
  private final RequestRunner runner;
  private final PdRouting pairs;
  private final DeadLetters deadLetters;
  private final Workers workers;
  private final List<Transport> transports;
  private final Discoveries discoveries;
  private final Executor executor;
  private final @Nullable RouterTracer tracer;
  private final @Nullable ExecutorService ownExecutor;
  private final WorkerSources workerSources;
  private final DecisionLog decisions;
  private final Reloader reloader;
  private final Admin admin;
  private volatile ClientSettings settings;
  private final AtomicBoolean closed = new AtomicBoolean();

  private RouterClient(ClientOptions options, ClientParts parts) {
    ClientSettings settings = new ClientSettings(options, options.config);
    this.settings = settings;
    this.transports = parts.transports();
    this.registry = new WorkerRegistry();
    LongSupplier ticker =
        options.scheduler == null ? System::nanoTime : options.scheduler::nanoTime;
    long seed = settings.seed == null ? new SecureRandom().nextLong() : settings.seed;
    this.prompts =
        settings.prompts().blockTokens(PromptBlocks.TOKENS).timers(new StageTimers(ticker)).build();
    this.promptWork = new PromptWork(settings.tokenizeThreads);
    // One budget: where prompts have tokens the tree sees only those that can't be rendered.
    long branchBytes = Math.max(MIN_INDEX_BYTES, settings.indexBytes / BRANCH_SHARE);
    long blockBytes =
        Math.max(
            MIN_INDEX_BYTES, prompts.tokenizes() ? settings.indexBytes / 4 * 3 : MIN_INDEX_BYTES);
    BranchTrie branches = BranchTrie.builder().budgetBytes(branchBytes).ticker(ticker).build();
    this.blocks = BlockIndex.builder().budgetBytes(blockBytes).ticker(ticker).build();
    this.index =
        ByteRadixTree.builder()
            .budgetBytes(Math.max(MIN_INDEX_BYTES, settings.indexBytes - blockBytes - branchBytes))
            .ticker(ticker)
            .build();
    this.knowledge = parts.knowledge();
    this.decisions = new DecisionLog(settings.config.statusDecisions(), ticker);
    this.requestMetrics = settings.requestMetrics ? new RequestMetrics() : null;
    IndexFeed feed = new IndexFeed(index, blocks);
    this.kvEvents = kvEvents(settings);
    BlockLocator locator = parts.locator();
    this.lookup = locator == null ? null : new BlockLookup(locator, settings.lookup);
    this.deadLetters = new DeadLetters(settings.deadLetterBytes);
    this.tracer = options.tracer;
    Executor given = options.executor;
    this.ownExecutor = given == null ? AsyncExecutors.create() : null;
    this.executor = given == null ? Objects.requireNonNull(ownExecutor) : given;
    // The fleet tells of ranks that leave before the dispatcher that wants to hear of it can be
    // made with the fleet.
    AtomicReference<@Nullable Dispatcher> later = new AtomicReference<>();
    if (kvEvents != null) {
      registry.subscribe(kvEvents); // before whoever drops what is known of ranks that are gone
    }
    this.fleet = new Fleet(registry, rank -> gone(later.get(), rank));
    this.environment =
        RoutingEnvironment.builder()
            .prefixes(feed)
            .lookup(lookup)
            .branches(branches)
            .seed(seed)
            .telemetryLimit(settings.health.telemetryStaleAfter())
            .rollout(settings.rollout)
            .build();
    feed.feeds(new HomingFeedback(environment));
    this.branches = branches;
    this.branchStore = settings.branchFile == null ? null : new BranchStore(settings.branchFile);
    if (branchStore != null) {
      branchStore.load(branches);
    }
    this.dispatcher =
        new Dispatcher(
            fleet,
            settings.rules,
            environment,
            prompts,
            feed,
            new TransportScreen(transports),
            listeners(options.listeners),
            options.tracer,
            deadLetters,
            ticker,
            seeds(seed),
            pauser(options.scheduler));
    later.set(dispatcher);
    this.runner = new RequestRunner(dispatcher, this::exchange, executor);
    this.pairs =
        new PdRouting(
            dispatcher,
            runner,
            this::exchange,
            executor,
            options.scheduler,
            settings.pairRules,
            settings.seed == null ? new SecureRandom()::nextLong : seeds(~seed));
    registry.subscribe(feed);
    this.indexStore = IndexStore.of(settings, prompts.tokenizes(), blocks);
    if (indexStore != null) {
      registry.subscribe(indexStore); // after whoever tells the index of capacities
    }
    registry.subscribe((before, after) -> retain(after));
    HealthMonitor.Builder monitor =
        HealthMonitor.builder(registry, fleet, transports).settings(settings.health).seed(seed);
    options.healthListeners.forEach(monitor::addListener);
    if (options.scheduler != null) {
      monitor.scheduler(options.scheduler);
    }
    if (options.healthExecutor != null) {
      monitor.executor(options.healthExecutor);
    }
    this.health = monitor.start();
    this.escapeHatch =
        new EscapeHatch(
            environment.policySwitch(),
            registry,
            transports.stream()
                .flatMap(transport -> transport.schemes().stream())
                .collect(Collectors.toUnmodifiableSet()),
            spec -> this.settings.keyed(spec));
    this.workers = new Workers(registry, health);
    this.workerSources = new WorkerSources(registry, settings);
    this.topologyStore =
        settings.topologyFile == null ? null : new TopologyStore(settings.topologyFile);
    Map<String, List<WorkerSpec>> known = topologyStore == null ? Map.of() : topologyStore.load();
    this.discoveries = new Discoveries(workerSources, known);
    discoveries.take(settings.config, parts.discoveries());
    options.discoveries.forEach(discoveries::start);
    // Its first look is to find the workers that are configured.
    LoadHistorySettings history = settings.loadHistory;
    this.loadHistory =
        history == null
            ? null
            : LoadHistory.start(history, health::views, Clock.systemUTC(), options.scheduler);
    this.admin =
        Admin.of(new ClientAdmin(registry, transports, feed, kvEvents, knowledge, executor));
    this.reloader = new Reloader(settings, this::take);
  }

  /** What engines tell is told of tokens: without a tokenizer nothing could be matched with it. */
  private @Nullable KvEvents kvEvents(ClientSettings client) {
    KvEventSettings settings = client.kvEvents;
    if (!prompts.tokenizes()) {
      if (settings != null) {
        log.warn("KV events tell nothing of prompts without tokens: give the client its model");
      }
      return null;
    }
    KvEventSettings bounds = settings == null ? KvEventSettings.DEFAULT : settings;
    List<KvSubscriber> subscribers = new ArrayList<>(client.options.kvSubscribers);
    subscribers.add(new ZmqKvSubscriber(bounds, settings != null));
    for (Transport transport : transports) {
      if (settings != null && transport instanceof KvSubscriberSource source) {
        subscribers.add(source.kvSubscriber(bounds));
      }
    }
    return new KvEvents(blocks, PromptBlocks.TOKENS, bounds, subscribers);
  }

  private static Pauser pauser(@Nullable Scheduler scheduler) {
    return scheduler == null ? Pauser.REAL : (nanos, until) -> scheduler.await(until, nanos);
  }

  private static void gone(@Nullable Dispatcher dispatcher, WorkerRank rank) {
    if (dispatcher != null) {
      dispatcher.gone(rank);
    }
  }

  /** SplitMix64 over a shared counter: seeded, and free of contention but for one addition. */
  private static LongSupplier seeds(long seed) {
    AtomicLong state = new AtomicLong(seed);
    return () -> {
      long z = state.addAndGet(0x9e3779b97f4a7c15L);
      z = (z ^ z >>> 30) * 0xbf58476d1ce4e5b9L;
      z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
      return z ^ z >>> 31;
    };
  }

  private void retain(Topology present) {
    Set<WorkerId> workers =
        present.workers().stream().map(Worker::id).collect(Collectors.toUnmodifiableSet());
    transports.forEach(transport -> transport.retain(workers));
  }

  private Exchange exchange(OutboundRequest request) {
    String scheme = request.target().worker().id().scheme();
    for (Transport transport : transports) {
      if (transport.schemes().contains(scheme)) {
        return transport.open(request);
      }
    }
    throw new IllegalStateException(
        "no transport for " + scheme + " workers: give the builder one that serves them");
  }

  /** Starts a client. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Sends a request and waits for the whole response. A failure is retried elsewhere as long as
   * retries are allowed.
   *
   * @throws RouterException when no worker gave a response
   */
  public RouterResponse send(RouterRequest request) {
    return send(begin(request, dispatcher.now(), Runnable::run));
  }

  /** Takes a request in, its knowledge in its body. */
  private Dispatch begin(RouterRequest request, long started, Executor lessons) {
    RequestKnowledge its = prepared(request);
    return dispatcher.begin(its == null ? request : its.request(), started, null, lessons, its);
  }

  private @Nullable RequestKnowledge rehearsed(RouterRequest request) {
    if (knowledge == null) {
      return null;
    }
    RouteOptions options = dispatcher.options(request);
    return knowledge.rehearse(
        request, options.knowledge(), dispatcher.view(), dispatcher.deadline(options));
  }

  private @Nullable RequestKnowledge prepared(RouterRequest request) {
    if (knowledge == null) {
      return null;
    }
    RouteOptions options = dispatcher.options(request);
    return knowledge.prepare(
        request, options.knowledge(), dispatcher.view(), dispatcher.deadline(options));
  }

  /** Whether a prefill and a decode worker share a request. */
  private boolean paired(Dispatch dispatch) {
    return escapeHatch.policies().fallback() == null && pairs.takes(dispatch);
  }

  private RouterResponse send(Dispatch dispatch) {
    return paired(dispatch) ? pairs.send(dispatch) : runner.send(dispatch);
  }

  private RouterStream stream(Dispatch dispatch) {
    return paired(dispatch) ? pairs.stream(dispatch) : runner.stream(dispatch);
  }

  /**
   * Sends a request without blocking the caller. Cancelling the future cancels the request at its
   * worker.
   *
   * @return completes with the response, or exceptionally with what {@link #send} throws
   */
  public CompletableFuture<RouterResponse> sendAsync(RouterRequest request) {
    return async(request, this::send);
  }

  /**
   * Sends a request whose body asks for a stream, and waits for its first event. The caller closes
   * the stream.
   *
   * @throws RouterException when no worker began a stream
   */
  public RouterStream stream(RouterRequest request) {
    // Whoever reads its last event may be a thread of the client's executor.
    return stream(begin(request, dispatcher.now(), promptWork));
  }

  /**
   * Opens a stream without blocking the caller. Cancelling the future cancels the request; a stream
   * that was opened is the caller's to close.
   */
  public CompletableFuture<RouterStream> streamAsync(RouterRequest request) {
    return async(request, this::stream);
  }

  /**
   * Opens a stream and hands its events to {@code listener}, on a thread of the client's executor.
   */
  public StreamHandle stream(RouterRequest request, StreamListener listener) {
    ListenedStream listened = new ListenedStream(this::beginApart, this::stream, request, listener);
    try {
      executor.execute(carried(listened));
    } catch (RejectedExecutionException e) {
      listened.fail(closed.get() ? new RouterClosedException() : e);
    }
    return listened;
  }

  private Runnable carried(Runnable task) {
    RouterTracer by = tracer;
    return by == null ? task : by.carry(task);
  }

  private <T> CompletableFuture<T> async(RouterRequest request, Function<Dispatch, T> run) {
    CompletableFuture<T> future = new CompletableFuture<>();
    CancellableCall call = new CancellableCall();
    var unused =
        future.whenComplete(
            (value, error) -> {
              if (error instanceof CancellationException) {
                call.cancel();
              }
            });
    try {
      executor.execute(carried(() -> run(future, call, request, run)));
    } catch (RejectedExecutionException e) {
      future.completeExceptionally(closed.get() ? new RouterClosedException() : e);
    }
    return future;
  }

  private <T> void run(
      CompletableFuture<T> future,
      CancellableCall call,
      RouterRequest request,
      Function<Dispatch, T> run) {
    if (future.isDone()) {
      return;
    }
    try {
      Dispatch dispatch = beginApart(request);
      call.begun(dispatch);
      T value = run.apply(dispatch);
      if (!future.complete(value) && value instanceof RouterStream stream) {
        stream.close();
      }
    } catch (RuntimeException | Error e) {
      future.completeExceptionally(e);
    }
  }

  /**
   * Decides where a request would go and sends nothing.
   *
   * @throws NoWorkerAvailableException when nobody can serve it
   */
  public RouteDecision explain(RouterRequest request) {
    RequestKnowledge its = rehearsed(request);
    RouterRequest ready = its == null ? request : its.request();
    RouteDecision decision = explain(ready, its);
    return kvEvents == null ? decision : decision.withStep(kvEvents.stats().summary());
  }

  private RouteDecision explain(RouterRequest ready, @Nullable RequestKnowledge its) {
    if (!dispatcher.view().topology().disaggregated()) {
      return dispatcher.explain(ready, its);
    }
    Prompt prompt = dispatcher.read(ready);
    return escapeHatch.policies().fallback() == null && pairs.takes(ready, prompt)
        ? pairs.explain(ready, prompt, its)
        : dispatcher.explain(ready, its);
  }

  /**
   * Sends a request through exchanges that the caller makes: for integrations that carry the bytes
   * themselves, such as an interceptor. Retries, leases and feedback are the client's, as in {@link
   * #send}.
   *
   * @param request what to route; its body serves the decision and every attempt
   * @param exchanges opens an exchange for one attempt
   * @param repeatable asked after a failed attempt: whether the request could be sent again; false
   *     once a body that can be written only once has been
   * @return the first response that is not to be retried, open at its headers
   * @throws RouterException when no worker gave a response
   */
  public RequestRunner.Opened open(
      RouterRequest request,
      Function<OutboundRequest, Exchange> exchanges,
      BooleanSupplier repeatable) {
    return open(request, exchanges, repeatable, cancel -> {});
  }

  /**
   * The same, for a caller that can also take a response which no exchange of its own carried: what
   * prefill and decode workers answer to a request for several generations, or with
   * log-probabilities of the prompt, is put together by the client.
   *
   * @param carried called before anything is sent where two workers share the request, with what
   *     cancels it from any thread: while only prefill is at it, no exchange of the caller's is
   */
  public RequestRunner.Opened open(
      RouterRequest request,
      Function<OutboundRequest, Exchange> exchanges,
      BooleanSupplier repeatable,
      Consumer<Runnable> carried) {
    Dispatch dispatch = beginApart(request);
    return paired(dispatch)
        ? pairs.open(dispatch, exchanges, repeatable, carried)
        : runner.open(dispatch, exchanges, repeatable);
  }

  /** Takes a request in from a thread that should not tokenize itself. */
  private Dispatch beginApart(RouterRequest request) {
    long started = dispatcher.now();
    if (!prompts.tokenizes()) {
      return begin(request, started, Runnable::run);
    }
    RequestKnowledge its = prepared(request);
    RouterRequest ready = its == null ? request : its.request();
    Prompt prompt = promptWork.await(() -> dispatcher.read(ready));
    return dispatcher.begin(ready, started, prompt, promptWork, its);
  }

  /**
   * Sends a request to a worker as it is: no routing, no lease, no retry. For admin calls of
   * integrations and tools.
   *
   * @throws IllegalStateException when no transport serves the worker's scheme
   */
  public Exchange direct(OutboundRequest request) {
    return exchange(request);
  }

  /**
   * Tells a worker to end a request, on a thread of the client's executor. For integrations whose
   * own connection is not theirs to abort by.
   *
   * @param rid the id the engine knows the request by
   * @return completes when the worker has answered, exceptionally when it can't be told
   */
  public CompletableFuture<Void> abort(WorkerRank target, String rid) {
    OutboundRequest request =
        new OutboundRequest(
            target,
            "POST",
            "/abort_request",
            Headers.of("Content-Type", "application/json"),
            EngineAdapters.abortBody(rid),
            false,
            true,
            null,
            ABORT_TIMEOUTS);
    try {
      return CompletableFuture.runAsync(
          () -> {
            try (ExchangeResponse response = exchange(request).execute()) {
              response.readBody();
            } catch (TransportException e) {
              throw new CompletionException(e);
            }
          },
          executor);
    } catch (RejectedExecutionException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /**
   * Takes another configuration, whole or not at all. Requests that run keep what they began with;
   * those that begin from now on go by the new one. Workers that it leaves out get nothing new, and
   * finish what they have. What the builder was told by calls still wins.
   *
   * @throws dev.warmpath.config.ConfigException when something differs that a running client can't
   *     change; the old configuration stays in force
   * @throws RouterClosedException when the client is closed
   */
  public void reload(RouterConfig config) {
    reloader.reload(config);
  }

  /** The configuration in force; what the builder was told by calls is not part of it. */
  public RouterConfig config() {
    return settings.config;
  }

  private void take(ClientSettings next) {
    if (closed.get()) {
      throw new RouterClosedException();
    }
    Map<DiscoverySource, WorkerDiscovery> opened = discoveries.openNew(next.config);
    if (!next.rollout.sameAs(settings.rollout)) {
      escapeHatch.policies().settings(next.rollout);
    }
    settings = next;
    dispatcher.rules(next.rules);
    pairs.rules(next.pairRules);
    health.reconfigure(next.health);
    environment.telemetryLimit(next.health.telemetryStaleAfter());
    workerSources.reload(next);
    discoveries.take(next.config, opened);
  }

  /** What to reach for when routing itself is suspected. */
  public EscapeHatch escapeHatch() {
    return escapeHatch;
  }

  /** The workers, to look at and to change. */
  public Workers workers() {
    return workers;
  }

  /**
   * Empties caches, ends requests, pauses, resumes and profiles engines: {@code
   * admin().worker(address)} or {@code admin().everyWorker()}.
   */
  public Admin admin() {
    return admin;
  }

  /** The union of the models that the workers serve. */
  public Set<ServedModel> models() {
    return registry.current().models();
  }

  /**
   * Waits until at least one worker is known to be up.
   *
   * @return whether one is, within {@code atMost}
   * @throws RequestCancelledException when the thread is interrupted
   * @throws RouterClosedException when the client is closed meanwhile
   */
  public boolean awaitReady(Duration atMost) {
    try {
      health.whenReady().get(atMost.toNanos(), TimeUnit.NANOSECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RequestCancelledException("interrupted while waiting for a worker");
    } catch (ExecutionException e) {
      throw new RouterClosedException();
    }
  }

  private List<RouterListener> listeners(List<RouterListener> given) {
    List<RouterListener> all = new ArrayList<>(given);
    if (settings.config.statusDecisions() > 0) {
      all.add(decisions);
    }
    RequestMetrics counted = requestMetrics;
    if (counted != null) {
      all.add(counted);
    }
    if (knowledge != null) {
      all.add(knowledge.listener());
    }
    return all;
  }

  /** The policy that decides. */
  public RoutingPolicy policy() {
    return settings.rules.policy();
  }

  /** What decides where knowledge comes from, where {@link Builder#knowledge} sets it. */
  public Optional<KnowledgeRouting> knowledge() {
    return Optional.ofNullable(knowledge);
  }

  /** Requests that finally failed, where {@link Builder#deadLetterBytes} keeps any. */
  public DeadLetters deadLetters() {
    return deadLetters;
  }

  /** Everything that is known at this moment; {@link RouterStatus#toJson} makes JSON of it. */
  public RouterStatus status() {
    ClientSettings held = settings;
    return new RouterStatus(
        held.rules.policy().name(),
        held.pairRules.prefill().name(),
        held.pairRules.decode().name(),
        held.config.source(),
        held.config.hash(),
        readiness(),
        stats(),
        predictions(),
        workers.list().stream()
            .map(view -> new RouterStatus.WorkerStatus(view, breaker(view.worker())))
            .toList(),
        decisions.last());
  }

  /** Whether the client is live and ready, for an application's health check. Never waits. */
  public RouterStatus.Readiness readiness() {
    return Readinesses.of(workers.list(), closed.get());
  }

  /** A moment's figures of the client itself. */
  public ClientStats stats() {
    return new ClientStats(
        dispatcher.inFlight(),
        dispatcher.waiting(),
        dispatcher.retriesLeft(),
        index.stats(),
        blocks.stats(),
        branches.stats(),
        prompts.stats(),
        dispatcher.answers(),
        pairs.stats(),
        lookup == null ? BlockLookup.Stats.NONE : lookup.stats(),
        kvEvents == null ? KvEventStats.NONE : kvEvents.stats());
  }

  /**
   * A moment's figures.
   *
   * @param inFlight requests being carried out
   * @param waiting requests waiting for admission
   * @param retriesLeft retries that the budget allows at this moment
   * @param index the index of prompts by bytes
   * @param blocks the index of prompts by blocks
   * @param branches the statistics of where prompts part
   * @param prompts the caches of tokens and block chains
   * @param answers what was answered and is not learned, yet or at all
   * @param pd what requests came to that a prefill and a decode worker shared
   * @param lookups what asking the {@link Builder#blockLocator} came to
   * @param kvEvents what engines told of their KV caches
   */
  public record ClientStats(
      int inFlight,
      int waiting,
      long retriesLeft,
      ByteRadixTree.Stats index,
      BlockIndex.Stats blocks,
      BranchTrie.Stats branches,
      PromptReader.CacheStats prompts,
      AnswerStats answers,
      PdStats pd,
      BlockLookup.Stats lookups,
      KvEventStats kvEvents) {}

  /**
   * The client's metrics at this moment: what {@link #stats}, {@link #predictions} and the workers'
   * telemetry say, and what became of requests where {@link Builder#requestMetrics} counts them.
   * {@link dev.warmpath.observe.PrometheusText} makes text of them.
   */
  public List<MetricFamily> metrics() {
    ClientMetrics metrics =
        new ClientMetrics()
            .client(stats())
            .predictions(predictions())
            .workers(workers().list())
            .breakers(fleet.view().topology().workers(), this::breaker)
            .connections(transports)
            .stages(prompts.timers().times());
    if (knowledge != null) {
      metrics.knowledge(knowledge);
    }
    RequestMetrics counted = requestMetrics;
    return (counted == null ? metrics : metrics.also(counted.families())).families();
  }

  /**
   * Timers of the client's own work on requests, off until they are started: for finding out on a
   * running client where its time goes. {@link #metrics} shows what they count.
   */
  public StageTimers stageTimers() {
    return prompts.timers();
  }

  /** How the cache hits of each rank compare with what was predicted, by the rank's name. */
  public Map<String, PredictionCheck.Verdict> predictions() {
    Map<String, PredictionCheck.Verdict> verdicts = new LinkedHashMap<>();
    FleetView view = fleet.view();
    for (WorkerRank rank : view.topology().ranks()) {
      RankState state = view.find(rank);
      if (state != null) {
        verdicts.put(rank.toString(), state.predictions().verdict());
      }
    }
    return verdicts;
  }

  /** The state of a worker's circuit breaker: {@code closed}, {@code open} or {@code half_open}. */
  public String breaker(dev.warmpath.worker.Worker worker) {
    return dispatcher.breaker(worker);
  }

  /**
   * Takes nothing new, cancels what is in flight, and frees everything. Idempotent, never throws.
   */
  @Override
  public void close() {
    close(Duration.ZERO);
  }

  /**
   * Takes nothing new, lets what is in flight finish for up to {@code grace}, cancels the rest, and
   * frees everything. Idempotent.
   */
  public void close(Duration grace) {
    dispatcher.stopAdmitting();
    dispatcher.awaitIdle(grace);
    dispatcher.cancelAll();
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    quietly(reloader);
    quietly(discoveries);
    if (loadHistory != null) {
      quietly(loadHistory);
    }
    quietly(health);
    quietly(fleet);
    if (kvEvents != null) {
      quietly(kvEvents);
    }
    quietly(promptWork);
    quietly(pairs);
    if (branchStore != null) {
      branchStore.save(branches);
    }
    if (indexStore != null) {
      indexStore.save(registry.current());
    }
    if (topologyStore != null) {
      topologyStore.save(workerSources.discovered());
    }
    if (lookup != null) {
      quietly(lookup);
    }
    if (knowledge != null) {
      quietly(knowledge);
    }
    for (Transport transport : transports) {
      quietly(transport);
    }
    ExecutorService own = ownExecutor;
    if (own != null) {
      own.shutdown();
    }
  }

  static void quietly(AutoCloseable resource) {
    try {
      resource.close();
    } catch (Exception e) {
      log.warn("Closing {} failed", resource.getClass().getName(), e);
    }
  }

  /** Builds a {@link RouterClient}. Not thread safe; used once. */
  public static final class Builder {
    private final ClientOptions options = new ClientOptions();

    private Builder() {}

    /**
     * Takes what a configuration says. Calls of this builder win over it, before or after; workers,
     * discoveries, models and profiles of both count.
     */
    public Builder config(RouterConfig config) {
      options.config = config;
      options.configFile = null;
      return this;
    }

    /**
     * Reads a configuration file, and follows its changes while the client runs ({@code
     * reload_interval}): what can't be taken is reported, and the old configuration stays. See
     * {@code core/CONFIGURATION.md} for the keys.
     *
     * @throws dev.warmpath.config.ConfigException naming the file, the key and what to do
     */
    public Builder config(Path file) {
      options.config = RouterConfig.read(file);
      options.configFile = file;
      return this;
    }

    /**
     * Adds a worker by its one-line form: a URL, optionally with {@code ;role=}, {@code ;engine=}
     * and so on.
     *
     * @throws IllegalArgumentException saying what to correct
     */
    public Builder worker(String worker) {
      return worker(WorkerSpec.parse(worker));
    }

    /** Adds a worker. */
    public Builder worker(WorkerSpec worker) {
      options.workers.add(worker);
      return this;
    }

    /** Adds a source of workers. The client starts it, and closes it with itself. */
    public Builder discovery(WorkerDiscovery discovery) {
      options.discoveries.add(discovery);
      return this;
    }

    /** Adds a transport. The client takes ownership and closes it with itself. */
    public Builder transport(Transport transport) {
      options.transports.add(transport);
      return this;
    }

    /** Sets the policy; {@link Policies#standard()} by default. */
    public Builder policy(RoutingPolicy policy) {
      options.policy = policy;
      return this;
    }

    /**
     * Sets the policy that chooses prefill workers, where prefill and decode are apart; {@link
     * Policies#prefill()} by default.
     */
    public Builder prefillPolicy(RoutingPolicy policy) {
      options.prefillPolicy = policy;
      return this;
    }

    /**
     * Sets the policy that chooses decode workers, where prefill and decode are apart; {@link
     * Policies#decode()} by default.
     */
    public Builder decodePolicy(RoutingPolicy policy) {
      options.decodePolicy = policy;
      return this;
    }

    /** Sets how requests are carried out that a prefill and a decode worker share. */
    public Builder prefillDecode(PdSettings settings) {
      options.prefillDecode = settings;
      return this;
    }

    /**
     * Gives the files of a model, so that its prompts are rendered, tokenized and hashed as its
     * engines do. Without them prompts are compared by their bytes.
     *
     * @param name the name that requests use; several names may share files
     */
    public Builder model(String name, ModelFiles files) {
      options.models.put(name, files);
      return this;
    }

    /**
     * Gives the files of every model whose name has none of its own: for fleets of one model under
     * whatever names.
     */
    public Builder model(ModelFiles files) {
      options.anyModel = files;
      return this;
    }

    /**
     * Sets what the caches of tokens and block chains may take together, in bytes; 64 MB by
     * default.
     */
    public Builder promptCacheBytes(long bytes) {
      if (bytes < 0) {
        throw new IllegalArgumentException("a cache of " + bytes + " bytes");
      }
      options.promptCacheBytes = bytes;
      return this;
    }

    /**
     * Sets how many threads render and tokenize for asynchronous calls and interceptors, and
     * tokenize what streams answered; twice the processors by default. Blocking calls do the rest
     * on their own thread.
     *
     * @throws IllegalArgumentException if there is none
     */
    public Builder tokenizeThreads(int threads) {
      if (threads < 1) {
        throw new IllegalArgumentException(threads + " threads can't tokenize: use 1 or more");
      }
      options.tokenizeThreads = threads;
      return this;
    }

    /**
     * Sets the clock that chat templates which print the date go by: the engines' own, in their
     * zone. The system's in UTC by default.
     */
    public Builder templateClock(Clock clock) {
      options.templateClock = clock;
      return this;
    }

    /**
     * Sets a source that knows the prompts of some or all requests before their bodies are read:
     * for applications that tokenize themselves, and for simulations. Requests it does not know are
     * read from their bodies.
     */
    public Builder promptSource(PromptSource source) {
      options.promptSource = source;
      return this;
    }

    /** Adds an option set that requests ask for by name. */
    public Builder profile(String name, Profile profile) {
      options.profiles.put(name, profile);
      return this;
    }

    /**
     * Also counts requests and attempts, with the time they take, for {@link RouterClient#metrics};
     * off by default. It costs a few additions for each event of a request.
     */
    public Builder requestMetrics(boolean counted) {
      options.requestMetrics = counted;
      return this;
    }

    /** Adds a listener to every request. */
    public Builder listener(RouterListener listener) {
      options.listeners.add(listener);
      return this;
    }

    /**
     * Follows each request with what {@code tracer} makes of it, such as a span of OpenTelemetry;
     * null, the default, for none.
     */
    public Builder tracer(@Nullable RouterTracer tracer) {
      options.tracer = tracer;
      return this;
    }

    /** Adds a listener to changes of workers' health. */
    public Builder healthListener(HealthListener listener) {
      options.healthListeners.add(listener);
      return this;
    }

    /** Sets the key sent to workers that have none of their own. */
    public Builder apiKey(@Nullable Secret apiKey) {
      options.apiKey = apiKey;
      return this;
    }

    /** Sets the admin key sent to workers that have none of their own. */
    public Builder adminKey(@Nullable Secret adminKey) {
      options.adminKey = adminKey;
      return this;
    }

    /** Sets how long an attempt may take, part by part. */
    public Builder timeouts(Timeouts timeouts) {
      options.timeouts = timeouts;
      return this;
    }

    /** Sets how long a request may take in all, unless it says so itself; none by default. */
    public Builder deadline(@Nullable Duration deadline) {
      options.deadlineGiven = true;
      options.deadline = deadline;
      return this;
    }

    /** Sets when failed attempts are repeated. */
    public Builder retry(RetrySettings retry) {
      options.retry = retry;
      return this;
    }

    /** Sets when failing workers are set aside. */
    public Builder breaker(BreakerSettings breaker) {
      options.breaker = breaker;
      return this;
    }

    /** Sets how many requests are out at once and who waits. */
    public Builder admission(AdmissionSettings admission) {
      options.admission = admission;
      return this;
    }

    /** Sets how long a request waits for the first worker to be discovered; 5 s by default. */
    public Builder noWorkerWait(Duration noWorkerWait) {
      options.noWorkerWait = noWorkerWait;
      return this;
    }

    /** Sets intervals and thresholds of probing and load polling. */
    public Builder health(HealthSettings health) {
      options.health = health;
      return this;
    }

    /**
     * Refuses requests that don't say whose they are: whose body has neither {@code cache_salt} nor
     * {@code extra_key}, by which engines and this client's indexes keep tenants apart. For
     * services of several tenants, where one that forgets it would share its cache; off by default.
     */
    public Builder tenantKeyRequired(boolean required) {
      options.tenantKeyRequired = required;
      return this;
    }

    /**
     * Sets how much of the traffic the policy decides, and what decides the rest; all of it by
     * default. {@link RouterClient#escapeHatch} changes it at run time.
     */
    public Builder rollout(RolloutSettings settings) {
      options.rollout = settings;
      return this;
    }

    /**
     * Sets a file that {@code homing}'s statistics of where prompts part are read from at the start
     * and written to at the end, so that a client that starts anew agrees with the others at once;
     * none by default. It holds hashes, no text. One that can't be read is reported and ignored.
     */
    public Builder branchFile(Path branchFile) {
      options.branchFile = branchFile;
      return this;
    }

    /**
     * Sets a file that what discoveries last told of workers is written to at the end and read from
     * at the start, so that a client starts where a name server or a control plane does not answer;
     * none by default. A discovery's first answer takes its place. It holds no keys. One that can't
     * be read is reported and ignored.
     */
    public Builder topologyFile(Path topologyFile) {
      options.topologyFile = topologyFile;
      return this;
    }

    /**
     * Sets a file that it is written to at the end which blocks of tokens workers are believed to
     * hold, and read from at the start, so that a client that starts anew finds warm workers at
     * once; none by default. What it says are guesses, and only of workers whose engine, block size
     * and models are still those, as far as they are known; a worker that is seen to restart starts
     * empty as ever. It holds addresses, names of engines, and hashes: no text and no tokens. One
     * that can't be read is reported and ignored. Needs the model's files: prompts without tokens
     * have no blocks, and what is known of their bytes is not kept.
     */
    public Builder indexFile(Path indexFile) {
      options.indexFile = indexFile;
      return this;
    }

    /**
     * Sets how old that file may be when a worker appears, because caches move on while this client
     * is away; 10 minutes by default.
     */
    public Builder indexFileMaxAge(Duration maxAge) {
      options.indexFileMaxAge = maxAge;
      return this;
    }

    /**
     * Keeps what is known of workers' loads in a file, off the hot path; where the environment
     * variable {@code WARMPATH_LOADS_DB} says by default, else nowhere. Needs {@code
     * org.xerial:sqlite-jdbc}. One that can't be written is reported and ignored.
     */
    public Builder loadHistory(LoadHistorySettings settings) {
      options.loadHistory = settings;
      return this;
    }

    /**
     * Sets the heap that the prefix indexes, of blocks and of bytes, may take together, in bytes;
     * 64 MB by default.
     */
    public Builder indexBytes(long indexBytes) {
      options.indexBytes = indexBytes;
      return this;
    }

    /**
     * Sets an index outside of the client, such as a UMBP master, that is asked before each
     * decision where the prompt's blocks are; none by default. {@link Policies#umbp} and {@link
     * Policies#linearCost} go by what it tells; requests whose prompts are not exact are not asked
     * for. The client takes ownership and closes it with itself.
     */
    public Builder blockLocator(BlockLocator locator) {
      options.blockLocator = locator;
      return this;
    }

    /**
     * Decides where the knowledge of requests comes from, and puts it into their prompts before
     * these are rendered ({@link dev.warmpath.api.RouterRequest.Builder#knowledge}); without it
     * what requests say of knowledge is ignored. {@link Policies#knowledge} goes by what was
     * decided. The client takes ownership and closes it with itself.
     */
    public Builder knowledge(KnowledgeRouting knowledge) {
      options.knowledge = knowledge;
      options.knowledgeBuilder = null;
      return this;
    }

    /**
     * The same, built with the client: where the builder says nothing, the keys {@code knowledge.*}
     * of the configuration hold.
     */
    public Builder knowledge(KnowledgeRouting.Builder knowledge) {
      options.knowledge = null;
      options.knowledgeBuilder = knowledge;
      return this;
    }

    /**
     * Sets how that index is asked: deadline, keys, which worker is which of its nodes, weights.
     */
    public Builder lookup(LookupSettings settings) {
      options.lookup = settings;
      return this;
    }

    /**
     * Listens to what engines tell of their KV caches, over ZeroMQ where workers say that they do,
     * or their label {@code kv-events} says where, and else over the connections of transports that
     * can ({@link KvSubscriberSource}). Needs the model's files and, for ZeroMQ, {@code
     * org.zeromq:jeromq} on the class path. Without this call only labelled workers are listened
     * to.
     */
    public Builder kvEvents(KvEventSettings settings) {
      options.kvEvents = settings;
      return this;
    }

    /**
     * Adds another way by which engines tell of their KV caches, which goes before ZeroMQ. The
     * client closes it with itself.
     */
    public Builder kvSubscriber(KvSubscriber subscriber) {
      options.kvSubscribers.add(subscriber);
      return this;
    }

    /**
     * Keeps requests that finally failed, up to this many bytes; 0, the default, keeps none: bodies
     * are private.
     */
    public Builder deadLetterBytes(long deadLetterBytes) {
      options.deadLetterBytes = deadLetterBytes;
      return this;
    }

    /**
     * Runs asynchronous calls and stream subscribers here; the executor stays its owner's. By
     * default a virtual thread each on JDK 21 and later, else a cached pool of daemon threads. Each
     * running call holds a thread of it.
     */
    public Builder executor(Executor executor) {
      options.executor = executor;
      return this;
    }

    /**
     * Runs the calls of probes and load polls here, which block, for tests and simulations; the
     * executor stays its owner's. Own daemon threads by default.
     */
    public Builder healthExecutor(Executor executor) {
      options.healthExecutor = executor;
      return this;
    }

    /** Sets clock, timers and waits, for tests and simulations; it stays its owner's. */
    public Builder scheduler(Scheduler scheduler) {
      options.scheduler = scheduler;
      return this;
    }

    /** Fixes all chance, for tests and simulations. */
    public Builder seed(long seed) {
      options.seed = seed;
      return this;
    }

    /**
     * Starts the client. Never waits for workers and never fails because one is down.
     *
     * @throws IllegalStateException when no transport was given and the configuration names none
     * @throws dev.warmpath.config.ConfigException when what it names can't be made
     */
    public RouterClient build() {
      ClientParts parts = ClientParts.of(options);
      try {
        return new RouterClient(options, parts);
      } catch (RuntimeException e) {
        parts.abandon();
        throw e;
      }
    }
  }
}
