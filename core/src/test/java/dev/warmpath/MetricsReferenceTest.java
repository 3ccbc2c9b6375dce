package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.observe.MetricFamily;
import dev.warmpath.observe.MetricSample;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The page of metrics says what a client exports. */
class MetricsReferenceTest {
  private static final Path PAGE = Path.of("METRICS.md");
  private static final Set<String> LABELS =
      Set.of(
          "worker",
          "rank",
          "injected",
          "role",
          "policy",
          "outcome",
          "phase",
          "state",
          "schemes",
          "mode",
          "cause",
          "result",
          "stage",
          "kind");

  private static List<MetricFamily> families() {
    try (RouterClient client =
        RouterClient.builder()
            .worker("http://w0:1;engine=vllm;model=m")
            .transport(new ScriptedTransport(request -> Script.ok("{\"choices\":[]}")))
            .noWorkerWait(Duration.ZERO)
            .requestMetrics(true)
            .knowledge(KnowledgeRouting.builder().build())
            .seed(1)
            .build()) {
      assertThat(client.awaitReady(Duration.ofSeconds(30))).isTrue();
      client.send(
          RouterRequest.chatCompletions(
              "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}"));
      return client.metrics();
    }
  }

  private static String page(List<MetricFamily> families) {
    StringBuilder page = new StringBuilder();
    page.append("# Metrics\n\n");
    page.append(
        "What `RouterClient.metrics()` tells: as Prometheus text (`PrometheusText.of`), or ");
    page.append(
        "through Micrometer (`new\nMicrometerMetrics(router::metrics).bindTo(registry)`). ");
    page.append("Seconds and bytes are the units that names end in. Labels are bounded:\n");
    page.append(
        "workers with their ranks, roles, policies, outcomes; never a prompt, a session, a ");
    page.append("user or a key. Those of requests need\n`requestMetrics(true)`, those of ");
    page.append("knowledge a client that routes by it.\n\n");
    page.append("| metric | type | what it is |\n|---|---|---|\n");
    families.stream()
        .sorted(Comparator.comparing(MetricFamily::name))
        .forEach(
            family ->
                page.append("| `")
                    .append(family.name())
                    .append("` | ")
                    .append(family.type().label())
                    .append(" | ")
                    .append(family.help())
                    .append(" |\n"));
    return page.toString();
  }

  @Test
  void thePageIsWhatAClientTells() throws IOException {
    String made = page(families());
    if (Boolean.getBoolean("warmpath.write-reference")) {
      Files.writeString(PAGE, made);
    }
    assertThat(Files.readString(PAGE))
        .as("run this test with -Dwarmpath.write-reference=true to write the page anew")
        .isEqualTo(made);
  }

  @Test
  void labelsAreThoseOfABoundedKind() {
    Set<String> used = new TreeSet<>();
    for (MetricFamily family : families()) {
      for (MetricSample sample : family.samples()) {
        used.addAll(sample.labels().keySet());
      }
    }
    assertThat(LABELS).containsAll(used);
  }
}
