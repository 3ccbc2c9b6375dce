package dev.warmpath.knowledge;

import dev.warmpath.transport.KnowledgeTransport;
import dev.warmpath.worker.Scheduler;
import java.net.URI;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Knowledge routing as a client does it: knows the nodes and what they have, decides in two stages
 * and keeps the last decisions. Thread safe; whoever builds it closes it, unless it is given to a
 * client.
 */
public final class KnowledgeRouting implements AutoCloseable {
  private static final int MAX_POLL_THREADS = 64;
  private static final int JOURNAL = 64;

  private final KnowledgeRegistry registry;
  private final KnowledgeStrategy strategy;
  private final DecisionJournal journal = new DecisionJournal(JOURNAL);
  private final ControlPlaneViews views;
  private final @Nullable KnowledgeTransport transport;
  private final Scheduler scheduler;
  private final boolean ownScheduler;
  private final @Nullable ExecutorService ownCalls;
  private final @Nullable NodePoller poller;

  private KnowledgeRouting(Builder builder) {
    transport = builder.transport;
    Scheduler given = builder.scheduler;
    ownScheduler = given == null;
    scheduler = given == null ? Scheduler.onThread("warmpath-knowledge") : given;
    registry = new KnowledgeRegistry(builder.registry, builder.clock, scheduler::nanoTime);
    strategy = new KnowledgeStrategy(builder.settings);
    views = new ControlPlaneViews(registry, strategy, journal);
    ownCalls = builder.executor == null ? pollThreads() : null;
    Executor calls = ownCalls == null ? Objects.requireNonNull(builder.executor) : ownCalls;
    poller = transport == null ? null : new NodePoller(registry, transport, scheduler, calls);
    if (poller != null) {
      registry.onNode(poller::follow);
    }
    builder.nodes.forEach(registry::addNode);
  }

  private static ExecutorService pollThreads() {
    return new ThreadPoolExecutor(
        0,
        MAX_POLL_THREADS,
        10,
        TimeUnit.SECONDS,
        new SynchronousQueue<>(),
        task -> {
          Thread thread = new Thread(task, "warmpath-knowledge-call");
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
    if (transport != null) {
      transport.close();
    }
  }

  /** Builds a {@link KnowledgeRouting}. Not thread safe. */
  public static final class Builder {
    private final Map<String, URI> nodes = new LinkedHashMap<>();
    private @Nullable KnowledgeTransport transport;
    private KnowledgeSettings settings = KnowledgeSettings.DEFAULT;
    private RegistrySettings registry = RegistrySettings.DEFAULT;
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

    /** Sets how decisions are made; CacheRoute's documented way by default. */
    public Builder settings(KnowledgeSettings settings) {
      this.settings = settings;
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
     * Runs the questions to nodes here, which block; it stays its owner's. Own daemon threads by
     * default, 64 at most.
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
      return new KnowledgeRouting(this);
    }
  }
}
