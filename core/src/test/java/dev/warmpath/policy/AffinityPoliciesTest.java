package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.api.RouteOptions;
import dev.warmpath.health.Availability;
import java.util.List;
import org.junit.jupiter.api.Test;

class AffinityPoliciesTest {
  private static final RoutingPolicy PIN_FIRST = Policies.parse("pin>shortest_queue");

  private static Candidate firstOf(RoutingPolicy policy, RouteContext context) {
    return TestFleet.drain(policy.plan(context)).get(0);
  }

  @Test
  void aPinIsPreferredOverEverything() {
    try (TestFleet fleet = new TestFleet(4).load(2, 50, 50)) {
      for (String pin : List.of("http://w2:1", "HTTP://W2:1/", " http://w2:1")) {
        Candidate first = firstOf(PIN_FIRST, fleet.context(10, TestFleet.pinned(pin), 1));
        assertThat(first.target().toString()).isEqualTo(TestFleet.name(2));
        assertThat(first.step()).isEqualTo("pin");
      }
    }
  }

  @Test
  void theRestOfAPinnedPlanIsTheNextPartsOrder() {
    try (TestFleet fleet = new TestFleet(3).load(0, 2, 0).load(1, 1, 0).load(2, 5, 0)) {
      RoutePlan plan = PIN_FIRST.plan(fleet.context(10, TestFleet.pinned("http://w2:1"), 1));
      List<Candidate> all = TestFleet.drain(plan);
      assertThat(all)
          .extracting(c -> c.target().toString())
          .containsExactly("http://w2:1", "http://w1:1", "http://w0:1");
      assertThat(all)
          .extracting(Candidate::step)
          .containsExactly("pin", "shortest_queue", "shortest_queue");
    }
  }

  @Test
  void aPinMayNameARank() {
    try (TestFleet fleet = new TestFleet(2, 4)) {
      RouteOptions options = TestFleet.pinned("http://w1:1#3");
      assertThat(firstOf(PIN_FIRST, fleet.context(10, options, 1)).target().toString())
          .isEqualTo("http://w1:1#3");
    }
  }

  @Test
  void aPinThatNamesNoRankLeavesTheChoiceAmongThemToTheNextPart() {
    try (TestFleet fleet = new TestFleet(2, 3)) {
      for (int i = 0; i < 6; i++) {
        fleet.load(i, i == 4 ? 1 : i == 0 ? 0 : 7, 0);
      }
      Candidate first = firstOf(PIN_FIRST, fleet.context(10, TestFleet.pinned("http://w1:1"), 1));
      assertThat(first.target().toString()).isEqualTo("http://w1:1#1");
    }
  }

  @Test
  void aPinThatNamesNobodyIsNoOpinionAndIsTold() {
    try (TestFleet fleet = new TestFleet(3).load(0, 1, 0).load(1, 0, 0).load(2, 1, 0)) {
      for (String pin :
          List.of("http://nobody:1", "http://w0:1#0", "http://w0:1#x", "http://w0:1#", "w0", "")) {
        RouteContext context = fleet.context(10, TestFleet.pinned(pin), 1);
        Candidate first = firstOf(PIN_FIRST, context);
        assertThat(first.target().toString()).as(pin).isEqualTo(TestFleet.name(1));
        assertThat(first.step()).as(pin).isEqualTo("shortest_queue");
        assertThat(PIN_FIRST.explain(context).steps())
            .as(pin)
            .contains("pin " + pin + " is none of the candidates: ignored");
      }
    }
  }

  @Test
  void aPinToTheSickWaitsForTheLastResort() {
    try (TestFleet fleet = new TestFleet(3).availability(0, Availability.DOWN)) {
      RouteContext context = fleet.context(10, TestFleet.pinned("http://w0:1"), 1);
      List<Candidate> all = TestFleet.drain(PIN_FIRST.plan(context));
      assertThat(all.get(2).target().toString()).isEqualTo("http://w0:1");
      assertThat(all).extracting(Candidate::lastResort).containsExactly(false, false, true);
      assertThat(PIN_FIRST.explain(context).steps())
          .contains("pin http://w0:1 is down: a last resort");
    }
  }

  @Test
  void sessionsStickAndSpread() {
    try (TestFleet fleet = new TestFleet(4);
        TestFleet other = new TestFleet(4)) {
      other.registry.restarted(other.rank(1).worker().id(), other.rank(1).worker().epoch());
      int[] counts = new int[4];
      for (int i = 0; i < 4_000; i++) {
        RouteOptions options = TestFleet.session("session-" + i);
        RouteContext context = fleet.context(10, options, i);
        int first = TestFleet.first(Policies.session(), context);
        counts[first]++;
        // Another client, another time, another incarnation of a worker.
        assertThat(TestFleet.first(Policies.session(), other.context(10, options, -i)))
            .isEqualTo(first);
      }
      for (int count : counts) {
        assertThat(count).isBetween(890, 1_110);
      }
    }
  }

  @Test
  void theUserIsTheKeyWhereThereIsNoSession() {
    try (TestFleet fleet = new TestFleet(8)) {
      RoutingPolicy policy = Policies.session();
      List<String> bySession =
          TestFleet.walk(policy.plan(fleet.context(10, TestFleet.session("ann"), 1)));
      assertThat(TestFleet.walk(policy.plan(fleet.context(10, TestFleet.user("ann"), 2))))
          .isEqualTo(bySession);
      RouteOptions both = new RouteOptions(null, 0, "ann", "bob", null, null);
      assertThat(TestFleet.walk(policy.plan(fleet.context(10, both, 3)))).isEqualTo(bySession);
    }
  }

  @Test
  void withoutAKeySessionHasNoOpinion() {
    try (TestFleet fleet = new TestFleet(3).load(0, 1, 0).load(1, 0, 0).load(2, 1, 0)) {
      RoutingPolicy policy = Policies.parse("session>shortest_queue");
      Candidate first = firstOf(policy, fleet.context(1));
      assertThat(first.step()).isEqualTo("shortest_queue");
      assertThat(first.target().toString()).isEqualTo(TestFleet.name(1));
      assertThat(policy.explain(fleet.context(1)).steps()).contains("no session key");
    }
  }

  @Test
  void noOpinionAtAllIsChance() {
    try (TestFleet fleet = new TestFleet(3)) {
      Candidate first = firstOf(Policies.parse("pin>session"), fleet.context(1));
      assertThat(first.step()).isEqualTo("session");
      assertThat(first.score()).isNaN();
    }
  }
}
