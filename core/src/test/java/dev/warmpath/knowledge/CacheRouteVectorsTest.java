package dev.warmpath.knowledge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** CacheRoute's own decisions, in the two orders that it was published with. */
class CacheRouteVectorsTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  static Stream<Arguments> cases() throws IOException {
    return Stream.concat(
        cases("cacheroute_vectors", StageOrder.LOAD_FIRST, LoadWindow.RATIO),
        cases("cacheroute_vectors_documented_order", StageOrder.DOCUMENTED, LoadWindow.IN_FLIGHT));
  }

  private static Stream<Arguments> cases(String file, StageOrder order, LoadWindow window)
      throws IOException {
    KnowledgeSettings settings =
        KnowledgeSettings.builder().order(order).window(window).strictReference(true).build();
    try (InputStream in =
        CacheRouteVectorsTest.class.getResourceAsStream("/vectors/cacheroute/" + file + ".json")) {
      JsonNode all = JSON.readTree(in);
      List<Arguments> cases =
          StreamSupport.stream(all.spliterator(), false)
              .map(one -> Arguments.of(one.get("name").textValue(), one, settings))
              .toList();
      return cases.stream();
    }
  }

  @Test
  void thereAreThirtyFive() throws IOException {
    assertThat(cases().count()).isEqualTo(35);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void decidesAsTheOriginal(String name, JsonNode vector, KnowledgeSettings settings) {
    KnowledgeReplay replay = KnowledgeReplay.parse(vector.toString());

    KnowledgeReplay.Outcome outcome = replay.run(replay.settings(settings));

    KnowledgeDecision decision = outcome.decision();
    JsonNode expected = vector.get("expect");
    assertThat(decision.node().map(KnowledgeNode::id).orElse(null))
        .isEqualTo(expected.get("kdn").textValue());
    assertThat(decision.target().map(KnowledgeTarget::id).orElse(null))
        .isEqualTo(expected.get("proxy").textValue());
    if (expected.path("usable_kdn_count").isInt()) {
      assertThat(decision.usableNodes()).isEqualTo(expected.get("usable_kdn_count").intValue());
    }
    if (expected.path("connectable_proxy_count").isInt()) {
      assertThat(decision.connectableTargets())
          .isEqualTo(expected.get("connectable_proxy_count").intValue());
    }
    assertThat(outcome.strategy().counters()).isEqualTo(counters(expected.get("counters")));
    for (Map.Entry<String, JsonNode> target : expected.get("affinity").properties()) {
      Map<String, Double> remembered = outcome.strategy().affinity(target.getKey());
      assertThat(remembered).hasSize(target.getValue().size());
      for (Map.Entry<String, JsonNode> score : target.getValue().properties()) {
        assertThat(remembered.get(score.getKey()))
            .isCloseTo(score.getValue().doubleValue(), within(1e-12));
      }
    }
  }

  private static KnowledgeCounters counters(JsonNode expected) {
    return new KnowledgeCounters(
        expected.get("requests_total").longValue(),
        expected.get("kdn_overload_filtered").longValue(),
        expected.get("proxy_topology_hits").longValue(),
        expected.get("proxy_loadsafe_filtered").longValue(),
        expected.get("proxy_affinity_hits").longValue());
  }
}
