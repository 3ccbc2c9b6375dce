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
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * A fleet in virtual time, small on purpose: enough to see what a policy does to hit rate and
 * balance when telemetry is old. Each worker prefills one prompt at a time, in order, at a fixed
 * cost per uncached token; decodes any number at a fixed time per token; and keeps its last blocks
 * in an LRU. The one client polls each worker once a second and remembers its own placements.
 */
final class ServingSimulation {
  private static final int BLOCK = 512;
  private static final double PREFILL_START_MS = 16.5;
  private static final double PREFILL_MS_PER_TOKEN = 0.0186;
  private static final double DECODE_MS_PER_TOKEN = 15;
  private static final int CACHE_TOKENS = 1_000_000;
  private static final double POLL_MS = 1_000;

  /** A request to come: its prompt is the blocks, and a rest that no other shares. */
  record Arrival(double atMillis, int[] blocks, int tokens, int output, String session) {}

  /** What came out. */
  record Outcome(int[] perWorker, double hitRate, double meanTtftMillis, double p99TtftMillis) {
    double largestShare() {
      return (double) Arrays.stream(perWorker).max().orElse(0) / Arrays.stream(perWorker).sum();
    }
  }

  private record Event(double atMillis, long order, Runnable what) {}

  private final WorkerRegistry registry = new WorkerRegistry();
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingDouble(Event::atMillis).thenComparing(Event::order));
  private final List<Engine> engines = new ArrayList<>();
  private final List<Double> ttfts = new ArrayList<>();
  private final RoutingPolicy policy;
  private final RoutingEnvironment environment;
  private final Random random;
  private FleetView view;
  private double now;
  private long order;
  private long cachedTokens;
  private long promptTokens;
  private int unfinished;

  private ServingSimulation(RoutingPolicy policy, int workers, long seed) {
    this.policy = policy;
    this.random = new Random(seed);
    for (int i = 0; i < workers; i++) {
      registry.add(WorkerSpec.builder("http://w" + i + ":1").build());
    }
    try (Fleet fleet = new Fleet(registry, gone -> {})) {
      view = fleet.view();
    }
    for (WorkerRank rank : view.topology().ranks()) {
      engines.add(new Engine(view.state(rank)));
    }
    environment = RoutingEnvironment.builder().prefixes(this::query).seed(seed).build();
  }

  /** Runs a workload to its end. */
  static Outcome run(RoutingPolicy policy, int workers, List<Arrival> arrivals, long seed) {
    return new ServingSimulation(policy, workers, seed).run(arrivals);
  }

  private Outcome run(List<Arrival> arrivals) {
    unfinished = arrivals.size();
    for (Arrival arrival : arrivals) {
      at(arrival.atMillis(), () -> route(arrival));
    }
    for (Engine engine : engines) {
      at(random.nextDouble() * POLL_MS, () -> poll(engine));
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
        sorted[(int) (sorted.length * 0.99)]);
  }

  private void at(double millis, Runnable what) {
    events.add(new Event(millis, order++, what));
  }

  private long nanos() {
    return Duration.ofHours(1).toNanos() + (long) (now * 1e6);
  }

  private void poll(Engine engine) {
    engine.state.observe(engine.telemetry());
    engine.state.probed(Availability.UP);
    at(now + POLL_MS, () -> poll(engine));
  }

  private void route(Arrival arrival) {
    Prompt prompt = TestPrompts.of(null, bytes(arrival.blocks()), arrival.tokens());
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
    Engine engine = engines.get(chosen.target().slot());
    int uncached = arrival.tokens() - chosen.matchedTokens();
    long begun = engine.state.begin(uncached, true);
    touch(engine.placed, arrival.blocks());
    engine.received++;
    engine.queue.add(new Job(arrival, uncached, now, begun));
    engine.prefillNext();
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
        return held(engines.get(WorkerRank.slotOf(holderId)).placed, blocks) * BLOCK;
      }
    };
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

  private record Job(Arrival arrival, int uncached, double since, long begun) {}

  private final class Engine {
    final RankState state;
    final ArrayDeque<Job> queue = new ArrayDeque<>();
    final Map<Integer, Boolean> cache = new LinkedHashMap<>();
    final Map<Integer, Boolean> placed = new LinkedHashMap<>();
    boolean prefilling;
    int decoding;
    long liveTokens;
    long recentCached;
    long recentPrompt;
    int received;

    Engine(RankState state) {
      this.state = state;
    }

    LoadSnapshot telemetry() {
      double hits = recentPrompt == 0 ? Double.NaN : (double) recentCached / recentPrompt;
      recentCached = 0;
      recentPrompt = 0;
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
      state.computed(job.uncached(), job.begun());
      state.succeeded(ttft, nanos());
      at(now + DECODE_MS_PER_TOKEN * arrival.output(), () -> finish(job));
      prefillNext();
    }

    private void finish(Job job) {
      decoding--;
      liveTokens -= job.arrival().tokens();
      state.end(job.begun());
      unfinished--;
    }
  }

  /**
   * The first rows of the Mooncake conversation trace, faster by a factor. Times are quantised to 3
   * s in the trace and spread again here.
   */
  static List<Arrival> conversation(double speed, long seed) throws IOException {
    Random random = new Random(seed);
    List<int[]> rows = new ArrayList<>();
    List<Arrival> arrivals = new ArrayList<>();
    int fresh = 0;
    try (BufferedReader in =
        new BufferedReader(
            new InputStreamReader(
                Objects.requireNonNull(
                    ServingSimulation.class.getResourceAsStream("conversation-2000.csv")),
                StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith("#")) {
          continue;
        }
        int[] row = Arrays.stream(line.split(",", -1)).mapToInt(Integer::parseInt).toArray();
        int[] all = new int[(row[1] + BLOCK - 1) / BLOCK];
        if (row[4] > 0) {
          System.arraycopy(rows.get(row[3]), 0, all, 0, row[4]);
        }
        for (int i = row[4]; i < all.length; i++) {
          all[i] = fresh++;
        }
        rows.add(all);
        // Only full blocks are shared; a conversation is known by its second block.
        arrivals.add(
            new Arrival(
                (row[0] + 3 * random.nextDouble()) * 1_000 / speed,
                Arrays.copyOf(all, row[1] / BLOCK),
                row[1],
                Math.max(1, row[2]),
                "s" + (all.length > 1 ? all[1] : -arrivals.size())));
      }
    }
    arrivals.sort(Comparator.comparingDouble(Arrival::atMillis));
    return arrivals;
  }

  /** Conversations of a few turns behind common system prompts, one after another. */
  static List<Arrival> sessions(int requests, double perSecond, long seed) {
    Random random = new Random(seed);
    List<Arrival> arrivals = new ArrayList<>();
    int fresh = 1_000;
    double at = 0;
    while (arrivals.size() < requests) {
      at += -Math.log(1 - random.nextDouble()) * 6_000 / perSecond;
      int system = random.nextInt(8);
      int length = 2 + random.nextInt(6);
      int[] blocks = IntStream.range(0, length).map(i -> system * 100 + i).toArray();
      int turns = 1 + random.nextInt(11);
      double turnAt = at;
      String session = "s" + arrivals.size();
      for (int turn = 0; turn < turns; turn++) {
        int more = 1 + random.nextInt(3);
        int old = blocks.length;
        blocks = Arrays.copyOf(blocks, old + more);
        for (int i = old; i < blocks.length; i++) {
          blocks[i] = fresh++;
        }
        int output = 50 + random.nextInt(400);
        arrivals.add(
            new Arrival(
                turnAt, blocks, blocks.length * BLOCK + random.nextInt(BLOCK), output, session));
        turnAt += 2_000 + output * DECODE_MS_PER_TOKEN + random.nextInt(16_000);
      }
    }
    arrivals.sort(Comparator.comparingDouble(Arrival::atMillis));
    return arrivals;
  }
}
