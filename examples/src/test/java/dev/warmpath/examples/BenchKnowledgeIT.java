package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code bench} with documents that come from knowledge nodes. */
class BenchKnowledgeIT {
  @TempDir private Path folder;

  private Run bench(String... more) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "bench",
                "--speedup",
                "200",
                "--workload",
                "rag",
                "--set",
                "documents=4",
                "--set",
                "document=1000",
                "--set",
                "duration=10",
                "--set",
                "common=64",
                "--max-output-tokens",
                "2",
                "--report",
                folder.resolve("bench.html").toString(),
                "--json"));
    arguments.addAll(List.of(more));
    return Run.of(arguments.toArray(String[]::new));
  }

  @ParameterizedTest
  @ValueSource(strings = {"sglang", "vllm"})
  void kvComesFromTheNodesAndIsFound(String engine) {
    Run run =
        bench(
            "--fleet",
            "2",
            "--engine",
            engine,
            "--knowledge",
            "kv",
            "--policy",
            "round_robin,knowledge");

    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode policies = run.json().path("policies");
    assertThat(policies).hasSize(2);
    for (JsonNode policy : policies) {
      assertThat(policy.path("failed").asInt(-1)).isZero();
      assertThat(policy.path("hit_rate").asDouble()).isGreaterThan(0.5);
      JsonNode knowledge = policy.path("knowledge");
      assertThat(knowledge.path("injection").asText()).isEqualTo("kv");
      assertThat(knowledge.path("without").asInt(-1)).isZero();
      assertThat(knowledge.path("transfers").asInt()).isPositive();
      assertThat(knowledge.path("transferred_bytes").asLong() % 96_000).isZero();
      assertThat(knowledge.path("transferred_bytes").asLong()).isPositive();
    }
  }

  @Test
  void textComesFromTheNodesAndNoKv() {
    Run run = bench("--fleet", "2", "--knowledge", "text", "--policy", "knowledge");

    assertThat(run.exitCode()).as(run.err()).isZero();
    JsonNode knowledge = run.json().path("policies").path(0).path("knowledge");
    assertThat(knowledge.path("without").asInt(-1)).isZero();
    assertThat(knowledge.path("transfers").asInt(-1)).isZero();
    JsonNode plain = bench("--fleet", "2", "--policy", "knowledge").json().path("policies").path(0);
    assertThat(plain.has("knowledge")).isFalse();
    assertThat(run.json().path("policies").path(0).path("prompt_tokens").asLong())
        .as("the documents are in the prompts either way")
        .isCloseTo(
            plain.path("prompt_tokens").asLong(),
            org.assertj.core.data.Percentage.withPercentage(3));
  }

  @Test
  void whatHasNoDocumentsOrNoNodesIsRefused() {
    assertThat(bench("--worker", "http://127.0.0.1:1", "--knowledge", "kv").exitCode())
        .isEqualTo(2);
    assertThat(bench("--fleet", "1p1d", "--knowledge", "kv").err()).contains("regular workers");
    Run plain = Run.of("bench", "--fleet", "1", "--workload", "closed", "--knowledge", "kv");
    assertThat(plain.exitCode()).isEqualTo(2);
    assertThat(plain.err()).contains("--workload rag");
  }
}
