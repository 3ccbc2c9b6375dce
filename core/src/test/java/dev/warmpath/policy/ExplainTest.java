package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.api.RouteDecision.CandidateView;
import dev.warmpath.health.Availability;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class ExplainTest {
  @Test
  void tellsEachCandidateBestFirstAndTheSteps() {
    try (TestFleet fleet = new TestFleet(3, 2)) {
      for (int i = 0; i < 6; i++) {
        fleet.load(i, i, 0);
      }
      fleet.availability(0, Availability.SUSPECT).availability(5, Availability.UP);
      RouteExplanation why =
          Policies.parse("pin>linear_cost>shortest_queue").explain(fleet.context(1));
      assertThat(why.candidates())
          .extracting(v -> v.worker() + "#" + v.rank())
          .containsExactly(
              "http://w0:1#1",
              "http://w1:1#0",
              "http://w1:1#1",
              "http://w2:1#0",
              "http://w2:1#1",
              "http://w0:1#0");
      assertThat(why.candidates())
          .extracting(CandidateView::state)
          .containsExactly("unknown", "unknown", "unknown", "unknown", "up", "suspect");
      assertThat(why.candidates()).extracting(CandidateView::role).containsOnly("regular");
      assertThat(why.steps())
          .containsExactly(
              "6 candidates for role regular, 1 suspect", "linear_cost prefers http://w0:1#1");
    }
  }

  @Test
  void aWorkerWithoutRanksNamesNone() {
    try (TestFleet fleet = new TestFleet(1)) {
      assertThat(Policies.random().explain(fleet.context(1)).candidates().get(0).rank()).isNull();
    }
  }

  @Test
  void saysNothingOfTheSessionKey() {
    try (TestFleet fleet = new TestFleet(3)) {
      RouteContext context = fleet.context(10, TestFleet.session("s3cret-session"), 1);
      RouteExplanation why = Policies.parse("session>random").explain(context);
      assertThat(why.toString().toLowerCase(Locale.ROOT)).doesNotContain("s3cret");
    }
  }

  @Test
  void ofNobodyIsEmpty() {
    try (TestFleet fleet = new TestFleet(0)) {
      for (String name : Policies.names()) {
        RoutingPolicy policy = Policies.parse(name);
        assertThat(policy.plan(fleet.context(1)).next()).isNull();
        RouteExplanation why = policy.explain(fleet.context(1));
        assertThat(why.candidates()).isEmpty();
        assertThat(why.steps()).containsExactly("0 candidates for role regular");
      }
    }
  }
}
