package dev.warmpath.policy;

import dev.warmpath.api.RouteOptions;
import dev.warmpath.health.FleetView;
import dev.warmpath.index.BranchTrie;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.worker.WorkerRole;
import java.util.Random;
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
 * One decision of {@code homing} for a turn of one of a thousand sessions behind eight system
 * prompts: 80 keys of 64 tokens, over ranks with telemetry and own requests.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 3, time = 1)
public class HomingBenchmark {
  private static final int SESSIONS = 1_000;
  private static final int SYSTEM_KEYS = 40;
  private static final int KEYS = 80;

  /** How many candidates. */
  @Param({"16", "64", "1024"})
  public int ranks;

  private final Prompt[] prompts = new Prompt[SESSIONS];
  private final RoutingPolicy policy = Policies.parse("pin>homing>shortest_queue");
  private @Nullable TestFleet fleet;
  private @Nullable RoutingEnvironment environment;
  private long now;
  private int turn;

  /** Makes the fleet and lets it see every session twice. */
  @Setup
  public void open() {
    TestFleet made = TestFleet.busy(ranks);
    fleet = made;
    now = made.now;
    BranchTrie trie = BranchTrie.builder().build();
    made.environment(RoutingEnvironment.builder().branches(trie));
    environment = made.environment();
    HomingFeedback feedback = new HomingFeedback(made.environment());
    Random random = new Random(1);
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < SESSIONS; i++) {
        StringBuilder text = new StringBuilder();
        text.append(String.valueOf((char) ('A' + i % 8)).repeat(SYSTEM_KEYS));
        for (int k = SYSTEM_KEYS; k < KEYS; k++) {
          text.append((char) (0x4000 + i + k));
        }
        prompts[i] = HomingPrompts.of(null, text.toString());
        feedback.dispatched(prompts[i]).served(round * prompts[i].tokens(), ranks);
        made.state(random.nextInt(ranks)).pace().observe(random.nextInt(9_000), 100);
      }
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
    turn = turn + 1 == SESSIONS ? 0 : turn + 1;
    FleetView view = fleet.view();
    RouteContext context =
        new RouteContext(
            view,
            view.topology().candidates(null, WorkerRole.REGULAR),
            prompts[turn],
            RouteOptions.NONE,
            environment,
            now,
            turn,
            false);
    return policy.plan(context).next();
  }
}
