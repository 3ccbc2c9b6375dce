package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.api.RouteOptions;
import dev.warmpath.index.BlockLocations;
import dev.warmpath.index.TestLocations;
import dev.warmpath.prompt.TestPrompts;
import dev.warmpath.worker.WorkerRank;
import org.junit.jupiter.api.Test;

/** Scores worked out by hand; 1,000 tokens weigh as much as a request. */
class UmbpPolicyTest {
  private static final int TOKENS = 4_000;

  private static RouteContext context(TestFleet fleet, BlockLocations located) {
    return context(fleet, located, RouteOptions.NONE);
  }

  private static RouteContext context(
      TestFleet fleet, BlockLocations located, RouteOptions options) {
    return new RouteContext(
        fleet.view(),
        fleet.candidates(),
        TestPrompts.ofTokens(TOKENS),
        options,
        fleet.environment(),
        fleet.now,
        1,
        false,
        located);
  }

  private static CandidateView view(RouteExplanation why, int worker) {
    return why.candidates().stream()
        .filter(v -> v.worker().equals(TestFleet.name(worker)))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aBlockCountsByItsTier() {
    try (TestFleet fleet = new TestFleet(3)) {
      BlockLocations located =
          new TestLocations()
              .holds(fleet.rank(0), 100, 0, 0, 20)
              .holds(fleet.rank(1), 100, 0, 12, 0)
              .holds(fleet.rank(2), 100, 8, 0, 0)
              .found();
      // 20 * 0.25 = 5, 12 * 0.75 = 9, 8 * 1 = 8 blocks of 100 tokens.
      RouteExplanation why = Policies.located().explain(context(fleet, located));
      assertThat(view(why, 0).terms().get("uncached")).isCloseTo(2 * 3_500, within(1e-9));
      assertThat(view(why, 1).terms().get("uncached")).isCloseTo(2 * 3_100, within(1e-9));
      assertThat(view(why, 2).terms().get("uncached")).isCloseTo(2 * 3_200, within(1e-9));
      assertThat(why.candidates()).extracting(CandidateView::worker).startsWith(TestFleet.name(1));
      // What needs no computing is whole, whatever fetching it costs.
      assertThat(view(why, 0).matchedTokens()).isEqualTo(2_000);
    }
  }

  @Test
  void matchesArePricedAgainstLoad() {
    try (TestFleet fleet = new TestFleet(2).load(0, 9, 0).load(1, 0, 0)) {
      BlockLocations some = new TestLocations().holds(fleet.rank(0), 100, 30, 0, 0).found();
      assertThat(TestFleet.first(Policies.umbp(), context(fleet, some))).isEqualTo(1);
      fleet.load(0, 5, 0);
      assertThat(TestFleet.first(Policies.umbp(), context(fleet, some))).isZero();
    }
  }

  @Test
  void theOwnIndexDecidesWhereNothingIsTold() {
    try (TestFleet fleet = new TestFleet(3).holds(2, 3_000)) {
      for (BlockLocations nothing :
          new BlockLocations[] {
            BlockLocations.NONE, TestLocations.failed(), TestLocations.empty()
          }) {
        Candidate first = Policies.umbp().plan(context(fleet, nothing)).next();
        assertThat(first).isNotNull();
        assertThat(first.step()).isEqualTo("cache_aware");
        assertThat(first.target()).isEqualTo(fleet.rank(2));
      }
    }
  }

  @Test
  void whatOnlyTheClientKnowsCountsBesides() {
    try (TestFleet fleet = new TestFleet(2).holds(0, 3_000).holds(1, 1_000)) {
      BlockLocations located =
          new TestLocations()
              .holds(fleet.rank(0), 100, 0, 0, 20)
              .holds(fleet.rank(1), 100, 0, 0, 20)
              .found();
      RouteExplanation why = Policies.located().explain(context(fleet, located));
      // 2,000 tokens at a quarter and 1,000 that were sent there since; what is told lies on a
      // disk.
      assertThat(view(why, 0).terms().get("uncached")).isCloseTo(2 * 2_500, within(1e-9));
      assertThat(view(why, 1).terms().get("uncached")).isCloseTo(2 * 3_500, within(1e-9));
      assertThat(view(why, 0).matchedTokens()).isEqualTo(3_000);
      assertThat(view(why, 1).matchedTokens()).isEqualTo(2_000);
    }
  }

  @Test
  void anEnginesOwnWordGoesBeforeTheStores() {
    try (TestFleet fleet = new TestFleet(4).tells(0, 1_000).tells(1, 2_000).holds(3, 1_000)) {
      BlockLocations located =
          new TestLocations()
              .holds(fleet.rank(0), 100, 30, 0, 0)
              .holds(fleet.rank(1), 100, 0, 0, 10)
              .holds(fleet.rank(2), 100, 0, 12, 0)
              .holds(fleet.rank(3), 100, 0, 0, 20)
              .found();
      RouteExplanation why = Policies.located().explain(context(fleet, located));
      // What was evicted since, and what is not on a disk only, the engine knows.
      assertThat(view(why, 0).terms().get("uncached")).isCloseTo(2 * 3_000, within(1e-9));
      assertThat(view(why, 0).matchedTokens()).isEqualTo(1_000);
      assertThat(view(why, 1).terms().get("uncached")).isCloseTo(2 * 2_000, within(1e-9));
      assertThat(view(why, 1).matchedTokens()).isEqualTo(2_000);
      // Of others the store is heard, and a guess of the same blocks adds nothing.
      assertThat(view(why, 2).terms().get("uncached")).isCloseTo(2 * 3_100, within(1e-9));
      assertThat(view(why, 3).terms().get("uncached")).isCloseTo(2 * 3_500, within(1e-9));
      assertThat(view(why, 3).matchedTokens()).isEqualTo(2_000);
    }
  }

  @Test
  void theStoreHasNoOpinionOfRanksThatAllTellThemselves() {
    try (TestFleet fleet = new TestFleet(2).tells(0, 0).tells(1, 500)) {
      BlockLocations located = new TestLocations().holds(fleet.rank(0), 100, 30, 0, 0).found();
      Candidate first = Policies.umbp().plan(context(fleet, located)).next();
      assertThat(first.step()).isEqualTo("cache_aware");
      assertThat(first.target()).isEqualTo(fleet.rank(1));
    }
  }

  @Test
  void whatAPinnedRankHoldsIsItsEnginesWordToo() {
    try (TestFleet fleet = new TestFleet(2).tells(0, 500).holds(1, 500)) {
      BlockLocations located =
          new TestLocations()
              .holds(fleet.rank(0), 100, 30, 0, 0)
              .holds(fleet.rank(1), 100, 30, 0, 0)
              .found();
      for (int i = 0; i < 2; i++) {
        RouteContext pinned = context(fleet, located, TestFleet.pinned(TestFleet.name(i)));
        assertThat(Policies.umbp().plan(pinned).next().matchedTokens())
            .isEqualTo(i == 0 ? 500 : 3_000);
      }
    }
  }

  @Test
  void linearCostTakesMatchesIntoItsPrefixTerm() {
    try (TestFleet fleet = new TestFleet(3).holds(0, 400)) {
      BlockLocations located =
          new TestLocations()
              .holds(fleet.rank(1), 100, 4, 4, 4)
              .holds(fleet.rank(2), 100, 10, 0, 0)
              .found();
      RouteExplanation why = Policies.linearCost().explain(context(fleet, located));
      double weight = LinearCostWeights.DEFAULT.prefix();
      // All hold at least 400 by worth: only what goes beyond makes a difference.
      assertThat(view(why, 0).terms().get("prefix")).isCloseTo(0, within(1e-9));
      assertThat(view(why, 1).terms().get("prefix")).isCloseTo(-weight * 0.4, within(1e-9));
      assertThat(view(why, 2).terms().get("prefix")).isCloseTo(-weight * 0.6, within(1e-9));
    }
  }

  @Test
  void cacheAwareStaysWithTheClientsOwnIndex() {
    try (TestFleet fleet = new TestFleet(2).holds(0, 1_000)) {
      BlockLocations located = new TestLocations().holds(fleet.rank(1), 100, 30, 0, 0).found();
      assertThat(TestFleet.first(Policies.cacheAware(), context(fleet, located))).isZero();
    }
  }

  @Test
  void aPinComesFirst() {
    try (TestFleet fleet = new TestFleet(2)) {
      BlockLocations located = new TestLocations().holds(fleet.rank(1), 100, 30, 0, 0).found();
      RouteContext pinned = context(fleet, located, TestFleet.pinned(TestFleet.name(0)));
      assertThat(TestFleet.first(Policies.umbp(), pinned)).isZero();
      assertThat(TestFleet.first(Policies.umbp(), context(fleet, located))).isEqualTo(1);
    }
  }

  @Test
  void aMatchOfAnEarlierLifeCountsForNothing() {
    try (TestFleet fleet = new TestFleet(2)) {
      WorkerRank before = fleet.rank(1);
      BlockLocations located = new TestLocations().holds(before, 100, 30, 0, 0).found();
      assertThat(TestFleet.first(Policies.umbp(), context(fleet, located))).isEqualTo(1);
      fleet.registry.remove(before.worker().id());
      fleet.registry.add(TestFleet.spec(1).build());
      WorkerRank after = fleet.candidates().find(before.worker().id(), -1);
      assertThat(after.holderId()).isNotEqualTo(before.holderId());
      assertThat(located.tokens(before.holderId())).isEqualTo(3_000);
      assertThat(located.tokens(after.holderId())).isZero();
      assertThat(Policies.umbp().plan(context(fleet, located)).next().step()).isNotEqualTo("umbp");
    }
  }

  @Test
  void aloneTheNameIsTheChainAndAmongOthersAPart() {
    assertThat(Policies.parse("umbp").name()).isEqualTo("pin>umbp>cache_aware>shortest_queue");
    assertThat(Policies.parse(Policies.umbp().name()).name()).isEqualTo(Policies.umbp().name());
    assertThat(Policies.parse("session>umbp").name()).isEqualTo("session>umbp");
  }
}
