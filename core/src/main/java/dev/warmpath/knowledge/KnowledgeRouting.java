package dev.warmpath.knowledge;

import dev.warmpath.api.KnowledgeInfo;
import dev.warmpath.api.KnowledgeNeeds;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.health.FleetView;
import dev.warmpath.transport.KnowledgeTransport;
import dev.warmpath.worker.Scheduler;
import dev.warmpath.worker.WorkerRank;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Knowledge routing as a client does it: knows the nodes and what they have, decides in two stages
 * and keeps the last decisions. Thread safe; whoever builds it closes it, unless it is given to a
 * client.
 */
public final class KnowledgeRouting implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(KnowledgeRouting.class);

  private static final int MAX_POLL_THREADS = 64;
  private static final int JOURNAL = 64;

  private final AtomicBoolean complained = new AtomicBoolean();
  private final KnowledgeRegistry registry;
  private final KnowledgeStrategy strategy;
  private final DecisionJournal journal = new DecisionJournal(JOURNAL);
  private final ControlPlaneViews views;
  private final @Nullable KnowledgeTransport transport;
  private final Scheduler scheduler;
  private final boolean ownScheduler;
  private final @Nullable ExecutorService ownCalls;
  private final @Nullable ExecutorService ownTransfers;
  private final @Nullable NodePoller poller;
  private final RequestRates rates;
  private final KnowledgePreparation preparation;
  private final @Nullable KvInjector injector;
  private final boolean logged;
  private final LongAdder withText = new LongAdder();
  private final LongAdder withKv = new LongAdder();
  private final LongAdder withNothing = new LongAdder();
  private final LongAdder withoutNode = new LongAdder();

  private KnowledgeRouting(Builder builder) {
    transport = builder.transport;
    Scheduler given = builder.scheduler;
    ownScheduler = given == null;
    scheduler = given == null ? Scheduler.onThread("warmpath-knowledge") : given;
    registry =
        new KnowledgeRegistry(
            Objects.requireNonNullElse(builder.registry, RegistrySettings.DEFAULT),
            builder.clock,
            scheduler::nanoTime);
    strategy =
        new KnowledgeStrategy(
            Objects.requireNonNullElse(builder.settings, KnowledgeSettings.DEFAULT));
    views = new ControlPlaneViews(registry, strategy, journal);
    ownCalls = builder.executor == null ? pollThreads() : null;
    Executor calls = ownCalls == null ? Objects.requireNonNull(builder.executor) : ownCalls;
    poller = transport == null ? null : new NodePoller(registry, transport, scheduler, calls);
    if (poller != null) {
      registry.onNode(poller::follow);
    }
    rates = new RequestRates(scheduler::nanoTime);
    logged = Boolean.TRUE.equals(builder.decisionsAtInfo);
    InjectionSettings injection =
        Objects.requireNonNullElse(builder.injection, InjectionSettings.DEFAULT);
    ownTransfers = builder.executor == null ? transferThreads() : null;
    injector =
        transport == null
            ? null
            : new KvInjector(
                registry,
                transport,
                injection,
                scheduler,
                ownTransfers == null ? calls : ownTransfers);
    preparation =
        new KnowledgePreparation(
            registry,
            strategy,
            new TargetGroups(registry, builder.links, builder.capacities, rates),
            new KnowledgeTexts(registry, transport, injection.textCacheBytes()),
            injector,
            new RetrieverCall(builder.retriever),
            injection);
    builder.nodes.forEach(registry::addNode);
  }

  /**
   * Makes a request ready for its prompt to be rendered: decides who delivers its knowledge and who
   * answers, and puts the knowledge into its body. On the calling thread, for as long as the
   * timeouts of {@link InjectionSettings} at most. Whatever goes wrong, the request goes on.
   *
   * @param needs what the request needs, headers read; null for nothing
   * @param fleet the client's workers
   * @param left how long the request may take, or null for as long as it likes
   * @return null where it needs nothing: the request is then to be left as it is
   */
  public @Nullable RequestKnowledge prepare(
      RouterRequest request,
      @Nullable KnowledgeNeeds needs,
      FleetView fleet,
      @Nullable Duration left) {
    KnowledgePreparation.Made made = made(request, needs, fleet, left, false);
    if (made == null) {
      return null;
    }
    KnowledgeInfo info = made.knowledge().info();
    (switch (info.injected()) {
          case "kv" -> withKv;
          case "text" -> withText;
          default -> withNothing;
        })
        .increment();
    if (info.node() == null) {
      withoutNode.increment();
    }
    String name = Long.toString(made.number());
    journal.add(new KnowledgeTrace(name, registry.clock().instant(), made.decision(), info));
    if (logged) {
      log.info("{}", made.decision().line(name));
    } else if (log.isDebugEnabled()) {
      log.debug("{}", made.decision().line(name));
    }
    return made.knowledge();
  }

  /** What {@link #prepare} would make of a request: nothing is remembered, counted or logged. */
  public @Nullable RequestKnowledge rehearse(
      RouterRequest request,
      @Nullable KnowledgeNeeds needs,
      FleetView fleet,
      @Nullable Duration left) {
    KnowledgePreparation.Made made = made(request, needs, fleet, left, true);
    return made == null ? null : made.knowledge();
  }

  private KnowledgePreparation.@Nullable Made made(
      RouterRequest request,
      @Nullable KnowledgeNeeds needs,
      FleetView fleet,
      @Nullable Duration left,
      boolean rehearsal) {
    if (needs == null || needs.isEmpty()) {
      return null;
    }
    try {
      return preparation.prepare(request, needs, fleet, left, rehearsal);
    } catch (RuntimeException e) {
      if (complained.compareAndSet(false, true)) {
        log.warn("Preparing knowledge failed: the request goes without; this is logged once", e);
      }
      return null;
    }
  }

  /** Counts what is sent where, for targets that don't report how many requests they get. */
  public RouterListener listener() {
    return rates;
  }

  /** A rank's cache was emptied: KV that was put there is gone. */
  public void emptied(WorkerRank rank) {
    KvInjector its = injector;
    if (its != null) {
      its.emptied(rank.holderId());
    }
  }

  /** What became of the knowledge of requests so far. */
  public Stats stats() {
    KvInjector its = injector;
    return new Stats(
        withText.sum(),
        withKv.sum(),
        withNothing.sum(),
        withoutNode.sum(),
        its == null ? 0 : its.injected(),
        its == null ? 0 : its.failed(),
        its == null ? 0 : its.shared(),
        its == null ? 0 : its.bytes());
  }

  /**
   * What became of the knowledge of requests.
   *
   * @param text requests whose knowledge went with them as text alone
   * @param kv requests for which KV was to be put in place, too
   * @param nothing requests that went without
   * @param noNode requests for which no node was alive that has any of it
   * @param kvInjected calls after which KV was in place
   * @param kvFailed calls after which it wasn't, and the engine computed it
   * @param kvShared requests that needed no call of their own, since another's was under way
   * @param kvBytes KV that was transferred, as far as that was told
   */
  public record Stats(
      long text,
      long kv,
      long nothing,
      long noNode,
      long kvInjected,
      long kvFailed,
      long kvShared,
      long kvBytes) {}

  private static ExecutorService pollThreads() {
    return threads(MAX_POLL_THREADS, "warmpath-knowledge-call");
  }

  /** As many as needed: for each there is a request that waits for it. */
  private static ExecutorService transferThreads() {
    return threads(Integer.MAX_VALUE, "warmpath-knowledge-kv");
  }

  private static ExecutorService threads(int atMost, String name) {
    return new ThreadPoolExecutor(
        0,
        atMost,
        10,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        task -> {
          Thread thread = new Thread(task, name);
          thread.setDaemon(true);
          return thread;
        });
  }

  /** Starts a builder. */
  public static Builder builder() {
    return new Builder();
  }

  /** Who the nodes and targets are. */
  public KnowledgeRegistry registry() {
    return registry;
  }

  /** What decides. */
  public KnowledgeStrategy strategy() {
    return strategy;
  }

  /** The last 64 decisions that were made for requests, newest first. */
  public List<KnowledgeTrace> recentDecisions() {
    return journal.newestFirst();
  }

  /**
   * The last decision as JSON, with the keys of CacheRoute's {@code /debug/strategy}. Affinity is
   * the one before the decision.
   */
  public String debugStrategy() {
    return views.strategy().toString();
  }

  /** A moment's state as JSON, with the keys of CacheRoute's {@code /debug/status}. */
  public String debugStatus() {
    return views.status().toString();
  }

  ControlPlaneViews views() {
    return views;
  }

  DecisionJournal journal() {
    return journal;
  }

  /** Asks every node now what it has, on the calling thread, one after another. */
  void refresh() {
    NodePoller asks = poller;
    if (asks != null) {
      for (NodeEntry entry : registry.nodeEntries()) {
        boolean unused = asks.pull(entry.said().id(), entry.base());
      }
    }
  }

  /** Stops asking nodes, and closes the transport. Idempotent. */
  @Override
  public void close() {
    if (poller != null) {
      poller.close();
    }
    if (ownScheduler) {
      scheduler.close();
    }
    if (ownCalls != null) {
      ownCalls.shutdownNow();
    }
    if (ownTransfers != null) {
      ownTransfers.shutdownNow();
    }
    if (transport != null) {
      transport.close();
    }
  }

  /** Builds a {@link KnowledgeRouting}. Not thread safe. */
  public static final class Builder {
    private final Map<String, URI> nodes = new LinkedHashMap<>();
    private final Map<String, Map<String, KnowledgeLink>> links = new HashMap<>();
    private final Map<String, Integer> capacities = new HashMap<>();
    private @Nullable KnowledgeTransport transport;
    private @Nullable KnowledgeRetriever retriever;
    private @Nullable InjectionSettings injection;
    private @Nullable Boolean decisionsAtInfo;
    private @Nullable KnowledgeSettings settings;
    private @Nullable RegistrySettings registry;
    private @Nullable Builder otherwise;
    private @Nullable Scheduler scheduler;
    private @Nullable Executor executor;
    private InstantSource clock = InstantSource.system();

    private Builder() {}

    /**
     * Sets how nodes and instances are talked to. It is closed with what is built. Without one,
     * only what registers is known, and nothing of what nodes have.
     */
    public Builder transport(KnowledgeTransport transport) {
      this.transport = transport;
      return this;
    }

    /**
     * Adds a node that doesn't register itself.
     *
     * @param id its id, under which links to it are told
     * @param base its base URL, such as {@code http://10.0.0.7:9101}
     */
    public Builder node(String id, URI base) {
      nodes.put(id, base);
      return this;
    }

    /**
     * Tells of the link between a target and a node. What a target that registers says of its own
     * links goes before it.
     *
     * @param target a worker's label {@code knowledge-target}, the id under which its target
     *     registers, or else its address
     * @param node the node's id, or {@code kdn://host:port}
     */
    public Builder link(String target, String node, KnowledgeLink link) {
      links.computeIfAbsent(target, key -> new HashMap<>()).put(node, link);
      return this;
    }

    /** Tells how many requests a target may work on at once, where it doesn't say so itself. */
    public Builder capacity(String target, int requests) {
      capacities.put(target, requests);
      return this;
    }

    /** Sets what finds knowledge for requests that ask for it; nothing by default. */
    public Builder retriever(KnowledgeRetriever retriever) {
      this.retriever = retriever;
      return this;
    }

    /** Sets how knowledge comes into prompts. */
    public Builder injection(InjectionSettings settings) {
      this.injection = settings;
      return this;
    }

    /**
     * Logs each decision on one line at INFO, as CacheRoute does ({@code [CacheRoute] req=...
     * kdn=... proxy=... kids=...}); at DEBUG by default.
     */
    public Builder decisionsAtInfo(boolean info) {
      this.decisionsAtInfo = info;
      return this;
    }

    /** Sets how decisions are made; CacheRoute's documented way by default. */
    public Builder settings(KnowledgeSettings settings) {
      this.settings = settings;
      return this;
    }

    /**
     * Sets what holds of nodes, links, capacities and settings where this builder is told nothing:
     * what a configuration file says.
     */
    public Builder otherwise(Builder other) {
      this.otherwise = other;
      return this;
    }

    /** Sets for how long what nodes say is believed. */
    public Builder registry(RegistrySettings settings) {
      this.registry = settings;
      return this;
    }

    /** Sets clock and timers, for tests and simulations; it stays its owner's. */
    public Builder scheduler(Scheduler scheduler) {
      this.scheduler = scheduler;
      return this;
    }

    /**
     * Runs the questions to nodes here and the waits for KV, which block; it stays its owner's. KV
     * for which it has no thread within {@link InjectionSettings#kvTimeout()} is done without. Own
     * daemon threads by default: 64 at most for questions, and one for each transfer of KV that
     * requests wait for.
     */
    public Builder executor(Executor executor) {
      this.executor = executor;
      return this;
    }

    /** Sets the clock that views show; the system's by default. */
    public Builder clock(InstantSource clock) {
      this.clock = clock;
      return this;
    }

    /** Starts it. Waits for no node. */
    public KnowledgeRouting build() {
      Builder whole = new Builder();
      if (otherwise != null) {
        whole.take(otherwise);
      }
      whole.take(this);
      return new KnowledgeRouting(whole);
    }

    private void take(Builder told) {
      nodes.putAll(told.nodes);
      told.links.forEach(
          (target, its) -> links.computeIfAbsent(target, key -> new HashMap<>()).putAll(its));
      capacities.putAll(told.capacities);
      injection = told.injection == null ? injection : told.injection;
      decisionsAtInfo = told.decisionsAtInfo == null ? decisionsAtInfo : told.decisionsAtInfo;
      settings = told.settings == null ? settings : told.settings;
      registry = told.registry == null ? registry : told.registry;
      transport = told.transport;
      retriever = told.retriever;
      scheduler = told.scheduler;
      executor = told.executor;
      clock = told.clock;
    }
  }
}
