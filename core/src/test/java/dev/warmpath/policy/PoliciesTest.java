package dev.warmpath.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class PoliciesTest {
  @Test
  void theDefaultHonoursPinsAndThenStaysAtHome() {
    assertThat(Policies.standard().name()).isEqualTo("pin>homing>shortest_queue");
  }

  @Test
  void everyNameParsesToThePolicyOfThatName() {
    assertThat(Policies.names())
        .containsExactlyInAnyOrder(
            "round_robin",
            "random",
            "power_of_two",
            "shortest_queue",
            "homing",
            "cache_aware",
            "linear_cost",
            "pin",
            "session",
            "umbp",
            "knowledge")
        .filteredOn(name -> !name.equals("umbp") && !name.equals("knowledge"))
        .allSatisfy(name -> assertThat(Policies.parse(name).name()).isEqualTo(name));
  }

  @Test
  void chainsParseWithSpaces() {
    assertThat(Policies.parse(" pin > cache_aware>shortest_queue").name())
        .isEqualTo("pin>cache_aware>shortest_queue");
  }

  @Test
  void anUnknownNameIsToldWithTheKnownOnes() {
    assertThatThrownBy(() -> Policies.parse("pin>cache_awar"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("unknown policy 'cache_awar' in 'pin>cache_awar'")
        .hasMessageContaining("cache_aware, linear_cost, pin, session");
    assertThatThrownBy(() -> Policies.parse("")).hasMessageContaining("unknown policy ''");
    assertThatThrownBy(() -> Policies.parse("pin>")).hasMessageContaining("unknown policy ''");
  }

  @Test
  void aChainOfChainsIsOneChain() {
    RoutingPolicy inner = Policies.chain(Policies.pin(), Policies.session());
    assertThat(Policies.chain(inner, Policies.random()).name()).isEqualTo("pin>session>random");
  }

  @Test
  void emptyCompositionsAreRefused() {
    assertThatThrownBy(Policies::chain).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Policies.scored("mine", List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("mine");
  }

  @Test
  void weightsAreChecked() {
    assertThatThrownBy(() -> LinearCostWeights.builder().usage(-1).build())
        .hasMessageContaining("usage=-1.0");
    assertThatThrownBy(() -> LinearCostWeights.builder().prefix(Double.NaN).build())
        .hasMessageContaining("prefix=NaN");
    assertThatThrownBy(() -> new WeightedScorer("x", (c, r, s, m) -> 0, Double.NaN))
        .hasMessageContaining("x");
    assertThat(LinearCostWeights.builder().build()).isEqualTo(LinearCostWeights.DEFAULT);
    assertThat(LinearCostWeights.DEFAULT.waiting())
        .isEqualTo(2 * LinearCostWeights.DEFAULT.running());
  }
}
