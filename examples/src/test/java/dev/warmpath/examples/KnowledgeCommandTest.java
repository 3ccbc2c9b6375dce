package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** CacheRoute's decisions through the command line. */
class KnowledgeCommandTest {

  @TempDir Path folder;

  static Stream<Arguments> cases() {
    return Stream.concat(
        vectors("cacheroute_vectors")
            .map(vector -> Arguments.of(name(vector), vector, "load-first", "ratio")),
        vectors("cacheroute_vectors_documented_order")
            .map(vector -> Arguments.of(name(vector), vector, "documented", "inflight")));
  }

  private static Stream<JsonNode> vectors(String file) {
    JsonNode all = Run.resource("/vectors/cacheroute/" + file + ".json");
    return StreamSupport.stream(all.spliterator(), false);
  }

  private static String name(JsonNode vector) {
    return vector.get("name").textValue();
  }

  private Path state(JsonNode vector) throws IOException {
    return Files.writeString(folder.resolve("state.json"), vector.toString());
  }

  private Run route(JsonNode vector, String... options) throws IOException {
    List<String> args = new ArrayList<>(List.of("knowledge", "route"));
    args.addAll(List.of("--state", state(vector).toString()));
    args.addAll(List.of(options));
    return Run.of(args.toArray(String[]::new));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("cases")
  void decidesAsTheOriginal(String name, JsonNode vector, String order, String window)
      throws IOException {
    Run run = route(vector, "--order", order, "--window", window, "--strict-reference", "--json");

    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode expected = vector.get("expect");
    for (Map.Entry<String, JsonNode> field : expected.properties()) {
      if (field.getKey().equals("affinity")) {
        assertAffinity(run.json().get("affinity"), field.getValue());
      } else {
        assertThat(run.json().get(field.getKey())).as(field.getKey()).isEqualTo(field.getValue());
      }
    }
  }

  private static void assertAffinity(JsonNode actual, JsonNode expected) {
    assertThat(actual.properties().stream().map(Map.Entry::getKey))
        .containsExactlyInAnyOrderElementsOf(
            expected.properties().stream().map(Map.Entry::getKey).toList());
    for (Map.Entry<String, JsonNode> target : expected.properties()) {
      JsonNode scores = actual.get(target.getKey());
      assertThat(scores.size()).isEqualTo(target.getValue().size());
      for (Map.Entry<String, JsonNode> score : target.getValue().properties()) {
        assertThat(scores.get(score.getKey()).doubleValue())
            .isEqualTo(score.getValue().doubleValue());
      }
    }
  }

  @Test
  void flagsWinOverTheRecordedOptions() throws IOException {
    JsonNode overloaded =
        vectors("cacheroute_vectors").filter(v -> name(v).startsWith("V03")).findFirst().get();

    assertThat(route(overloaded, "--json").json().get("kdn").textValue()).isEqualTo("kdn_b");
    assertThat(
            route(overloaded, "--kdn-pending-overload-th", "9", "--json")
                .json()
                .get("kdn")
                .textValue())
        .isEqualTo("kdn_a");
  }

  @Test
  void peopleReadATable() throws IOException {
    Run run = route(vectors("cacheroute_vectors").findFirst().get(), "--log-decision");

    assertThat(run.out())
        .contains("kdn    kdn_b", "proxy  p1", "text_full", "knowledge_affinity", "kdn_a");
    assertThat(run.err().strip())
        .isEqualTo(
            "[CacheRoute] req=- kdn=kdn_b proxy=p1 kids=2 kdn_candidates=2 proxy_candidates=1");
  }

  @ParameterizedTest
  @ValueSource(strings = {"kdns", "proxies", "knowledge_list"})
  void aStateThatLacksAPartIsRefusedByName(String part) throws IOException {
    ObjectNode state = vectors("cacheroute_vectors").findFirst().get().deepCopy();
    state.remove(part);

    Run run = route(state);

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("'" + part + "' must be an array");
  }

  @Test
  void anUnknownOrderIsRefused() throws IOException {
    Run run = route(vectors("cacheroute_vectors").findFirst().get(), "--order", "random");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("'documented' or 'load-first'");
  }
}
