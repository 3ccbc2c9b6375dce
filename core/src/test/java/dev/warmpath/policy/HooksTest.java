package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.health.Availability;
import dev.warmpath.prompt.Prompt;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** An application's own scorers, filters and policies. */
class HooksTest {
  /** The worker's number: w7 scores 7. */
  private static final Scorer NUMBER =
      (context, candidate, state, matched) ->
          Integer.parseInt(candidate.worker().id().uri().getHost().substring(1));

  @Test
  void scorersAreSummedByWeight() {
    try (TestFleet fleet = new TestFleet(3).holds(1, 500)) {
      RoutingPolicy policy =
          Policies.scored(
              "mine",
              List.of(
                  new WeightedScorer("number", NUMBER, 2),
                  new WeightedScorer("held", (c, r, s, matched) -> matched, -0.01)));
      assertThat(policy.name()).isEqualTo("mine");
      List<CandidateView> views = policy.explain(fleet.context(1)).candidates();
      assertThat(views).extracting(CandidateView::score).containsExactly(-3.0, 0.0, 4.0);
      assertThat(views.get(0).terms()).containsExactly(entry("number", 2.0), entry("held", -5.0));
      assertThat(views).allSatisfy(v -> assertThat(v.step()).isEqualTo("mine"));
    }
  }

  @Test
  void anUnknownScoreIsTheMeanAndAllUnknownIsNoOpinion() {
    try (TestFleet fleet = new TestFleet(3)) {
      Scorer partial =
          (c, r, s, m) -> {
            double number = NUMBER.score(c, r, s, m);
            return number == 1 ? Double.NaN : number;
          };
      RoutingPolicy policy = Policies.scored("p", List.of(new WeightedScorer("p", partial, -1)));
      assertThat(policy.explain(fleet.context(1)).candidates())
          .extracting(CandidateView::score)
          .containsExactly(-2.0, -1.0, 0.0);
      RoutingPolicy unknown =
          Policies.scored("u", List.of(new WeightedScorer("u", (c, r, s, m) -> Double.NaN, 1)));
      fleet.load(0, 2, 0).load(1, 1, 0).load(2, 2, 0);
      RoutePlan plan = Policies.chain(unknown, Policies.shortestQueue()).plan(fleet.context(1));
      assertThat(TestFleet.drain(plan).get(0).step()).isEqualTo("shortest_queue");
    }
  }

  @Test
  void aScorerThatThrowsCountsAsUnknown() {
    try (TestFleet fleet = new TestFleet(3)) {
      Scorer broken =
          (c, r, s, m) -> {
            throw new IllegalStateException("broken");
          };
      RoutingPolicy policy =
          Policies.scored(
              "p", List.of(new WeightedScorer("b", broken, 1), new WeightedScorer("n", NUMBER, 1)));
      assertThat(TestFleet.walk(policy.plan(fleet.context(1))))
          .containsExactly(TestFleet.name(0), TestFleet.name(1), TestFleet.name(2));
    }
  }

  @Test
  void scorersStandBesideTheBuiltInTerms() {
    try (TestFleet fleet = new TestFleet(3)) {
      fleet.load(0, 3, 0).load(1, 2, 0).load(2, 1, 0);
      RoutingPolicy policy =
          Policies.linearCost(
              LinearCostWeights.builder().latency(0).build(),
              List.of(new WeightedScorer("number", NUMBER, 10)));
      List<CandidateView> views = policy.explain(fleet.context(1)).candidates();
      assertThat(views).extracting(CandidateView::score).containsExactly(3.0, 12.0, 21.0);
      assertThat(views.get(1).terms()).contains(entry("running", 2.0), entry("number", 10.0));
    }
  }

  @Test
  void whatAFilterRefusesIsNeverTried() {
    try (TestFleet fleet = new TestFleet(4).availability(3, Availability.DOWN)) {
      WorkerFilter odd = (c, r, s) -> NUMBER.score(c, r, s, 0) % 2 == 1;
      RoutingPolicy policy = Policies.filtered(Policies.standard(), odd);
      assertThat(policy.name()).isEqualTo(Policies.standard().name());
      RouteContext context = fleet.context(10, TestFleet.pinned("http://w2:1"), 1);
      assertThat(TestFleet.walk(policy.plan(context)))
          .containsExactly(TestFleet.name(1), TestFleet.name(3));
      RouteExplanation why = policy.explain(context);
      assertThat(why.candidates()).hasSize(4);
      assertThat(why.candidates().subList(2, 4))
          .allSatisfy(v -> assertThat(v.step()).isEqualTo("filter"))
          .allSatisfy(v -> assertThat(v.score()).isNaN());
      assertThat(why.steps())
          .contains(
              "4 candidates for role regular, 1 down, 2 left out by a filter",
              "pin http://w2:1 is left out by a filter: ignored");
    }
  }

  @Test
  void filtersOfAPartHoldForTheChainAndAllMustAccept() {
    try (TestFleet fleet = new TestFleet(4)) {
      RoutingPolicy inner =
          Policies.filtered(Policies.pin(), (c, r, s) -> NUMBER.score(c, r, s, 0) != 0);
      RoutingPolicy policy =
          Policies.filtered(
              Policies.chain(inner, Policies.random()),
              (c, r, s) -> NUMBER.score(c, r, s, 0) != 1,
              (c, r, s) -> NUMBER.score(c, r, s, 0) != 2);
      assertThat(TestFleet.walk(policy.plan(fleet.context(1)))).containsExactly(TestFleet.name(3));
    }
  }

  @Test
  void aFilterThatRefusesAllLeavesNothing() {
    try (TestFleet fleet = new TestFleet(2)) {
      RoutingPolicy policy = Policies.filtered(Policies.random(), (c, r, s) -> false);
      assertThat(policy.plan(fleet.context(1)).next()).isNull();
      RouteExplanation why = policy.explain(fleet.context(1));
      assertThat(why.candidates()).hasSize(2);
      assertThat(why.steps())
          .containsExactly("2 candidates for role regular, 2 left out by a filter");
    }
  }

  @Test
  void aFilterThatThrowsAccepts() {
    try (TestFleet fleet = new TestFleet(2)) {
      WorkerFilter broken =
          (c, r, s) -> {
            throw new IllegalStateException("broken");
          };
      RoutingPolicy policy = Policies.filtered(Policies.random(), broken);
      assertThat(TestFleet.walk(policy.plan(fleet.context(1)))).hasSize(2);
    }
  }

  @Test
  void aPrefixSourceThatThrowsKnowsNothing() {
    RoutingEnvironment environment =
        RoutingEnvironment.builder()
            .prefixes(
                () ->
                    new PrefixSource.Query() {
                      @Override
                      public void match(Prompt prompt) {
                        throw new IllegalStateException("broken");
                      }

                      @Override
                      public int tokens(long holderId) {
                        return 1_000;
                      }
                    })
            .build();
    try (TestFleet fleet = new TestFleet(2).load(0, 1, 0).load(1, 2, 0)) {
      RouteContext any = fleet.context(1);
      RouteContext context =
          new RouteContext(
              any.fleet(),
              any.candidates(),
              any.prompt(),
              any.options(),
              environment,
              fleet.now,
              1,
              false);
      for (String name : List.of("cache_aware", "shortest_queue")) {
        List<Candidate> all = TestFleet.drain(Policies.parse(name).plan(context));
        assertThat(all)
            .extracting(c -> c.target().toString())
            .containsExactly(TestFleet.name(0), TestFleet.name(1));
        assertThat(all).extracting(Candidate::matchedTokens).containsOnly(0);
      }
    }
  }

  @Test
  void anOwnPolicyCanBePartOfAChain() {
    try (TestFleet fleet = new TestFleet(3).load(0, 0, 0).load(1, 1, 0).load(2, 9, 0)) {
      RoutingPolicy policy = Policies.chain(Policies.pin(), new LastFirst(), Policies.random());
      assertThat(policy.name()).isEqualTo("pin>last_first>random");
      List<Candidate> all = TestFleet.drain(policy.plan(fleet.context(1)));
      assertThat(all)
          .extracting(c -> c.target().toString())
          .containsExactly(TestFleet.name(2), TestFleet.name(1), TestFleet.name(0));
      assertThat(all).extracting(Candidate::step).containsOnly("last_first");
      RouteContext pinned = fleet.context(10, TestFleet.pinned("http://w0:1"), 1);
      assertThat(TestFleet.walk(policy.plan(pinned)))
          .containsExactly(TestFleet.name(0), TestFleet.name(2), TestFleet.name(1));
    }
  }

  /** The candidates backwards. */
  private static final class LastFirst implements RoutingPolicy {
    @Override
    public String name() {
      return "last_first";
    }

    @Override
    public RoutePlan plan(RouteContext context) {
      List<Candidate> left = new ArrayList<>();
      context
          .candidates()
          .asList()
          .forEach(rank -> left.add(0, new Candidate(rank, name(), 0, 0, false)));
      return () -> left.isEmpty() ? null : left.remove(0);
    }

    @Override
    public RouteExplanation explain(RouteContext context) {
      return new RouteExplanation(List.of(), List.of());
    }
  }
}
