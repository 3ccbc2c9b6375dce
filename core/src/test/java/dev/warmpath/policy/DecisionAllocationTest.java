package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import dev.warmpath.api.RouteOptions;
import dev.warmpath.health.FleetView;
import dev.warmpath.prompt.Prompt;
import dev.warmpath.prompt.TestPrompts;
import dev.warmpath.worker.WorkerRole;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a decision leaves to the garbage collector: times vary with the machine, bytes do not. */
class DecisionAllocationTest {
  /** Context 56, plan 40, candidate 40; 8 to spare. More than this is a regression. */
  private static final long BYTES_PER_DECISION = 144;

  private static final int DECISIONS = 1_000;

  private final ThreadMXBean threads =
      (ThreadMXBean) ManagementFactory.getPlatformMXBean(java.lang.management.ThreadMXBean.class);
  private Object kept;

  private void decide(RoutingPolicy policy, TestFleet fleet, Prompt prompt, RouteOptions options) {
    for (int i = 0; i < DECISIONS; i++) {
      FleetView view = fleet.view();
      RouteContext context =
          new RouteContext(
              view,
              view.topology().candidates(null, WorkerRole.REGULAR),
              prompt,
              options,
              fleet.environment(),
              fleet.now,
              i,
              false);
      kept = policy.plan(context).next();
    }
  }

  @Test
  void aDecisionAllocatesItsContextPlanAndCandidateWhateverTheFleet() {
    assumeTrue(threads.isThreadAllocatedMemorySupported());
    threads.setThreadAllocatedMemoryEnabled(true);
    List<String> policies = new ArrayList<>(Policies.names());
    policies.add("pin>linear_cost>shortest_queue");
    policies.add("session>cache_aware>shortest_queue");
    Prompt prompt = TestPrompts.ofTokens(4_000);
    for (String name : policies) {
      RoutingPolicy policy = Policies.parse(name);
      for (int ranks : new int[] {8, 64, 1_024}) {
        try (TestFleet fleet = TestFleet.busy(ranks)) {
          RouteOptions options =
              new RouteOptions(
                  null, 0, "session", null, name.equals("pin") ? "http://w3:1" : null, null);
          decide(policy, fleet, prompt, options);
          long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
          decide(policy, fleet, prompt, options);
          long after = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
          assertThat((after - before) / DECISIONS)
              .as("bytes per decision of %s over %d ranks", name, ranks)
              .isLessThanOrEqualTo(BYTES_PER_DECISION);
          fleet.degraded(1, 0.5);
          decide(policy, fleet, prompt, options);
          before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
          decide(policy, fleet, prompt, options);
          after = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
          assertThat((after - before) / DECISIONS)
              .as("bytes per decision of %s over %d ranks, one degraded", name, ranks)
              .isLessThanOrEqualTo(BYTES_PER_DECISION);
        }
      }
    }
    assertThat(kept).isNotNull();
  }
}
