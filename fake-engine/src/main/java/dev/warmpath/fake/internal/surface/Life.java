package dev.warmpath.fake.internal.surface;

import dev.warmpath.fake.fault.Faults;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.internal.kv.KvBatchListener;
import dev.warmpath.fake.internal.kv.KvEventSockets;
import dev.warmpath.fake.internal.kv.RequestKeys;
import dev.warmpath.fake.internal.kv.UmbpReporters;
import dev.warmpath.fake.kv.KvEventEndpoint;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.live.EngineClock;
import dev.warmpath.fake.live.RankDriver;
import dev.warmpath.fake.live.RankObserver;
import dev.warmpath.fake.live.RankSettings;
import dev.warmpath.fake.live.RankSnapshot;
import dev.warmpath.fake.scheduler.CommandResult;
import dev.warmpath.fake.scheduler.EngineCommand;
import dev.warmpath.fake.scheduler.EngineCore;
import dev.warmpath.fake.scheduler.EngineEffect;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.umbp.UmbpReporting;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One life of a fake engine, from its start to its restart: its ranks, its requests, its counters.
 * Thread-safe; the engine closes it.
 */
public final class Life implements AutoCloseable {
  private static final int DEFAULT_BOOTSTRAP_PORT = 8998;

  final LongAdder received = new LongAdder();
  final LongAdder served = new LongAdder();
  final LongAdder failed = new LongAdder();
  final LongAdder aborted = new LongAdder();
  final LongAdder rejected = new LongAdder();
  final LongAdder leaked = new LongAdder();

  private final EngineSettings settings;
  private final EngineClock clock;
  private final Instant startedAt;
  private final List<RankDriver> ranks = new ArrayList<>();
  private final @Nullable KvEventSockets kvEvents;
  private final @Nullable UmbpReporters umbp;
  private final List<RequestLatencies> latencies = new ArrayList<>();
  private final AtomicLong sequenceIds = new AtomicLong();
  private final AtomicInteger nextRank = new AtomicInteger();
  private final ConcurrentHashMap<String, Generation> active = new ConcurrentHashMap<>();
  private final ConcurrentHashMap<Long, HandoffParty> handoffs = new ConcurrentHashMap<>();
  private final HandoffTerms terms;
  private final int sidePort;
  private final HandoffDesk desk;
  private final ReentrantLock randomLock = new ReentrantLock();
  private final SplittableRandom random;
  private final int randomSeed;
  private volatile boolean paused;
  private volatile boolean sleeping;
  private volatile boolean dying;
  private volatile boolean closed;

  /**
   * Starts the ranks.
   *
   * @param settings the engine's configuration
   * @param boot how often the engine started before
   * @param clock the time it lives in
   * @param cores makes a scheduler for a rank
   * @param name prefix of thread names
   * @param published where the life before published cache changes, or null
   * @param faults what happens to what it publishes
   * @param sidePort where the other side of a handoff finds it, or 0 if it hands nothing over
   */
  public Life(
      EngineSettings settings,
      int boot,
      EngineClock clock,
      Supplier<EngineCore> cores,
      String name,
      @Nullable KvEventEndpoint published,
      Faults faults,
      int sidePort) {
    this.settings = settings;
    this.clock = clock;
    this.startedAt = clock.instant();
    this.random = new SplittableRandom(settings.seed() + 0x9E3779B97F4A7C15L * boot);
    this.randomSeed = random.nextInt(Integer.MAX_VALUE);
    this.kvEvents = kvEvents(settings, boot, published, faults, clock);
    UmbpReporting reporting = settings.umbp();
    this.umbp =
        reporting == null
            ? null
            : new UmbpReporters(publishing(settings, boot), reporting, settings.kvEvents());
    this.sidePort = sidePort;
    this.terms = new HandoffTerms(settings.handoff().protocol());
    this.desk = new HandoffDesk(terms, engineId(sidePort), settings.dpSize());
    for (int rank = 0; rank < settings.dpSize(); rank++) {
      RankSettings rankSettings =
          settings.role() == WorkerRole.PREFILL || settings.role() == WorkerRole.DECODE
              ? RankSettings.handoffs(rank, settings.core())
              : RankSettings.aggregated(rank, settings.core());
      latencies.add(new RequestLatencies());
      rankSettings = rankSettings.withObserver(observer(rank));
      RankDriver driver = new RankDriver(name + "-rank-" + rank, rankSettings, cores.get(), clock);
      driver.takeLifecycle(this::hear);
      ranks.add(driver);
    }
  }

  private void hear(List<EngineEffect> effects) {
    for (EngineEffect effect : effects) {
      Long id = null;
      if (effect instanceof EngineEffect.SourceHeld held) {
        id = held.handoffId();
      } else if (effect instanceof EngineEffect.DestinationReserved reserved) {
        id = reserved.handoffId();
      }
      HandoffParty handoff = id == null ? null : handoffs.get(id);
      if (handoff != null) {
        handoff.hear(effect);
      }
    }
  }

  private RankObserver observer(int rank) {
    List<RankObserver> observers = new ArrayList<>();
    if (kvEvents != null) {
      observers.add(kvEvents.observer(rank));
    }
    if (umbp != null) {
      observers.add(umbp.observer(rank));
    }
    return RankObserver.all(observers);
  }

  private static KvEventSockets.Engine publishing(EngineSettings settings, int boot) {
    return new KvEventSockets.Engine(
        settings.kind(),
        settings.version(),
        settings.host(),
        settings.core().blockSize(),
        settings.dpSize(),
        boot,
        settings.seed());
  }

  private static @Nullable KvEventSockets kvEvents(
      EngineSettings settings,
      int boot,
      @Nullable KvEventEndpoint published,
      Faults faults,
      EngineClock clock) {
    KvEventSettings how = settings.kvEvents();
    if (how == null) {
      return null;
    }
    return new KvEventSockets(
        publishing(settings, boot), how, published, () -> faults.decide(Scope.EVENTS), clock);
  }

  /**
   * Returns where cache changes are published.
   *
   * @return the endpoint, or null if they are not
   */
  public @Nullable KvEventEndpoint kvEndpoint() {
    return kvEvents == null ? null : kvEvents.endpoint();
  }

  /**
   * Lets a listener hear the cache changes that the first rank publishes.
   *
   * @param listener hears every batch from the next one on
   * @return ends that; null if nothing is published
   */
  public @Nullable Runnable listen(KvBatchListener listener) {
    return kvEvents == null ? null : kvEvents.listen(listener);
  }

  /** Lets published hashes follow a request's keys; to be called before it is submitted. */
  void separate(EngineRequest request, RequestKeys keys) {
    if (request.cacheNamespace() != 0) {
      request
          .firstBlock(settings.core().blockSize())
          .ifPresent(
              first -> {
                if (kvEvents != null) {
                  kvEvents.separate(first, keys);
                }
                if (umbp != null) {
                  umbp.separate(first, keys);
                }
              });
    }
  }

  /**
   * Returns the engine's configuration.
   *
   * @return the same in every life
   */
  public EngineSettings settings() {
    return settings;
  }

  EngineClock clock() {
    return clock;
  }

  /**
   * Returns when it began.
   *
   * @return an instant of the engine's clock
   */
  public Instant startedAt() {
    return startedAt;
  }

  int randomSeed() {
    return randomSeed;
  }

  long epochSeconds() {
    return clock.instant().getEpochSecond();
  }

  /**
   * Returns the present time.
   *
   * @return an instant of the engine's clock
   */
  public Instant now() {
    return clock.instant();
  }

  /**
   * Returns the present time.
   *
   * @return seconds since the epoch
   */
  public double epochSecondsExactly() {
    Instant now = clock.instant();
    return now.getEpochSecond() + now.getNano() / 1e9;
  }

  /**
   * Draws an id.
   *
   * @return 32 hexadecimal digits
   */
  public String randomHex() {
    randomLock.lock();
    try {
      return String.format("%016x%016x", random.nextLong(), random.nextLong());
    } finally {
      randomLock.unlock();
    }
  }

  long nextSequenceId() {
    return sequenceIds.incrementAndGet();
  }

  RequestLatencies latencies(int rank) {
    return latencies.get(rank);
  }

  RankDriver rank(int rank) {
    return ranks.get(rank);
  }

  /**
   * Returns what each rank published last.
   *
   * @return by rank
   */
  public List<RankSnapshot> snapshots() {
    return ranks.stream().map(RankDriver::snapshot).toList();
  }

  /** The rank the engine's own balancer picks: round robin, or on vLLM the least loaded. */
  int balancedRank() {
    int size = ranks.size();
    int first = Math.floorMod(nextRank.getAndIncrement(), size);
    if (size == 1 || settings.kind() != EngineKind.VLLM) {
      return first;
    }
    int best = first;
    long bestScore = Long.MAX_VALUE;
    for (int i = 0; i < size; i++) {
      int rank = (first + i) % size;
      var metrics = ranks.get(rank).snapshot().metrics();
      long score = 4L * metrics.waiting() + metrics.running();
      if (score < bestScore) {
        bestScore = score;
        best = rank;
      }
    }
    return best;
  }

  /** The handoffs that this worker takes part in, by id. */
  ConcurrentHashMap<Long, HandoffParty> handoffs() {
    return handoffs;
  }

  /**
   * Counts the handoffs that this worker takes part in: rooms it waits in, KV it holds for somebody
   * or awaits.
   *
   * @return how many
   */
  public int handoffsUnderWay() {
    return handoffs.size();
  }

  /**
   * Counts the KV blocks that it holds for somebody to fetch.
   *
   * @return blocks, which {@link #snapshots()} count as active
   */
  public int heldBlocks() {
    return handoffs.values().stream().mapToInt(handoff -> handoff.heldBlocks(this)).sum();
  }

  /** Counts those of its handoffs whose KV it holds for somebody to fetch. */
  int heldHandoffs() {
    return (int) handoffs.values().stream().filter(handoff -> handoff.heldBlocks(this) > 0).count();
  }

  /**
   * Counts the rooms that are open on this prefill worker, and the KV it offers.
   *
   * @return how many
   */
  public int liveRooms() {
    return desk.open();
  }

  /** Where handoffs begin. */
  HandoffDesk desk() {
    return desk;
  }

  HandoffTerms terms() {
    return terms;
  }

  /** The port of its side channel. */
  int sidePort() {
    return sidePort;
  }

  /** The bootstrap port that an SGLang worker is configured with: on prefill its own. */
  int bootstrapPort() {
    int configured = settings.handoff().port();
    return settings.role() == WorkerRole.PREFILL
        ? sidePort
        : configured == 0 ? DEFAULT_BOOTSTRAP_PORT : configured;
  }

  /**
   * Names the engine at a side channel, as {@code kv_transfer_config.engine_id} would configure it:
   * the same after a restart.
   *
   * @param sidePort the side channel's port
   * @return the id, without a rank
   */
  public static String engineId(int sidePort) {
    return "fake-" + sidePort;
  }

  /**
   * Names the engine as its side channel does.
   *
   * @return the id, the same after a restart
   */
  public String engineId() {
    return engineId(sidePort);
  }

  /**
   * Names this life.
   *
   * @return another name in every life
   */
  public String instanceId() {
    return "fake-" + Integer.toHexString(randomSeed);
  }

  /**
   * Counts the sequences that run or wait.
   *
   * @return how many
   */
  public int activeSequences() {
    return active.size();
  }

  ConcurrentHashMap<String, Generation> active() {
    return active;
  }

  /**
   * Stretches the passes of all ranks.
   *
   * @param factor multiplies their duration
   */
  public void slowdown(double factor) {
    ranks.forEach(rank -> rank.slowdown(factor));
  }

  /**
   * Stops or restarts all schedulers.
   *
   * @param stuck whether to be stuck
   */
  public void freeze(boolean stuck) {
    ranks.forEach(rank -> rank.freeze(stuck));
  }

  /**
   * Applies a command on every rank.
   *
   * @param command the command
   * @return the answers by rank
   */
  public CompletableFuture<List<CommandResult>> applyToAll(EngineCommand command) {
    if (command instanceof EngineCommand.Pause) {
      paused = true;
    } else if (command instanceof EngineCommand.Resume) {
      paused = false;
    }
    List<CompletableFuture<CommandResult>> replies =
        ranks.stream().map(rank -> rank.apply(command)).toList();
    return CompletableFuture.allOf(replies.toArray(CompletableFuture[]::new))
        .thenApply(ignored -> replies.stream().map(CompletableFuture::join).toList());
  }

  /**
   * Empties the prefix caches if the engine is idle.
   *
   * @return what the first rank answers
   */
  public CompletableFuture<Boolean> flush() {
    return applyToAll(new EngineCommand.Flush())
        .thenApply(
            results ->
                results.get(0).effects().stream()
                    .anyMatch(
                        effect ->
                            effect instanceof EngineEffect.FlushAnswered answer && answer.done()));
  }

  /**
   * Tells whether generation is paused.
   *
   * @return true between a pause and a resumption
   */
  public boolean paused() {
    return paused;
  }

  /**
   * Tells whether the engine sleeps.
   *
   * @return true until it is woken
   */
  public boolean sleeping() {
    return sleeping;
  }

  /**
   * Puts the engine to sleep or wakes it, as far as it tells.
   *
   * @param asleep whether it sleeps
   */
  public void sleeping(boolean asleep) {
    sleeping = asleep;
  }

  /**
   * Returns the counters of inference requests.
   *
   * @return the counts so far
   */
  public RequestCounts counts() {
    return new RequestCounts(
        received.sum(), served.sum(), failed.sum(), aborted.sum(), rejected.sum(), leaked.sum());
  }

  /** Tells that connections are about to be reset because the process dies. */
  public void dying() {
    dying = true;
  }

  boolean isDying() {
    return dying;
  }

  boolean closed() {
    return closed;
  }

  @Override
  public void close() {
    closed = true;
    dying = true;
    handoffs.values().forEach(handoff -> handoff.lost(this));
    ranks.forEach(RankDriver::close);
    if (kvEvents != null) {
      kvEvents.close();
    }
    if (umbp != null) {
      umbp.close();
    }
  }
}
