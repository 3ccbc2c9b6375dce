package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.api.RouteOptions;
import dev.warmpath.health.Availability;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What degradation does to decisions: the same for every policy. */
class AvoidanceTest {
  private static final int DECISIONS = 2_000;

  static List<String> policies() {
    return Policies.names().stream().sorted().toList();
  }

  /** A fleet that nothing but the policy's own order tells apart. */
  private static TestFleet even(int workers) {
    TestFleet fleet = new TestFleet(workers);
    for (int i = 0; i < workers; i++) {
      fleet.availability(i, Availability.UP).load(i, 1, 0).latency(i, 50);
    }
    return fleet;
  }

  private static double[] shares(TestFleet fleet, RoutingPolicy policy, int workers) {
    double[] counts = new double[workers];
    for (int d = 0; d < DECISIONS; d++) {
      RouteOptions options = TestFleet.session("session-" + d);
      counts[TestFleet.first(policy, fleet.context(1_000, options, d))] += 1.0 / DECISIONS;
    }
    return counts;
  }

  @ParameterizedTest
  @MethodSource("policies")
  void aDegradedRankKeepsItsShareOfWhatWouldBeIts(String name) {
    try (TestFleet fleet = even(4)) {
      RoutingPolicy policy = Policies.parse(name);
      double whole = shares(fleet, policy, 4)[1];
      assertThat(whole).isCloseTo(0.25, within(0.04));
      fleet.degraded(1, 0.3);
      assertThat(shares(fleet, policy, 4)[1]).isCloseTo(0.3 * whole, within(0.03));
      fleet.degraded(1, 0);
      assertThat(shares(fleet, policy, 4)[1]).isZero();
      fleet.degraded(1, 1);
      assertThat(shares(fleet, policy, 4)[1]).isCloseTo(whole, within(1e-9));
    }
  }

  @ParameterizedTest
  @MethodSource("policies")
  void aBusyRankKeepsWhatIsSentToItForWhatItHolds(String name) {
    try (TestFleet fleet = even(4)) {
      RoutingPolicy policy = Policies.parse(name);
      double whole = shares(fleet, policy, 4)[1];
      fleet.overloaded(1, 0);
      double share = shares(fleet, policy, 4)[1];
      if (Set.of("homing", "session", "cache_aware", "umbp", "knowledge").contains(name)) {
        assertThat(share).isCloseTo(whole, within(1e-9));
        assertThat(steps(fleet, policy)).anyMatch(step -> step.contains("keeps 100 %"));
      } else {
        assertThat(share).isZero();
        assertThat(steps(fleet, policy)).anyMatch(step -> step.contains("keeps 0 %"));
      }
    }
  }

  private static List<String> steps(TestFleet fleet, RoutingPolicy policy) {
    return policy.explain(fleet.context(1_000, TestFleet.session("session"), 1)).steps();
  }

  @ParameterizedTest
  @MethodSource("policies")
  void aFleetThatIsDegradedAsAWholeWorksAsIfNothingWereWrong(String name) {
    try (TestFleet fleet = TestFleet.busy(5);
        TestFleet well = TestFleet.busy(5)) {
      RoutingPolicy policy = Policies.parse(name);
      for (double share : new double[] {0.5, 0.01, 0}) {
        IntStream.range(0, 5).forEach(i -> fleet.degraded(i, share));
        for (int seed = 0; seed < 50; seed++) {
          assertThat(TestFleet.walk(policy.plan(fleet.context(seed))))
              .isEqualTo(TestFleet.walk(policy.plan(well.context(seed))));
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("policies")
  void theLessDegradedCountAsWhole(String name) {
    try (TestFleet fleet = even(3)) {
      fleet.degraded(0, 0.5).degraded(1, 0.5).degraded(2, 0);
      double[] shares = shares(fleet, Policies.parse(name), 3);
      assertThat(shares[0]).isCloseTo(0.5, within(0.05));
      assertThat(shares[2]).isZero();
    }
  }

  @ParameterizedTest
  @MethodSource("policies")
  void avoidedComeBeforeSuspectsAndSuspectsBeforeThoseDown(String name) {
    try (TestFleet fleet = even(4)) {
      fleet.degraded(0, 0).availability(2, Availability.DOWN);
      fleet.availability(3, Availability.SUSPECT);
      assertThat(TestFleet.drain(Policies.parse(name).plan(fleet.context(7))))
          .extracting(c -> c.target().toString(), Candidate::lastResort)
          .containsExactly(
              org.assertj.core.groups.Tuple.tuple("http://w1:1", false),
              org.assertj.core.groups.Tuple.tuple("http://w0:1", false),
              org.assertj.core.groups.Tuple.tuple("http://w3:1", true),
              org.assertj.core.groups.Tuple.tuple("http://w2:1", true));
    }
  }

  @Test
  void theOnlyOneThatAnswersIsUsedHoweverDegraded() {
    try (TestFleet fleet = even(2)) {
      fleet.degraded(0, 0).availability(1, Availability.DOWN);
      assertThat(TestFleet.first(Policies.standard(), fleet.context(1))).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"homing", "session", "cache_aware", "round_robin"})
  void aSessionThatKeepsAwayKeepsAway(String name) {
    try (TestFleet fleet = even(4)) {
      fleet.degraded(2, 0.5);
      RoutingPolicy policy = Policies.parse(name);
      int away = 0;
      for (int session = 0; session < 200; session++) {
        int refused = 0;
        for (int turn = 0; turn < 5; turn++) {
          RouteOptions options = TestFleet.session("s" + session);
          RouteContext context = fleet.context(1_000 + turn, options, 31L * session + turn);
          List<String> steps = policy.explain(context).steps();
          refused += steps.stream().anyMatch(step -> step.endsWith("not this one")) ? 1 : 0;
        }
        assertThat(refused).isIn(0, 5);
        away += refused == 5 ? 1 : 0;
      }
      assertThat(away).isBetween(70, 130);
    }
  }

  @Test
  void theMoreDegradedTheMoreSessionsKeepAwayAndNoneComesBack() {
    try (TestFleet fleet = even(4)) {
      RoutingPolicy policy = Policies.parse("session");
      for (int session = 0; session < 200; session++) {
        RouteContext context = fleet.context(100, TestFleet.session("s" + session), 1);
        boolean there = true;
        for (double share : new double[] {1, 0.7, 0.4, 0.2, 0}) {
          fleet.degraded(3, share);
          boolean now = TestFleet.first(policy, context) == 3;
          assertThat(there || !now).isTrue();
          there = now;
        }
      }
    }
  }

  @Test
  void aPinHolds() {
    try (TestFleet fleet = even(3)) {
      fleet.degraded(1, 0);
      RouteContext context = fleet.context(100, TestFleet.pinned("http://w1:1"), 5);
      assertThat(TestFleet.first(Policies.standard(), context)).isEqualTo(1);
    }
  }

  @Test
  void explainTellsWhoIsDegradedAndAvoided() {
    try (TestFleet fleet = even(2)) {
      fleet.degraded(0, 0);
      RouteExplanation told = Policies.standard().explain(fleet.context(3));
      assertThat(told.candidates())
          .extracting(CandidateView::state)
          .containsExactly("up", "degraded:failing");
      assertThat(told.steps())
          .contains(
              "2 candidates for role regular, 1 avoided by this request",
              "http://w0:1 is degraded:failing: it keeps 0 % of its requests, not this one");
    }
  }
}
