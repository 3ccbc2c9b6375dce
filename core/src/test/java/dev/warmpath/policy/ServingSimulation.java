package dev.warmpath.policy;

import dev.warmpath.api.RouteOptions;
import dev.warmpath.health.Availability;
import dev.warmpath.health.Fleet;
import dev.warmpath.health.FleetView;
import dev.warmpath.health.LoadSnapshot;
import dev.warmpath.health.RankState;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.prompt.TestPrompts;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.worker.WorkerId;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;

/**
 * A fleet in virtual time, small on purpose: enough to see what a policy does to hit rate and
 * balance when telemetry is old. Each worker prefills one prompt at a time, in order, at a fixed
 * cost per uncached token; decodes any number at a fixed time per token; and keeps its last blocks
 * in an LRU. Each client polls each worker once a second, at a time of its own, and remembers its
 * own placements; requests come to them at random. Workers come and go as clients are told.
 */
final class ServingSimulation {
  static final int BLOCK = 512;
  private static final double PREFILL_START_MS = 16.5;
  private static final double PREFILL_MS_PER_TOKEN = 0.0186;
  static final double DECODE_MS_PER_TOKEN = 15;
  private static final int CACHE_TOKENS = 1_000_000;
  private static final double POLL_MS = 1_000;

  /** Prompt tokens between two figures of a worker's hit rate. */
  private static final int RECENT_TOKENS = 10_000;

  /** A request to come: its prompt is the blocks, and a rest that no other shares. */
  record Arrival(double atMillis, int[] blocks, int tokens, int output, String session) {}

  /** What happens to a worker, and when. One that first joins is not there before. */
  record Incident(double atMillis, int worker, Change change) {}

  enum Change {
    /** Clients are told of it; its cache is empty. */
    JOIN,
    /** Clients are told to send nothing more there. */
    LEAVE,
    /** Its cache is emptied. */
    FLUSH
  }

  /** What one second of the run brought each worker: requests, and its longest queue. */
  record Second(int[] received, int[] queued) {}

  /** What came out. */
  record Outcome(
      int[] perWorker,
      double hitRate,
      double meanTtftMillis,
      double p99TtftMillis,
      List<Second> seconds) {
    double largestShare() {
      return (double) Arrays.stream(perWorker).max().orElse(0) / Arrays.stream(perWorker).sum();
    }
  }

  private record Event(double atMillis, long order, Runnable what) {}

  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingDouble(Event::atMillis).thenComparing(Event::order));
  private final List<Engine> engines = new ArrayList<>();
  private final List<Client> clients = new ArrayList<>();
  private final List<Second> seconds = new ArrayList<>();
  private final List<Double> ttfts = new ArrayList<>();
  private final RoutingPolicy policy;
  private final Random random;
  private double now;
  private long order;
  private long cachedTokens;
  private long promptTokens;
  private int unfinished;

  private ServingSimulation(
      RoutingPolicy policy, int workers, int clients, List<Incident> incidents, long seed) {
    this.policy = policy;
    this.random = new Random(seed);
    for (int i = 0; i < workers; i++) {
      engines.add(new Engine(i));
    }
    Set<Integer> later = new HashSet<>();
    Set<Integer> known = new HashSet<>();
    for (Incident incident : incidents) {
      if (known.add(incident.worker()) && incident.change() == Change.JOIN) {
        later.add(incident.worker());
      }
      at(incident.atMillis(), () -> happen(incident));
    }
    for (int k = 0; k < clients; k++) {
      this.clients.add(new Client(later, seed + k));
    }
  }

  /** Runs a workload to its end. */
  static Outcome run(RoutingPolicy policy, int workers, List<Arrival> arrivals, long seed) {
    return run(policy, workers, 1, arrivals, List.of(), seed);
  }

  /** Runs it through many clients, and things happen to workers. */
  static Outcome run(
      RoutingPolicy policy,
      int workers,
      int clients,
      List<Arrival> arrivals,
      List<Incident> incidents,
      long seed) {
    ServingSimulation simulation = new ServingSimulation(policy, workers, clients, incidents, seed);
    try {
      return simulation.run(arrivals);
    } finally {
      simulation.clients.forEach(client -> client.fleet.close());
    }
  }

  private Outcome run(List<Arrival> arrivals) {
    unfinished = arrivals.size();
    for (Arrival arrival : arrivals) {
      at(arrival.atMillis(), () -> clients.get(random.nextInt(clients.size())).route(arrival));
    }
    for (Client client : clients) {
      for (Engine engine : engines) {
        at(random.nextDouble() * POLL_MS, () -> client.poll(engine));
      }
    }
    for (Event next = events.poll(); next != null && unfinished > 0; next = events.poll()) {
      now = next.atMillis();
      next.what().run();
    }
    double[] sorted = ttfts.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    return new Outcome(
        engines.stream().mapToInt(engine -> engine.received).toArray(),
        (double) cachedTokens / promptTokens,
        Arrays.stream(sorted).average().orElse(0),
        sorted[(int) (sorted.length * 0.99)],
        seconds);
  }

  private void happen(Incident incident) {
    Engine engine = engines.get(incident.worker());
    WorkerSpec spec = WorkerSpec.builder(engine.name).build();
    switch (incident.change()) {
      case JOIN -> {
        engine.cache.clear();
        clients.forEach(client -> client.registry.add(spec));
      }
      case LEAVE -> clients.forEach(client -> client.registry.remove(spec.id()));
      case FLUSH -> engine.cache.clear();
    }
  }

  private Second second() {
    while (seconds.size() <= now / 1_000) {
      seconds.add(new Second(new int[engines.size()], new int[engines.size()]));
    }
    return seconds.get((int) (now / 1_000));
  }

  private void at(double millis, Runnable what) {
    events.add(new Event(millis, order++, what));
  }

  private long nanos() {
    return Duration.ofHours(1).toNanos() + (long) (now * 1e6);
  }

  /** One client's view of the fleet, and its own memory. */
  private final class Client {
    final WorkerRegistry registry = new WorkerRegistry();
    final Fleet fleet = new Fleet(registry, gone -> {});
    final RoutingEnvironment environment;
    final Map<WorkerId, Map<Integer, Boolean>> placed = new HashMap<>();

    Client(Set<Integer> without, long seed) {
      for (Engine engine : engines) {
        if (!without.contains(engine.number)) {
          registry.add(WorkerSpec.builder(engine.name).build());
        }
      }
      environment = RoutingEnvironment.builder().prefixes(this::query).seed(seed).build();
    }

    void poll(Engine engine) {
      FleetView view = fleet.view();
      for (WorkerRank rank : view.topology().ranks()) {
        if (rank.worker().id().value().equals(engine.name)) {
          view.state(rank).observe(engine.telemetry());
          view.state(rank).probed(Availability.UP);
        }
      }
      at(now + POLL_MS, () -> poll(engine));
    }

    void route(Arrival arrival) {
      Prompt prompt = TestPrompts.of(null, bytes(arrival.blocks()), arrival.tokens());
      FleetView view = fleet.view();
      RouteContext context =
          new RouteContext(
              view,
              view.topology().candidates(null, WorkerRole.REGULAR),
              prompt,
              new RouteOptions(null, 0, arrival.session(), null, null, null),
              environment,
              nanos(),
              random.nextLong(),
              false);
      Candidate chosen = Objects.requireNonNull(policy.plan(context).next());
      RankState state = view.state(chosen.target());
      int uncached = arrival.tokens() - chosen.matchedTokens();
      touch(placed(chosen.target()), arrival.blocks());
      Job job = new Job(arrival, state, uncached, now, state.begin(uncached, true));
      String name = chosen.target().worker().id().value();
      for (Engine engine : engines) {
        if (engine.name.equals(name)) {
          engine.take(job);
        }
      }
    }

    private Map<Integer, Boolean> placed(WorkerRank rank) {
      return placed.computeIfAbsent(rank.worker().id(), fresh -> new LinkedHashMap<>());
    }

    private PrefixSource.Query query() {
      return new PrefixSource.Query() {
        private int[] blocks = {};

        @Override
        public void match(Prompt prompt) {
          blocks = new int[prompt.bytes().length / 4];
          ByteBuffer.wrap(prompt.bytes()).asIntBuffer().get(blocks);
        }

        @Override
        public int tokens(long holderId) {
          for (WorkerRank rank : fleet.view().topology().ranks()) {
            if (rank.holderId() == holderId) {
              return held(placed(rank), blocks) * BLOCK;
            }
          }
          return 0;
        }
      };
    }
  }

  private static byte[] bytes(int[] blocks) {
    ByteBuffer buffer = ByteBuffer.allocate(blocks.length * 4);
    buffer.asIntBuffer().put(blocks);
    return buffer.array();
  }

  private static int held(Map<Integer, Boolean> cache, int[] blocks) {
    int held = 0;
    while (held < blocks.length && cache.containsKey(blocks[held])) {
      held++;
    }
    return held;
  }

  /** The last block is the least recent, as engines release a sequence from its end. */
  private static void touch(Map<Integer, Boolean> cache, int[] blocks) {
    for (int i = blocks.length - 1; i >= 0; i--) {
      cache.remove(blocks[i]);
      cache.put(blocks[i], true);
    }
    while (cache.size() > CACHE_TOKENS / BLOCK) {
      cache.remove(cache.keySet().iterator().next());
    }
  }

  private record Job(Arrival arrival, RankState state, int uncached, double since, long begun) {}

  private final class Engine {
    final int number;
    final String name;
    final ArrayDeque<Job> queue = new ArrayDeque<>();
    final Map<Integer, Boolean> cache = new LinkedHashMap<>();
    boolean prefilling;
    int decoding;
    long liveTokens;
    double hits = Double.NaN;
    long recentCached;
    long recentPrompt;
    int received;

    Engine(int number) {
      this.number = number;
      this.name = "http://w" + number + ":1";
    }

    void take(Job job) {
      received++;
      queue.add(job);
      prefillNext();
      Second second = second();
      second.received()[number]++;
      second.queued()[number] = Math.max(second.queued()[number], queue.size());
    }

    LoadSnapshot telemetry() {
      if (recentPrompt > RECENT_TOKENS) {
        hits = (double) recentCached / recentPrompt;
        recentCached = 0;
        recentPrompt = 0;
      }
      double used = liveTokens;
      return new LoadSnapshot(
          new RankLoad(
              -1,
              decoding + (prefilling ? 1 : 0),
              queue.size(),
              used,
              used / CACHE_TOKENS,
              CACHE_TOKENS,
              256,
              hits,
              Double.NaN,
              Double.NaN),
          nanos(),
          "simulated");
    }

    void prefillNext() {
      Job job = prefilling ? null : queue.poll();
      if (job == null) {
        return;
      }
      prefilling = true;
      Arrival arrival = job.arrival();
      liveTokens += arrival.tokens();
      int cached = Math.min(held(cache, arrival.blocks()) * BLOCK, arrival.tokens() - 1);
      cachedTokens += cached;
      promptTokens += arrival.tokens();
      recentCached += cached;
      recentPrompt += arrival.tokens();
      double took = PREFILL_START_MS + PREFILL_MS_PER_TOKEN * (arrival.tokens() - cached);
      at(now + took, () -> firstToken(job));
    }

    private void firstToken(Job job) {
      Arrival arrival = job.arrival();
      touch(cache, arrival.blocks());
      prefilling = false;
      decoding++;
      double ttft = now - job.since();
      ttfts.add(ttft);
      job.state().computed(job.uncached(), job.begun());
      job.state().succeeded(ttft, nanos());
      at(now + DECODE_MS_PER_TOKEN * arrival.output(), () -> finish(job));
      prefillNext();
    }

    private void finish(Job job) {
      decoding--;
      liveTokens -= job.arrival().tokens();
      job.state().end(job.begun());
      unfinished--;
    }
  }
}
