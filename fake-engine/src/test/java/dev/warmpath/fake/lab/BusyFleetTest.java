package dev.warmpath.fake.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.fake.load.TraceRequest;
import dev.warmpath.fake.load.TraceSession;
import dev.warmpath.fake.study.StudySettings;
import dev.warmpath.fake.study.StudyWorkload;
import dev.warmpath.health.Degradation;
import dev.warmpath.health.DegradationMode;
import dev.warmpath.policy.Policies;
import dev.warmpath.policy.RouteContext;
import dev.warmpath.policy.RouteExplanation;
import dev.warmpath.policy.RoutePlan;
import dev.warmpath.policy.RoutingPolicy;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerRank;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * A fleet that computes long prompts among short ones is busy, which its queues tell, and not
 * degraded: to keep conversations away from where their caches are would make it busier.
 */
class BusyFleetTest {
  private static final int WORKERS = 8;
  private static final int BLOCK = 512;
  private static final double UNTIL_MS = 120_000;

  /** Counts the decisions that saw a rank in one of the modes. */
  private record Watched(RoutingPolicy policy, Map<DegradationMode, Integer> seen)
      implements RoutingPolicy {
    @Override
    public String name() {
      return policy.name();
    }

    @Override
    public RoutePlan plan(RouteContext context) {
      for (Worker worker : context.fleet().topology().workers()) {
        for (WorkerRank rank : worker.ranks()) {
          Degradation degradation = context.fleet().state(rank).degradation();
          degradation.modes().forEach(mode -> seen.merge(mode, 1, Integer::sum));
        }
      }
      return policy.plan(context);
    }

    @Override
    public RouteExplanation explain(RouteContext context) {
      return policy.explain(context);
    }
  }

  @Test
  void longPromptsMakeNobodyDegraded() {
    Map<DegradationMode, Integer> seen = new EnumMap<>(DegradationMode.class);
    StudySettings settings = StudySettings.STUDY.withWorkers(WORKERS).withClients(4);
    StudyWorkload workload = questionsOnDocuments(20);
    FleetRun run =
        FleetSuite.run(settings, new Watched(Policies.homing(), seen), workload, List.of());
    assertThat(run.result().p99Ms()).as("it is busy").isGreaterThan(1_000);
    assertThat(seen).isEmpty();
  }

  /** So many a second; one document in eight has 50,000 to 120,000 tokens, the others 5,000. */
  private static StudyWorkload questionsOnDocuments(double rate) {
    SplittableRandom random = new SplittableRandom(3);
    List<TraceSession> sessions = new ArrayList<>();
    double at = 0;
    while (at < UNTIL_MS) {
      long document = (long) (200 * Math.pow(random.nextDouble(), 2));
      int blocks = document % 8 == 0 ? 100 + (int) (document * 7 % 140) : 10;
      long[] ids = new long[blocks + 1];
      for (int i = 0; i < blocks; i++) {
        ids[i] = document * 256 + i;
      }
      ids[blocks] = 1L << 20 | sessions.size();
      String id = "q" + sessions.size();
      sessions.add(
          new TraceSession(
              id,
              0,
              List.of(new TraceRequest(at, id, 0, ids.length * BLOCK, 150, ids, BLOCK, ""))));
      at -= 1_000 / rate * Math.log(1 - random.nextDouble());
    }
    int[] families = IntStream.range(0, sessions.size()).toArray();
    return new StudyWorkload("documents", sessions, families, 0, UNTIL_MS);
  }
}
