package dev.warmpath.policy;

import dev.warmpath.api.RouteOptions;
import dev.warmpath.health.Availability;
import dev.warmpath.health.Degradation;
import dev.warmpath.health.DegradationMode;
import dev.warmpath.health.Fleet;
import dev.warmpath.health.FleetView;
import dev.warmpath.health.LoadSnapshot;
import dev.warmpath.health.RankState;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.prompt.TestPrompts;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.worker.CandidateSet;
import dev.warmpath.worker.WorkerRank;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * A fleet of workers {@code http://w0:1}, {@code http://w1:1} … whose state a test sets by hand.
 */
final class TestFleet implements AutoCloseable {
  static final double UNKNOWN = Double.NaN;

  final WorkerRegistry registry = new WorkerRegistry();
  private final Fleet fleet = new Fleet(registry, gone -> {});
  private int[] held = {};
  private long[] holders = {};
  private final Set<Long> telling = new HashSet<>();
  private RoutingEnvironment environment;
  long now = Duration.ofHours(1).toNanos();

  TestFleet(int workers) {
    this(workers, 1);
  }

  TestFleet(int workers, int ranks) {
    List<WorkerSpec> specs = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      specs.add(spec(i).dpSize(ranks).build());
    }
    registry.replace("test", specs);
    environment = RoutingEnvironment.builder().prefixes(prefixes()).tokensPerRequest(1_000).build();
  }

  /** A fleet with telemetry, own requests, latencies and prefixes everywhere. */
  static TestFleet busy(int workers) {
    TestFleet fleet = new TestFleet(workers);
    Random random = new Random(workers);
    for (int i = 0; i < workers; i++) {
      fleet.availability(i, Availability.UP);
      fleet.own(i, random.nextInt(3), 2_000);
      fleet.load(
          i, random.nextInt(20), random.nextInt(5), random.nextDouble(), random.nextDouble());
      fleet.own(i, random.nextInt(3), 2_000);
      fleet.latency(i, 50 + random.nextInt(100));
      fleet.holds(i, random.nextInt(4_000));
    }
    return fleet;
  }

  static WorkerSpec.Builder spec(int worker) {
    return WorkerSpec.builder(name(worker));
  }

  static String name(int worker) {
    return "http://w" + worker + ":1";
  }

  TestFleet environment(RoutingEnvironment.Builder builder) {
    environment = builder.prefixes(prefixes()).build();
    return this;
  }

  RoutingEnvironment environment() {
    return environment;
  }

  FleetView view() {
    return fleet.view();
  }

  CandidateSet candidates() {
    return view().topology().candidates(null, WorkerRole.REGULAR);
  }

  WorkerRank rank(int i) {
    return candidates().get(i);
  }

  RankState state(int i) {
    return view().state(rank(i));
  }

  TestFleet availability(int i, Availability availability) {
    if (availability == Availability.SUSPECT) {
      state(i).suspect(true);
    } else {
      state(i).probed(availability);
    }
    return this;
  }

  /** Lets a rank keep only so much of its traffic. */
  TestFleet degraded(int i, double share) {
    state(i).degradation(new Degradation(Set.of(DegradationMode.FAILING), share, share, now));
    return this;
  }

  /** Lets a rank keep only so much of its traffic because it has too much to do. */
  TestFleet overloaded(int i, double share) {
    state(i).degradation(new Degradation(Set.of(DegradationMode.OVERLOADED), share, 1, now));
    return this;
  }

  TestFleet load(int i, double running, double waiting) {
    return load(i, running, waiting, UNKNOWN, UNKNOWN);
  }

  TestFleet load(int i, double running, double waiting, double usage, double hitRate) {
    state(i)
        .observe(
            new LoadSnapshot(
                new RankLoad(
                    -1, running, waiting, UNKNOWN, usage, UNKNOWN, UNKNOWN, hitRate, UNKNOWN,
                    UNKNOWN),
                now,
                "test"));
    return this;
  }

  /** Begins streamed requests of this client. */
  TestFleet own(int i, int requests, int tokensEach) {
    for (int k = 0; k < requests; k++) {
      state(i).begin(tokensEach, true);
    }
    return this;
  }

  TestFleet latency(int i, double millis) {
    state(i).succeeded(millis, now);
    return this;
  }

  /** Sets how many tokens of every prompt a rank holds. */
  TestFleet holds(int i, int tokens) {
    int slot = rank(i).slot();
    if (slot >= held.length) {
      held = Arrays.copyOf(held, view().topology().slotCount());
      holders = Arrays.copyOf(holders, held.length);
    }
    held[slot] = tokens;
    holders[slot] = rank(i).holderId();
    return this;
  }

  /** The same, told by the rank's engine rather than guessed. */
  TestFleet tells(int i, int tokens) {
    telling.add(rank(i).holderId());
    return holds(i, tokens);
  }

  private PrefixSource prefixes() {
    return () ->
        new PrefixSource.Query() {
          @Override
          public void match(Prompt prompt) {}

          @Override
          public int tokens(long holderId) {
            int slot = WorkerRank.slotOf(holderId);
            return slot < held.length && holders[slot] == holderId ? held[slot] : 0;
          }

          @Override
          public boolean authoritative(long holderId) {
            return telling.contains(holderId);
          }

          @Override
          public boolean anyAuthoritative() {
            return !telling.isEmpty();
          }
        };
  }

  RouteContext context(long seed) {
    return context(1_000, RouteOptions.NONE, seed);
  }

  RouteContext context(int tokens, RouteOptions options, long seed) {
    return new RouteContext(
        view(), candidates(), TestPrompts.ofTokens(tokens), options, environment, now, seed, false);
  }

  static RouteOptions pinned(String pin) {
    return new RouteOptions(null, 0, null, null, pin, null);
  }

  static RouteOptions session(String key) {
    return new RouteOptions(null, 0, key, null, null, null);
  }

  static RouteOptions user(String user) {
    return new RouteOptions(null, 0, null, user, null, null);
  }

  /** The names of a plan's candidates, in order. */
  static List<String> walk(RoutePlan plan) {
    return drain(plan).stream().map(c -> c.target().toString()).toList();
  }

  static List<Candidate> drain(RoutePlan plan) {
    List<Candidate> all = new ArrayList<>();
    for (Candidate next = plan.next(); next != null; next = plan.next()) {
      all.add(next);
    }
    return all;
  }

  /** The number of the worker that a policy sends a request to. */
  static int first(RoutingPolicy policy, RouteContext context) {
    Candidate first = policy.plan(context).next();
    if (first == null) {
      throw new AssertionError("empty plan");
    }
    String host = first.target().worker().id().uri().getHost();
    return Integer.parseInt(host.substring(1));
  }

  @Override
  public void close() {
    fleet.close();
  }
}
