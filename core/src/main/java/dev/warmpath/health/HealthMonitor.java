package dev.warmpath.health;

import dev.warmpath.api.RouterClosedException;
import dev.warmpath.health.HealthListener.AvailabilityChange;
import dev.warmpath.health.HealthListener.DegradationChange;
import dev.warmpath.transport.Transport;
import dev.warmpath.worker.Scheduler;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the workers: what they are, whether they live, how loaded they are, whether they have
 * restarted. It follows the registry, looks at each worker as soon as it appears, and writes what
 * it finds into the fleet's {@link RankState}s and into the registry (capabilities, new epochs).
 *
 * <p><b>Health.</b> Two failures in a row make a worker down, three passes bring it back, its first
 * pass ever counts at once (see {@link HealthSettings} for every number). A request that succeeds
 * outweighs probes: it brings the worker up, wipes its failures, and makes the next probe
 * unnecessary. Only a refused connection and an answer that says no are failures; a probe that
 * times out or breaks off counts as one only while no request of this client has succeeded there
 * lately. A worker that nobody can replace is never down: see {@link Availability#SUSPECT}.
 *
 * <p><b>Load.</b> Polled apart from health, faster while it changes and slower while it doesn't. A
 * poll that fails says nothing about health, and the last reading stays with its age; what is not
 * reported stays unknown. A report that speaks of the whole worker is split evenly among its ranks;
 * a worker chosen as a whole shows the sum of its ranks.
 *
 * <p><b>Degradation.</b> A rank that answers may still work badly, in the ways that {@link
 * DegradationMode} names; {@link DegradationSettings} says what that costs it in traffic. Requests
 * of this client that fail make the next probe come early.
 *
 * <p><b>Restarts.</b> A changed incarnation value, counters that ran backwards, or connections
 * refused and then accepted again give the worker a new epoch, with what it says of itself asked
 * anew.
 *
 * <p><b>Threads.</b> All state changes happen on one scheduler thread; transport calls, which
 * block, run on up to 16 daemon threads that end when idle: 8 for calls that are expected to be
 * quick, 8 for health probes and for workers whose last call was slow. There is at most one call
 * per worker at any time, so one that hangs holds one thread, and none of the quick ones after its
 * first timeout; a call that outlives its timeout by a second is interrupted.
 *
 * <p>All methods are thread safe and none but {@link #close} blocks.
 */
public final class HealthMonitor implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(HealthMonitor.class);

  private static final double JITTER = 0.1;

  /** How often what is wrong with ranks is worked out anew, besides at each reading. */
  private static final Duration LOOK_INTERVAL = Duration.ofSeconds(1);

  private final WorkerRegistry registry;
  private final Fleet fleet;
  private final Map<String, Transport> transports;
  private final Scheduler scheduler;
  private final boolean ownsScheduler;
  private final CallLanes lanes;
  private final SplittableRandom jitter;
  private final WorkerRegistry.Listener registryListener = (before, after) -> syncSoon();
  private final List<HealthListener> listeners = new CopyOnWriteArrayList<>();
  private final ConcurrentLinkedQueue<CompletableFuture<Void>> waiting =
      new ConcurrentLinkedQueue<>();
  private final AtomicBoolean syncQueued = new AtomicBoolean();
  private final AtomicBoolean judgeQueued = new AtomicBoolean();
  private final AtomicBoolean closed = new AtomicBoolean();
  private volatile HealthSettings settings;
  private volatile boolean ready;

  private Scheduler.@Nullable Task nextLook;

  /** Changed by the scheduler's tasks only, read by views. */
  private final Map<WorkerId, WorkerPoller> pollers = new ConcurrentHashMap<>();

  private HealthMonitor(Builder builder) {
    this.registry = builder.registry;
    this.fleet = builder.fleet;
    this.transports = Map.copyOf(builder.transports);
    this.settings = builder.settings;
    this.jitter = new SplittableRandom(builder.seed);
    Scheduler given = builder.scheduler;
    this.ownsScheduler = given == null;
    this.scheduler = given != null ? given : Scheduler.onThread("warmpath-health");
    Executor calls = builder.executor;
    this.lanes = calls != null ? CallLanes.on(calls) : CallLanes.ownThreads();
    this.listeners.addAll(builder.listeners);
  }

  /**
   * Starts a monitor.
   *
   * @param registry says who the workers are and takes what is found out about them
   * @param fleet holds the states to write to; it follows the same registry
   * @param transports reach the workers; a worker of a scheme that none serves stays unknown
   */
  public static Builder builder(
      WorkerRegistry registry, Fleet fleet, Collection<? extends Transport> transports) {
    return new Builder(registry, fleet, transports);
  }

  /** The settings in force. */
  public HealthSettings settings() {
    return settings;
  }

  /** Replaces the settings: each worker's next look goes by them. */
  public void reconfigure(HealthSettings settings) {
    this.settings = settings;
  }

  /**
   * A future that completes when at least one worker is up, at once if one is. It completes
   * exceptionally with {@link RouterClosedException} when the monitor is closed first. Dependents
   * may run on the monitor's thread. Cancel one that is no longer waited for.
   */
  public CompletableFuture<Void> whenReady() {
    CompletableFuture<Void> future = new CompletableFuture<>();
    waiting.removeIf(CompletableFuture::isDone);
    waiting.add(future);
    // After the adding: whoever turns ready after this look finds the future in the queue.
    if (closed.get()) {
      endWaiting();
    } else if (ready) {
      future.complete(null);
    }
    return future;
  }

  /**
   * Asks for an early look at a worker's health, for instance because a connection to it has just
   * failed. It comes as soon as the intervals allow.
   */
  public void checkSoon(WorkerId id) {
    post(
        () -> {
          WorkerPoller poller = pollers.get(id);
          if (poller != null) {
            poller.hurry();
          }
        });
  }

  /** Registers a listener for later changes. */
  public void addListener(HealthListener listener) {
    listeners.add(listener);
  }

  /** Removes a listener. */
  public void removeListener(HealthListener listener) {
    listeners.remove(listener);
  }

  /** What is known of every worker now, in the topology's order. */
  public List<WorkerView> views() {
    FleetView view = fleet.view();
    long now = scheduler.nanoTime();
    Duration staleAfter = settings.telemetryStaleAfter();
    List<WorkerView> views = new ArrayList<>();
    for (Worker worker : view.topology().workers()) {
      List<WorkerView.RankView> ranks =
          worker.ranks().stream()
              .map(rank -> WorkerView.RankView.of(rank, view.state(rank), now, staleAfter))
              .toList();
      Availability best =
          ranks.stream()
              .map(WorkerView.RankView::availability)
              .min(Comparator.naturalOrder())
              .orElse(Availability.UNKNOWN);
      WorkerPoller poller = pollers.get(worker.id());
      WorkerPoller.Standing standing =
          poller == null ? WorkerPoller.Standing.initial(now) : poller.standing();
      views.add(
          new WorkerView(
              worker,
              best,
              Duration.ofNanos(now - standing.sinceNanos()),
              standing.detail(),
              ranks));
    }
    return views;
  }

  // What follows runs on the scheduler.

  private void syncSoon() {
    if (syncQueued.compareAndSet(false, true)) {
      post(this::sync);
    }
  }

  /** Brings the pollers in line with the registry. */
  private void sync() {
    syncQueued.set(false);
    FleetView view = fleet.view();
    Map<WorkerId, WorkerPoller> gone = new HashMap<>(pollers);
    for (Worker worker : view.topology().workers()) {
      WorkerPoller poller = gone.remove(worker.id());
      if (poller == null) {
        poller = new WorkerPoller(this, worker, transports.get(worker.id().scheme()));
        pollers.put(worker.id(), poller);
      }
      poller.update(view, worker);
    }
    gone.forEach(
        (id, poller) -> {
          pollers.remove(id);
          poller.close();
        });
    judge();
    if (nextLook == null && !pollers.isEmpty()) {
      nextLook = schedule(LOOK_INTERVAL, this::look);
    }
  }

  /** Works out how degraded ranks are, as long as there are any. */
  private void look() {
    nextLook = pollers.isEmpty() ? null : schedule(LOOK_INTERVAL, this::look);
    FleetLatency latency = latency();
    pollers.values().forEach(poller -> poller.look(latency));
  }

  FleetLatency latency() {
    return FleetLatency.of(fleet.view());
  }

  /** Publishes what is held of each worker; called after anything that may have changed it. */
  void judgeSoon() {
    if (judgeQueued.compareAndSet(false, true)) {
      post(this::judge);
    }
  }

  private void judge() {
    judgeQueued.set(false);
    Map<WorkerPoller, FleetJudge.Subject> subjects = new LinkedHashMap<>();
    for (WorkerPoller poller : pollers.values()) {
      subjects.put(poller, poller.subject());
    }
    List<Availability> judged = FleetJudge.judge(List.copyOf(subjects.values()));
    boolean anyUp = false;
    int i = 0;
    for (WorkerPoller poller : subjects.keySet()) {
      Availability availability = judged.get(i++);
      anyUp |= availability == Availability.UP;
      AvailabilityChange change = poller.publish(availability);
      if (change != null) {
        tell(change);
      }
    }
    ready = anyUp;
    if (anyUp) {
      CompletableFuture<Void> future;
      while ((future = waiting.poll()) != null) {
        future.complete(null);
      }
    }
  }

  void tell(DegradationChange change) {
    Degradation after = change.after();
    log.info(
        "Worker {} is {} (was {}), with {} % of its traffic, {} % where KV decides",
        change.rank(),
        after.label(),
        change.before().label(),
        Math.round(100 * after.share()),
        Math.round(100 * after.affinityShare()));
    for (HealthListener listener : listeners) {
      try {
        listener.onDegradation(change);
      } catch (RuntimeException e) {
        log.warn("A health listener failed on {}", change, e);
      }
    }
  }

  private void tell(AvailabilityChange change) {
    log.info(
        "Worker {} is {} (was {}): {}",
        change.worker(),
        change.after().label(),
        change.before().label(),
        change.reason());
    for (HealthListener listener : listeners) {
      try {
        listener.onAvailability(change);
      } catch (RuntimeException e) {
        log.warn("A health listener failed on {}", change, e);
      }
    }
  }

  void post(Runnable task) {
    schedule(Duration.ZERO, task);
  }

  Scheduler.Task schedule(Duration delay, Runnable task) {
    return scheduler.schedule(
        delay,
        () -> {
          if (!closed.get()) {
            task.run();
          }
        });
  }

  long nanoTime() {
    return scheduler.nanoTime();
  }

  FleetView fleetView() {
    return fleet.view();
  }

  WorkerRegistry registry() {
    return registry;
  }

  CallLanes lanes() {
    return lanes;
  }

  /** The interval, stretched at random by up to a tenth, so that many clients don't ask in step. */
  Duration spread(Duration interval) {
    return interval.plusNanos((long) (interval.toNanos() * JITTER * jitter.nextDouble()));
  }

  /**
   * Stops looking. What is being asked is interrupted; own threads are waited for, 4 seconds at
   * most. States keep what they last showed. Idempotent.
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    registry.unsubscribe(registryListener);
    scheduler.execute(
        () -> {
          pollers.values().forEach(WorkerPoller::close);
          pollers.clear();
          Scheduler.Task look = nextLook;
          if (look != null) {
            look.cancel();
          }
        });
    endWaiting();
    lanes.close();
    if (ownsScheduler) {
      scheduler.close();
    }
  }

  private void endWaiting() {
    CompletableFuture<Void> future;
    while ((future = waiting.poll()) != null) {
      future.completeExceptionally(new RouterClosedException());
    }
  }

  /** Builds a {@link HealthMonitor}. Not thread safe. */
  public static final class Builder {
    private final WorkerRegistry registry;
    private final Fleet fleet;
    private final Map<String, Transport> transports = new HashMap<>();
    private final List<HealthListener> listeners = new ArrayList<>();
    private HealthSettings settings = HealthSettings.DEFAULT;
    private long seed = ThreadLocalRandom.current().nextLong();
    private @Nullable Scheduler scheduler;
    private @Nullable Executor executor;

    private Builder(
        WorkerRegistry registry, Fleet fleet, Collection<? extends Transport> transports) {
      this.registry = registry;
      this.fleet = fleet;
      for (Transport transport : transports) {
        for (String scheme : transport.schemes()) {
          this.transports.put(scheme, transport);
        }
      }
    }

    /** Sets the intervals and thresholds. */
    public Builder settings(HealthSettings settings) {
      this.settings = settings;
      return this;
    }

    /** Adds a listener that hears everything from the beginning. */
    public Builder addListener(HealthListener listener) {
      listeners.add(listener);
      return this;
    }

    /**
     * Sets the clock and timers; a daemon thread by default. It stays the caller's, who closes it
     * after the monitor.
     */
    public Builder scheduler(Scheduler scheduler) {
      this.scheduler = scheduler;
      return this;
    }

    /**
     * Sets where transport calls, which block, run; own threads by default. It stays the caller's.
     * With too few threads, a worker that hangs holds up the others.
     */
    public Builder executor(Executor executor) {
      this.executor = executor;
      return this;
    }

    /** Fixes the chance that spreads polls and probes in time. */
    public Builder seed(long seed) {
      this.seed = seed;
      return this;
    }

    /** Starts looking, and returns at once. */
    public HealthMonitor start() {
      HealthMonitor monitor = new HealthMonitor(this);
      monitor.registry.subscribe(monitor.registryListener);
      return monitor;
    }
  }
}
