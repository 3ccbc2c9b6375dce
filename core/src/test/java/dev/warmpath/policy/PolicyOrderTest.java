package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.policy.ServingSimulation.Arrival;
import dev.warmpath.policy.ServingSimulation.Outcome;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What policies do to a simulated fleet whose telemetry is up to a second old. */
class PolicyOrderTest {
  private static final int WORKERS = 4;

  private static Outcome run(String policy, List<Arrival> arrivals) {
    return ServingSimulation.run(Policies.parse(policy), WORKERS, arrivals, 1);
  }

  /** Every row of this trace begins with the same block: whoever follows it follows one worker. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "round_robin",
        "random",
        "power_of_two",
        "shortest_queue",
        "cache_aware",
        "linear_cost",
        "pin>linear_cost>shortest_queue",
        "pin>cache_aware>shortest_queue"
      })
  void aPrefixThatAllShareMakesNoHotspot(String policy) throws IOException {
    Outcome outcome = run(policy, ServingWorkloads.conversation(2.5, 1));
    assertThat(Arrays.stream(outcome.perWorker()).sum()).isEqualTo(2_000);
    assertThat(outcome.largestShare()).isLessThanOrEqualTo(0.40);
  }

  @Test
  void policiesKeepTheirOrderOnTheConversationTrace() throws IOException {
    List<Arrival> arrivals = ServingWorkloads.conversation(2.5, 1);
    Outcome roundRobin = run("round_robin", arrivals);
    Outcome shortest = run("shortest_queue", arrivals);
    assertThat(shortest.meanTtftMillis()).isLessThan(0.8 * roundRobin.meanTtftMillis());
    for (String policy : List.of("cache_aware", "linear_cost")) {
      Outcome aware = run(policy, arrivals);
      assertThat(aware.hitRate()).as(policy).isGreaterThan(1.8 * roundRobin.hitRate());
      assertThat(aware.meanTtftMillis()).as(policy).isLessThan(0.97 * shortest.meanTtftMillis());
    }
  }

  @Test
  void policiesKeepTheirOrderOnSessions() {
    List<Arrival> arrivals = ServingWorkloads.sessions(3_000, 16, 1);
    Outcome roundRobin = run("round_robin", arrivals);
    Outcome session = run("session", arrivals);
    assertThat(session.hitRate()).isGreaterThan(roundRobin.hitRate() + 0.15);
    for (String policy : List.of("cache_aware", "linear_cost")) {
      Outcome aware = run(policy, arrivals);
      // Nearly as good as being told which session it is, and better balanced.
      assertThat(aware.hitRate()).as(policy).isGreaterThan(session.hitRate() - 0.02);
      assertThat(aware.largestShare()).as(policy).isLessThan(session.largestShare());
      assertThat(aware.meanTtftMillis()).as(policy).isLessThan(0.75 * roundRobin.meanTtftMillis());
    }
  }

  /** Between two readings the telemetry does not move: own requests must be seen all the same. */
  @ParameterizedTest
  @ValueSource(strings = {"shortest_queue", "cache_aware", "linear_cost"})
  void aBurstBetweenTwoReadingsSpreads(String policy) {
    List<Arrival> burst = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      burst.add(new Arrival(5_000 + i, new int[] {0, 1, 100 + i}, 1_600, 100, "s" + i));
    }
    assertThat(Arrays.stream(run(policy, burst).perWorker()).boxed())
        .allSatisfy(count -> assertThat(count).isBetween(8, 12));
  }
}
