package dev.warmpath.fake.virtual;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.fake.handoff.HandoffOrder;
import dev.warmpath.fake.handoff.HandoffSettings;
import dev.warmpath.fake.live.RankListener;
import dev.warmpath.fake.live.RankSettings;
import dev.warmpath.fake.scheduler.BlockSource;
import dev.warmpath.fake.scheduler.CoreMetrics;
import dev.warmpath.fake.scheduler.CoreOptions;
import dev.warmpath.fake.scheduler.EngineRequest;
import dev.warmpath.fake.scheduler.FinishReason;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.scheduler.VllmCore;
import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongUnaryOperator;
import org.assertj.core.data.Percentage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Two prefill and two decode workers, 128 users in a closed loop, prompts of 4,096 tokens and
 * answers of 64, under routers as simple as can be written down. How many requests a second come
 * out follows from the capacity of the prefill workers' caches, and is known.
 *
 * <p>The routers are fixtures, not the product's policies: what is checked here is the simulator.
 */
class CapacityWindowTest {
  private static final int USERS = 128;
  private static final int SHARED = 3_072;
  private static final int UNIQUE = 1_024;
  private static final int OUTPUT = 64;
  private static final int STRETCH = 1_024;

  /** Requests answered before counting begins, and those that are counted. */
  private static final int WARM_UP = 1_028;

  private static final int COUNTED = 2_056;

  /** Chooses a prefill and a decode worker for the n-th request, of some group. */
  private interface Router {
    int[] choose(long request, long group, Fleet fleet);
  }

  private static final class Fleet {
    private final VirtualTime time = new VirtualTime();
    private final List<VirtualRank> prefill = new ArrayList<>();
    private final List<VirtualRank> decode = new ArrayList<>();
    private final int[] prefillInFlight = new int[2];
    private final int[] decodeInFlight = new int[2];
    private final VirtualHandoffs handoffs =
        new VirtualHandoffs(time, HandoffSettings.of(HandoffOrder.SOURCE_FIRST));

    Fleet(int blocks) {
      for (int i = 0; i < 2; i++) {
        prefill.add(rank(WorkerRole.PREFILL, blocks));
        decode.add(rank(WorkerRole.DECODE, 16_384));
      }
    }

    private VirtualRank rank(WorkerRole role, int blocks) {
      CoreOptions options = CoreOptions.builder().numBlocks(blocks).role(role).build();
      return new VirtualRank(
          time,
          RankSettings.handoffs(0, options),
          new VllmCore(options, LatencyModel.polynomial()));
    }

    int lessBusy(int[] inFlight) {
      return inFlight[1] < inFlight[0] ? 1 : 0;
    }
  }

  /** Each role has a counter of its own. */
  private static Router roundRobin() {
    return (request, group, fleet) -> new int[] {(int) (request % 2), (int) (request / 2 % 2)};
  }

  /** One counter for both roles, taken twice a request: each role sees every other value. */
  private static Router aliased() {
    long[] counter = new long[1];
    return (request, group, fleet) -> {
      int prefill = (int) (counter[0]++ % 2);
      int decode = (int) (counter[0]++ % 2);
      return new int[] {prefill, decode};
    };
  }

  /**
   * Remembers where each group went, forgets nothing, and sends new ones where less is under way.
   */
  private static Router cacheAware() {
    Map<Long, Integer> holders = new HashMap<>();
    return (request, group, fleet) ->
        new int[] {
          holders.computeIfAbsent(group, fresh -> fleet.lessBusy(fleet.prefillInFlight)),
          fleet.lessBusy(fleet.decodeInFlight)
        };
  }

  /** Running + 2 waiting + 4 usage - 32 hit fraction, lowest first. */
  private static Router linearCost() {
    Map<Long, boolean[]> holders = new HashMap<>();
    return (request, group, fleet) -> {
      boolean[] held = holders.computeIfAbsent(group, fresh -> new boolean[2]);
      double[] cost = new double[2];
      for (int i = 0; i < 2; i++) {
        CoreMetrics metrics = fleet.prefill.get(i).metrics();
        double running = Math.min(fleet.prefillInFlight[i], metrics.running());
        double waiting = fleet.prefillInFlight[i] - running;
        double hit = held[i] ? (double) SHARED / (SHARED + UNIQUE) : 0;
        cost[i] = running + 2 * waiting + 4 * metrics.usage() - 32 * hit;
      }
      int prefill = cost[1] < cost[0] ? 1 : 0;
      held[prefill] = true;
      return new int[] {prefill, fleet.lessBusy(fleet.decodeInFlight)};
    };
  }

  private static Router router(String name) {
    return switch (name) {
      case "round_robin" -> roundRobin();
      case "aliased" -> aliased();
      case "cache_aware" -> cacheAware();
      case "linear_cost" -> linearCost();
      default -> throw new IllegalArgumentException(name);
    };
  }

  /** A closed loop of users, each of whom sends the next request when the last is answered. */
  private static final class Loop {
    private final Fleet fleet;
    private final Router router;
    private final LongUnaryOperator groups;
    private long sent;
    private long answered;
    private double countedFromMs;
    private double lastMs;

    Loop(Fleet fleet, Router router, LongUnaryOperator groups) {
      this.fleet = fleet;
      this.router = router;
      this.groups = groups;
    }

    double requestsPerSecond() {
      for (int i = 0; i < USERS; i++) {
        send();
      }
      while (answered < WARM_UP + COUNTED) {
        assertThat(fleet.time.step()).isTrue();
      }
      return COUNTED / (lastMs - countedFromMs) * 1e3;
    }

    private void send() {
      long request = sent++;
      long group = groups.applyAsLong(request);
      int[] chosen = router.choose(request, group, fleet);
      fleet.prefillInFlight[chosen[0]]++;
      fleet.decodeInFlight[chosen[1]]++;
      BlockSource content =
          new BlockSource.Stretches(
              new long[] {group * 4, group * 4 + 1, group * 4 + 2, -1 - request}, STRETCH);
      long unused =
          fleet.handoffs.start(
              new Handoff(
                  fleet.prefill.get(chosen[0]),
                  new EngineRequest(2 * request, content, SHARED + UNIQUE, 1, 0),
                  done(() -> fleet.prefillInFlight[chosen[0]]--),
                  fleet.decode.get(chosen[1]),
                  new EngineRequest(2 * request + 1, content, SHARED + UNIQUE, OUTPUT, 0),
                  done(
                      () -> {
                        fleet.decodeInFlight[chosen[1]]--;
                        answered();
                      }),
                  stage -> {}));
    }

    private void answered() {
      lastMs = fleet.time.nowMs();
      if (++answered == WARM_UP) {
        countedFromMs = lastMs;
      }
      send();
    }

    private static RankListener done(Runnable action) {
      return new RankListener() {
        @Override
        public void admitted(int reusedTokens) {}

        @Override
        public void output(int tokens, @Nullable FinishReason finish) {
          if (finish != null) {
            action.run();
          }
        }
      };
    }
  }

  private static double requestsPerSecond(String router, int groups, int blocks) {
    return new Loop(new Fleet(blocks), router(router), request -> request % groups)
        .requestsPerSecond();
  }

  @ParameterizedTest
  @CsvSource({
    // The cache holds half of the groups: who sends a group to one worker finds it, who does not
    // meets each worker's cache after it has turned over.
    "round_robin, 9830, 23.6",
    "cache_aware, 9830, 94.7",
    "linear_cost, 9830, 94.6",
    "aliased, 9830, 11.8",
    "round_robin, 12288, 23.6",
    "cache_aware, 12288, 94.7",
    "linear_cost, 12288, 94.6",
    "round_robin, 15974, 23.6",
    "cache_aware, 15974, 94.7",
    "linear_cost, 15974, 94.6",
    // Below the window nobody finds anything.
    "round_robin, 7987, 23.6",
    "cache_aware, 7987, 23.7",
    "linear_cost, 7987, 23.7",
    "aliased, 7987, 11.8",
  })
  void throughputFollowsFromTheCachesCapacity(String router, int blocks, double expected) {
    assertThat(requestsPerSecond(router, 257, blocks))
        .isCloseTo(expected, Percentage.withPercentage(5));
  }

  @Test
  void coldPromptsComeOutAtThePrefillWorkersPace() {
    Loop cold = new Loop(new Fleet(16_384), roundRobin(), request -> request);

    assertThat(cold.requestsPerSecond()).isCloseTo(23.6, Percentage.withPercentage(2));
  }

  @Test
  void oneCounterForBothRolesLeavesHalfOfTheFleetIdle() {
    double own = requestsPerSecond("round_robin", 257, 7_987);

    assertThat(requestsPerSecond("aliased", 257, 7_987) / own).isCloseTo(0.5, within(0.01));
  }

  @Test
  void anEvenNumberOfGroupsGivesTurnsAffinityByAccident() {
    assertThat(requestsPerSecond("round_robin", 256, 12_288))
        .isGreaterThan(3.5 * requestsPerSecond("round_robin", 257, 12_288));
  }
}
