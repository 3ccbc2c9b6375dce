package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.api.RouteOptions;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Scores worked out by hand; 1,000 tokens weigh as much as a request. */
class CostPoliciesTest {
  private static CandidateView view(RouteExplanation why, int worker) {
    return why.candidates().stream()
        .filter(v -> v.worker().equals(TestFleet.name(worker)))
        .findFirst()
        .orElseThrow();
  }

  private static RouteExplanation explain(RoutingPolicy policy, TestFleet fleet, int tokens) {
    return policy.explain(fleet.context(tokens, RouteOptions.NONE, 1));
  }

  private static int first(RoutingPolicy policy, TestFleet fleet, int tokens) {
    return TestFleet.first(policy, fleet.context(tokens, RouteOptions.NONE, 1));
  }

  @Test
  void linearCostIsTheSumOfItsTerms() {
    try (TestFleet fleet = new TestFleet(2)) {
      fleet.load(0, 3, 1, 0.5, 0.25).own(0, 2, 2_000).latency(0, 300).holds(0, 1_500);
      fleet.load(1, 5, 0, 0.25, 0.75).latency(1, 100).holds(1, 500);
      LinearCostWeights weights = new LinearCostWeights(1, 2, 4, 3, 5, 6, 7);
      RouteExplanation why = explain(Policies.linearCost(weights), fleet, 4_000);
      // I = 2 requests + 4,000 tokens; L = 300 and 100 over their mean of 200; P = 1,000 tokens.
      CandidateView zero = view(why, 0);
      assertThat(zero.terms())
          .containsExactly(
              entry("running", 3.0),
              entry("waiting", 2.0),
              entry("usage", 2.0),
              entry("in_flight", 18.0),
              entry("latency", 7.5),
              entry("hit_rate", -1.5),
              entry("prefix", -7.0));
      assertThat(zero.score()).isEqualTo(24.0);
      CandidateView one = view(why, 1);
      assertThat(one.terms())
          .containsExactly(
              entry("running", 5.0),
              entry("waiting", 0.0),
              entry("usage", 1.0),
              entry("in_flight", 0.0),
              entry("latency", 2.5),
              entry("hit_rate", -4.5),
              entry("prefix", 0.0));
      assertThat(one.score()).isEqualTo(4.0);
      assertThat(why.candidates()).extracting(CandidateView::worker).startsWith(TestFleet.name(1));
      assertThat(zero.matchedTokens()).isEqualTo(1_500);
      assertThat(one.matchedTokens()).isEqualTo(500);
    }
  }

  @Test
  void savedTokensCountNotTheirShareOfThePrompt() {
    LinearCostWeights weights = LinearCostWeights.DEFAULT;
    double ofShort;
    try (TestFleet fleet = new TestFleet(2).holds(0, 90)) {
      ofShort = -view(explain(Policies.linearCost(weights), fleet, 100), 0).terms().get("prefix");
    }
    try (TestFleet fleet = new TestFleet(2).holds(0, 50_000)) {
      double ofLong =
          -view(explain(Policies.linearCost(weights), fleet, 100_000), 0).terms().get("prefix");
      assertThat(ofShort).isCloseTo(0.09 * weights.prefix(), within(1e-9));
      assertThat(ofLong).isCloseTo(50 * weights.prefix(), within(1e-9));
    }
  }

  @Test
  void whatAllHoldIsNeutral() {
    try (TestFleet fleet = new TestFleet(3)) {
      fleet
          .holds(0, 3_000)
          .holds(1, 3_000)
          .holds(2, 3_000)
          .load(0, 1, 0)
          .load(1, 0, 0)
          .load(2, 1, 0);
      for (RoutingPolicy policy : List.of(Policies.linearCost(), Policies.cacheAware())) {
        assertThat(first(policy, fleet, 4_000)).isEqualTo(1);
      }
      assertThat(explain(Policies.linearCost(), fleet, 4_000).candidates())
          .allSatisfy(v -> assertThat(v.terms().get("prefix")).isZero());
    }
  }

  @Test
  void anUnknownTermIsTheMeanOfTheKnownOnes() {
    try (TestFleet fleet = new TestFleet(3)) {
      double no = TestFleet.UNKNOWN;
      fleet.load(0, 2, 4, 0.2, 0.1).load(1, 4, 2, 0.6, 0.5).load(2, no, no, no, no);
      fleet.latency(0, 100).latency(1, 300);
      LinearCostWeights weights = new LinearCostWeights(1, 1, 1, 1, 1, 1, 1);
      CandidateView unknown = view(explain(Policies.linearCost(weights), fleet, 10), 2);
      assertThat(unknown.terms().get("running")).isCloseTo(3, within(1e-9));
      assertThat(unknown.terms().get("waiting")).isCloseTo(3, within(1e-9));
      assertThat(unknown.terms().get("usage")).isCloseTo(0.4, within(1e-9));
      assertThat(unknown.terms().get("latency")).isCloseTo(1, within(1e-9));
      assertThat(unknown.terms().get("hit_rate")).isCloseTo(-0.3, within(1e-9));
    }
  }

  @Test
  void aRankThatSaysNothingIsNotPreferredToTheIdlestThatDoes() {
    try (TestFleet fleet = new TestFleet(3).load(0, 1, 0).load(1, 7, 3)) {
      for (RoutingPolicy policy :
          List.of(Policies.linearCost(), Policies.cacheAware(), Policies.shortestQueue())) {
        assertThat(TestFleet.walk(policy.plan(fleet.context(1))))
            .as(policy.name())
            .containsExactly(TestFleet.name(0), TestFleet.name(2), TestFleet.name(1));
      }
    }
  }

  @Test
  void nothingKnownIsOwnInFlight() {
    try (TestFleet fleet = new TestFleet(2).own(0, 1, 1_000)) {
      RouteExplanation why = explain(Policies.linearCost(), fleet, 10);
      LinearCostWeights weights = LinearCostWeights.DEFAULT;
      assertThat(view(why, 0).score())
          .isCloseTo(2 * weights.inFlight() + weights.latency(), within(1e-9));
      assertThat(view(why, 1).score()).isCloseTo(weights.latency(), within(1e-9));
    }
  }

  @Test
  void aRankAloneOfWhichNothingIsKnownIsAverage() {
    try (TestFleet fleet = new TestFleet(1)) {
      assertThat(view(explain(Policies.linearCost(), fleet, 10), 0).score())
          .isEqualTo(LinearCostWeights.DEFAULT.latency());
    }
  }

  @Test
  void latencyIsBoundedSoThatASlowRankComesBack() {
    try (TestFleet fleet = new TestFleet(64)) {
      for (int i = 1; i < 64; i++) {
        fleet.latency(i, 10);
      }
      fleet.latency(0, 600_000);
      CandidateView slow = view(explain(Policies.linearCost(), fleet, 10), 0);
      assertThat(slow.terms().get("latency")).isEqualTo(4 * LinearCostWeights.DEFAULT.latency());
    }
  }

  @Test
  void cacheAwareIsTokensToPayFor() {
    try (TestFleet fleet = new TestFleet(2)) {
      fleet.load(0, 3, 1).own(0, 1, 500).holds(0, 6_000).load(1, 2, 0).holds(1, 1_000);
      RouteExplanation why = explain(Policies.cacheAware(), fleet, 8_000);
      assertThat(view(why, 0).terms())
          .containsExactly(entry("load", 5_500.0), entry("uncached", 4_000.0));
      assertThat(view(why, 0).score()).isEqualTo(9_500.0);
      assertThat(view(why, 1).score()).isEqualTo(16_000.0);
    }
  }

  @Test
  void affinityFadesWithoutACliff() {
    try (TestFleet fleet = new TestFleet(2).holds(0, 10_000).load(1, 0, 0)) {
      int left = -1;
      for (int running = 0; running <= 40; running++) {
        fleet.load(0, running, 0);
        int first = first(Policies.cacheAware(), fleet, 12_000);
        // Followed while the load ahead costs less than what the prefix saves, and only then.
        if (running != 20) {
          assertThat(first).as("%d running", running).isEqualTo(running < 20 ? 0 : 1);
        }
        left = Math.max(left, first);
      }
      assertThat(left).isEqualTo(1);
    }
  }

  @Test
  void allButColdRequestsGoByLoad() {
    try (TestFleet fleet = new TestFleet(3).load(0, 2, 0).load(1, 1, 0).load(2, 4, 0)) {
      fleet.holds(0, 40).holds(2, 80);
      assertThat(first(Policies.cacheAware(), fleet, 50_000)).isEqualTo(1);
      assertThat(first(Policies.linearCost(), fleet, 50_000)).isEqualTo(1);
    }
  }

  @Test
  void noHolderIsClaimedToHoldMoreThanThePrompt() {
    try (TestFleet fleet = new TestFleet(2).holds(0, 9_000)) {
      assertThat(view(explain(Policies.cacheAware(), fleet, 100), 0).matchedTokens())
          .isEqualTo(100);
    }
  }
}
