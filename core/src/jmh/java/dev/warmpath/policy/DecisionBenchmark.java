package dev.warmpath.policy;

import dev.warmpath.api.RouteOptions;
import dev.warmpath.health.FleetView;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.prompt.TestPrompts;
import dev.warmpath.worker.WorkerRole;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One decision: context, plan and first candidate, over ranks with telemetry, own requests and
 * prefixes. The prefix look-up itself is an array read here; the radix tree has its own benchmark.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class DecisionBenchmark {
  /** The policy. */
  @Param({
    "round_robin",
    "random",
    "power_of_two",
    "shortest_queue",
    "cache_aware",
    "linear_cost",
    "pin",
    "session",
    "pin>linear_cost>shortest_queue"
  })
  public String policy = "";

  /** How many candidates. */
  @Param({"8", "64", "1024"})
  public int ranks;

  private final Prompt prompt = TestPrompts.ofTokens(4_000);
  private @Nullable TestFleet fleet;
  private @Nullable RoutingEnvironment environment;
  private @Nullable RoutingPolicy parsed;
  private RouteOptions options = RouteOptions.NONE;
  private long now;
  private long seed;

  /** Makes the fleet. */
  @Setup
  public void open() {
    TestFleet made = TestFleet.busy(ranks);
    fleet = made;
    environment = made.environment();
    now = made.now;
    parsed = Policies.parse(policy);
    if (policy.equals("pin")) {
      options = TestFleet.pinned(TestFleet.name(ranks / 2));
    } else if (policy.equals("session")) {
      options = TestFleet.session("0a1f6c9e-3b52-4a64-9d0e-8e7f1f0d2c11");
    }
  }

  /** Ends the fleet. */
  @TearDown
  public void close() {
    fleet.close();
  }

  /** A decision. */
  @Benchmark
  public @Nullable Candidate decide() {
    FleetView view = fleet.view();
    RouteContext context =
        new RouteContext(
            view,
            view.topology().candidates(null, WorkerRole.REGULAR),
            prompt,
            options,
            environment,
            now,
            seed++,
            false);
    return parsed.plan(context).next();
  }
}
