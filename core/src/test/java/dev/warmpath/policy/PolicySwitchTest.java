package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.api.RouteOptions;
import dev.warmpath.health.Availability;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PolicySwitchTest {
  private static final RoutingPolicy POLICY = Policies.parse("session");

  private final TestFleet fleet = new TestFleet(4);
  private final PolicySwitch policies = fleet.environment().policySwitch();

  PolicySwitchTest() {
    for (int i = 0; i < 4; i++) {
      fleet.availability(i, Availability.UP).load(i, 1, 0).holds(i, 100 * i);
    }
  }

  @AfterEach
  void close() {
    fleet.close();
  }

  private RouteContext context(int session, long seed) {
    RouteOptions options = TestFleet.session("s" + session);
    return fleet.context(1_000, options, seed);
  }

  private RoutingPolicy chosen(int session, long seed) {
    return policies.choose(POLICY, context(session, seed));
  }

  private Map<String, Integer> names() {
    Map<String, Integer> names = new HashMap<>();
    for (int session = 0; session < 2_000; session++) {
      names.merge(chosen(session, session).name(), 1, Integer::sum);
    }
    return names;
  }

  @Test
  void thePolicyDecidesWhileNothingIsSet() {
    assertThat(chosen(1, 1)).isSameAs(POLICY);
    assertThat(policies.note()).isNull();
  }

  @Test
  void theKillSwitchIsPlainRoundRobinUntilItIsRestored() {
    policies.roundRobin();
    assertThat(policies.bypassed()).isTrue();
    int[] counts = new int[4];
    for (int i = 0; i < 40; i++) {
      RoutingPolicy by = chosen(7, i);
      assertThat(by.name()).isEqualTo("bypass:round_robin");
      counts[TestFleet.first(by, context(7, i))]++;
    }
    assertThat(counts).containsOnly(10);
    assertThat(chosen(7, 1).explain(context(7, 1)).steps().get(0)).contains("switched off");
    policies.restore();
    assertThat(chosen(7, 1)).isSameAs(POLICY);
  }

  @Test
  void aRolloutTakesItsShareOfConversationsAndEachStays() {
    policies.settings(RolloutSettings.DEFAULT.share(0.2));
    Map<String, Integer> names = names();
    assertThat(names.get("session")).isBetween(340, 460);
    assertThat(names).containsOnlyKeys("session", "baseline:shortest_queue");
    for (int session = 0; session < 100; session++) {
      String first = chosen(session, 1).name();
      for (long seed = 2; seed < 6; seed++) {
        assertThat(chosen(session, seed).name()).isEqualTo(first);
      }
    }
  }

  @Test
  void aLargerRolloutKeepsWhomASmallerOneHad() {
    for (int session = 0; session < 300; session++) {
      policies.settings(RolloutSettings.DEFAULT.share(0.2));
      boolean had = chosen(session, 1) == POLICY;
      policies.settings(RolloutSettings.DEFAULT.share(0.6));
      assertThat(!had || chosen(session, 1) == POLICY).isTrue();
      policies.settings(RolloutSettings.DEFAULT.share(0));
      assertThat(chosen(session, 1)).isNotSameAs(POLICY);
    }
  }

  @Test
  void aShadowRecordsWhatItWouldDoAndSendsByTheBaseline() {
    policies.settings(RolloutSettings.DEFAULT.baseline(Policies.parse("pin>random")).shadow(true));
    int agreed = 0;
    int decisions = 400;
    for (int i = 0; i < decisions; i++) {
      RouteContext context = context(i, i);
      RoutingPolicy by = policies.choose(POLICY, context);
      assertThat(by.name()).isEqualTo("shadow:pin>random");
      assertThat(TestFleet.walk(by.plan(context)))
          .isEqualTo(TestFleet.walk(Policies.parse("pin>random").plan(context)));
      boolean same =
          TestFleet.first(POLICY, context) == TestFleet.first(Policies.random(), context);
      agreed += same ? 1 : 0;
    }
    assertThat(policies.shadows().decisions()).isEqualTo(decisions);
    assertThat(policies.shadows().agreed()).isEqualTo(agreed).isBetween(60L, 140L);
    assertThat(policies.shadows().wentMatch()).isPositive();
    assertThat(policies.lastShadows()).hasSize(ShadowRecord.KEPT);
    RouteContext context = context(1, 1);
    RoutingPolicy by = policies.choose(POLICY, context);
    assertThat(by.explain(context).steps().get(0)).startsWith("shadow: session would send it to");
    assertThat(policies.shadows().decisions())
        .as("explaining records nothing")
        .isEqualTo(decisions);
  }

  @Test
  void affinityThatHurtsPlacesFewerConversationsAndDecisionsSayIt() {
    policies.settings(RolloutSettings.DEFAULT.control(0.1));
    assertThat(names()).containsOnlyKeys("session", "control:shortest_queue");
    long now = 1;
    for (int session = 0; session < 2_000; session++) {
      now += 100_000_000L;
      RoutingPolicy by = chosen(session, session);
      double millis = by == POLICY ? 1_617 : 627;
      policies.firstToken(by, millis + session % 50, now);
    }
    assertThat(policies.affinityWeight()).isLessThan(1);
    assertThat(policies.note()).contains("times the control group's");
    Map<String, Integer> names = names();
    assertThat(names).containsKeys("session", "control:shortest_queue", "retreat:shortest_queue");
    double placed = names.get("session") / 2_000.0;
    assertThat(placed).isBetween(0.7 * policies.affinityWeight(), 1.2 * policies.affinityWeight());
  }

  @Test
  void sharesOutOfRangeAreRefused() {
    assertThatThrownBy(() -> RolloutSettings.DEFAULT.share(1.5)).hasMessageContaining("share");
    assertThatThrownBy(() -> RolloutSettings.DEFAULT.control(0.6)).hasMessageContaining("control");
  }
}
