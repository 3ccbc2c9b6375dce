package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.health.Availability;
import dev.warmpath.worker.WorkerRole;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SimplePoliciesTest {
  private static int[] counts(RoutingPolicy policy, TestFleet fleet, int requests) {
    int[] counts = new int[fleet.candidates().size()];
    for (int i = 0; i < requests; i++) {
      counts[TestFleet.first(policy, fleet.context(i))]++;
    }
    return counts;
  }

  @Test
  void roundRobinGivesEachItsTurnAndGoesOnInOrder() {
    try (TestFleet fleet = new TestFleet(4)) {
      List<Integer> firsts = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        firsts.add(TestFleet.first(Policies.roundRobin(), fleet.context(i)));
      }
      for (int i = 1; i < 8; i++) {
        assertThat(firsts.get(i)).isEqualTo((firsts.get(i - 1) + 1) % 4);
      }
      List<String> rest = TestFleet.walk(Policies.roundRobin().plan(fleet.context(0)));
      int start = (firsts.get(7) + 1) % 4;
      for (int i = 0; i < 4; i++) {
        assertThat(rest.get(i)).isEqualTo(TestFleet.name((start + i) % 4));
      }
    }
  }

  @Test
  void roundRobinSharesTheTurnsOfTheSickEvenly() {
    try (TestFleet fleet = new TestFleet(4).availability(1, Availability.DOWN)) {
      assertThat(counts(Policies.roundRobin(), fleet, 300)).containsExactly(100, 0, 100, 100);
    }
  }

  @Test
  void aRehearsalTakesNoTurn() {
    try (TestFleet fleet = new TestFleet(3)) {
      RoutingPolicy policy = Policies.roundRobin();
      RouteContext context = fleet.context(1);
      List<String> rehearsed = TestFleet.walk(policy.plan(context.asRehearsal()));
      assertThat(TestFleet.walk(policy.plan(context.asRehearsal()))).isEqualTo(rehearsed);
      assertThat(policy.explain(context).candidates().get(0).worker()).isEqualTo(rehearsed.get(0));
      assertThat(TestFleet.walk(policy.plan(context))).isEqualTo(rehearsed);
      assertThat(TestFleet.walk(policy.plan(context))).isNotEqualTo(rehearsed);
    }
  }

  @Test
  void aPinnedRequestTakesNoTurn() {
    try (TestFleet fleet = new TestFleet(3)) {
      RoutingPolicy policy = Policies.parse("pin>round_robin");
      int before = TestFleet.first(policy, fleet.context(1));
      policy.plan(fleet.context(1, TestFleet.pinned(TestFleet.name(0)), 1)).next();
      assertThat(TestFleet.first(policy, fleet.context(1))).isEqualTo((before + 1) % 3);
    }
  }

  @Test
  void rolesAndSetsHaveTurnsOfTheirOwn() {
    try (TestFleet fleet = new TestFleet(0)) {
      for (int i = 0; i < 2; i++) {
        fleet.registry.add(TestFleet.spec(i).role(WorkerRole.PREFILL).build());
        fleet.registry.add(TestFleet.spec(10 + i).role(WorkerRole.DECODE).build());
      }
      Set<String> pairs = new HashSet<>();
      for (int i = 0; i < 8; i++) {
        // Every other request is decoded elsewhere: with a shared count, pairs would be locked.
        String prefill = next(fleet, WorkerRole.PREFILL);
        pairs.add(prefill + next(fleet, WorkerRole.DECODE));
        if (i % 2 == 1) {
          next(fleet, WorkerRole.DECODE);
        }
      }
      assertThat(pairs).hasSize(4);
    }
  }

  private static String next(TestFleet fleet, WorkerRole role) {
    RouteContext any = fleet.context(1);
    RouteContext context =
        new RouteContext(
            fleet.view(),
            fleet.view().topology().candidates(null, role),
            any.prompt(),
            any.options(),
            fleet.environment(),
            fleet.now,
            1,
            false);
    return TestFleet.walk(Policies.roundRobin().plan(context)).get(0);
  }

  @Test
  void clientsStartAtPlacesOfTheirOwn() {
    Set<Integer> starts = new HashSet<>();
    for (int seed = 0; seed < 40; seed++) {
      try (TestFleet fleet =
          new TestFleet(4).environment(RoutingEnvironment.builder().seed(seed))) {
        starts.add(TestFleet.first(Policies.roundRobin(), fleet.context(1)));
      }
    }
    assertThat(starts).containsExactlyInAnyOrder(0, 1, 2, 3);
  }

  @Test
  void randomIsEvenAndIsDecidedByTheSeed() {
    try (TestFleet fleet = new TestFleet(4)) {
      for (int count : counts(Policies.random(), fleet, 4_000)) {
        assertThat(count).isBetween(890, 1_110); // 1,000 within four standard deviations
      }
      assertThat(TestFleet.walk(Policies.random().plan(fleet.context(7))))
          .isEqualTo(TestFleet.walk(Policies.random().plan(fleet.context(7))));
    }
  }

  @Test
  void equalsAreToldApartEvenlyByEveryLoadPolicy() {
    for (String name : List.of("shortest_queue", "power_of_two", "cache_aware", "linear_cost")) {
      try (TestFleet fleet = new TestFleet(4)) {
        for (int count : counts(Policies.parse(name), fleet, 4_000)) {
          assertThat(count).as(name).isBetween(890, 1_110);
        }
      }
    }
  }

  @Test
  void powerOfTwoTakesTheLessLoadedOfTwo() {
    try (TestFleet fleet = new TestFleet(4)) {
      for (int i = 0; i < 4; i++) {
        fleet.load(i, i, 0);
      }
      int[] counts = counts(Policies.powerOfTwo(), fleet, 6_000);
      // Of the 6 pairs, rank 0 wins 3, rank 1 two, rank 2 one and rank 3 none.
      assertThat(counts[0]).isBetween(2_845, 3_155);
      assertThat(counts[1]).isBetween(1_854, 2_146);
      assertThat(counts[2]).isBetween(884, 1_116);
      assertThat(counts[3]).isZero();
    }
  }

  @Test
  void shortestQueueCountsRunningWaitingAndWhatTelemetryDoesNotShowYet() {
    try (TestFleet fleet = new TestFleet(3)) {
      fleet.load(0, 2, 1).load(1, 1, 1).load(2, 3, 0);
      fleet.own(1, 2, 500); // 2 requests of half a request's tokens each: 3
      RouteExplanation why = Policies.shortestQueue().explain(fleet.context(1));
      assertThat(why.candidates()).extracting(v -> v.score()).containsExactly(3.0, 3.0, 5.0);
      assertThat(why.candidates().get(2).worker()).isEqualTo(TestFleet.name(1));
      assertThat(why.candidates().get(2).terms())
          .containsExactly(
              java.util.Map.entry("running", 1.0),
              java.util.Map.entry("waiting", 1.0),
              java.util.Map.entry("in_flight", 3.0));
    }
  }

  @Test
  void clientsWithTheSamePictureDoNotAllChooseTheOneThatLooksBest() {
    try (TestFleet fleet = new TestFleet(16)) {
      for (int i = 0; i < 16; i++) {
        fleet.load(i, i < 8 ? 16 + i % 4 * 0.4 : 40, 0);
      }
      int[] counts = counts(Policies.shortestQueue(), fleet, 4_000);
      for (int i = 0; i < 16; i++) {
        assertThat(counts[i]).isBetween(i < 8 ? 50 : 0, i < 8 ? 1_100 : 0);
      }
      assertThat(counts[0]).isGreaterThan(counts[3]);
    }
  }

  @Test
  void oneLongRequestIsMoreThanOneShortOne() {
    try (TestFleet fleet = new TestFleet(2).own(0, 1, 100_000).own(1, 1, 100)) {
      assertThat(TestFleet.first(Policies.shortestQueue(), fleet.context(1))).isEqualTo(1);
    }
  }

  @Test
  void withoutTelemetryOwnRequestsCount() {
    try (TestFleet fleet = new TestFleet(3).own(0, 2, 0).own(1, 1, 0).own(2, 3, 0)) {
      assertThat(TestFleet.walk(Policies.shortestQueue().plan(fleet.context(1))))
          .containsExactly(TestFleet.name(1), TestFleet.name(0), TestFleet.name(2));
    }
  }

  @Test
  void whereTelemetryIsMissingOthersRequestsAreTakenToBeTheMean() {
    try (TestFleet fleet = new TestFleet(3)) {
      fleet.own(0, 2, 0).load(0, 6, 0); // 2 of the 6 are ours: others run 4
      fleet.load(1, 8, 3); // others run 8; 3 wait
      fleet.own(2, 1, 0); // says nothing: others would run (4 + 8) / 2, and (0 + 3) / 2 wait
      RouteExplanation why = Policies.shortestQueue().explain(fleet.context(1));
      assertThat(why.candidates())
          .extracting(v -> v.worker())
          .containsExactly(TestFleet.name(0), TestFleet.name(2), TestFleet.name(1));
      assertThat(why.candidates())
          .extracting(v -> v.score())
          .usingComparatorForType(
              (a, b) -> Math.abs(a - b) < 1e-9 ? 0 : a.compareTo(b), Double.class)
          .containsExactly(6.0, 8.5, 11.0);
      assertThat(why.candidates().get(1).terms().get("waiting")).isCloseTo(1.5, within(1e-9));
    }
  }

  @Test
  void staleTelemetryIsNoTelemetry() {
    try (TestFleet fleet = new TestFleet(2)) {
      fleet.load(0, 0, 0).load(1, 9, 0);
      fleet.own(0, 1, 0);
      assertThat(TestFleet.first(Policies.shortestQueue(), fleet.context(1))).isZero();
      fleet.now += fleet.environment().telemetryLimitNanos();
      assertThat(TestFleet.first(Policies.shortestQueue(), fleet.context(1))).isZero();
      fleet.now += 1;
      assertThat(TestFleet.first(Policies.shortestQueue(), fleet.context(1))).isEqualTo(1);
    }
  }
}
