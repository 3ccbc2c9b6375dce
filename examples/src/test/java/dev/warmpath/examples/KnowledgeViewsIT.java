package dev.warmpath.examples;

import static dev.warmpath.examples.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.fake.kdn.FakeKdn;
import dev.warmpath.knowledge.KnowledgeControlPlane;
import dev.warmpath.knowledge.KnowledgeRouting;
import dev.warmpath.okhttp.OkHttpKnowledgeTransport;
import dev.warmpath.worker.Secret;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The views of a running control plane, that a fake node registers with by itself. */
class KnowledgeViewsIT {
  private static String url(KnowledgeControlPlane plane) {
    return "http://127.0.0.1:" + plane.address().getPort();
  }

  private static JsonNode json(String... args) throws Exception {
    Run run = Run.of(args);
    assertThat(run.exitCode()).as(run.err()).isZero();
    return new ObjectMapper().readTree(run.out());
  }

  private static void registerTarget(String url) throws Exception {
    String body =
        "{\"proxy_id\":\"p1\",\"host\":\"127.0.0.1\",\"port\":8001,\"max_capacity\":8,"
            + "\"meta\":{\"kdn_links\":{\"kdn_a\":{\"bandwidth_mbps\":1000,\"latency_ms\":1}}}}";
    HttpResponse<String> answer =
        HttpClient.newHttpClient()
            .send(
                HttpRequest.newBuilder(URI.create(url + "/v1/proxy/register"))
                    .POST(HttpRequest.BodyPublishers.ofString(body))
                    .build(),
                HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
  }

  @Test
  void showNodesAndTargetsThatRegistered() throws Exception {
    try (KnowledgeRouting routing =
            KnowledgeRouting.builder().transport(OkHttpKnowledgeTransport.create()).build();
        KnowledgeControlPlane plane = KnowledgeControlPlane.of(routing).port(0).open();
        FakeKdn kdn =
            FakeKdn.builder()
                .id("kdn_a")
                .controlPlane(url(plane))
                .heartbeat(Duration.ofMillis(20))
                .start()) {
      String kid = kdn.addReady("what is known ".repeat(200), "m");
      await().until(() -> kdn.stats().heartbeats() > 0);
      registerTarget(url(plane));
      kdn.faults().hang(false);

      JsonNode kdns = json("knowledge", "kdns", "--url", url(plane), "--json");
      assertThat(kdns.at("/kdns/0/kdn_id").asText()).isEqualTo("kdn_a");
      assertThat(kdns.at("/kdns/0/pending_transfers").asInt(-1)).isZero();
      assertThat(kdns.at("/kdns/0/items").isNull()).isTrue(); // it never says
      JsonNode targets = json("knowledge", "targets", "--url", url(plane), "--json");
      assertThat(targets.at("/targets/0/proxy_id").asText()).isEqualTo("p1");
      JsonNode status = json("knowledge", "status", "--url", url(plane) + "/", "--json");
      assertThat(status.path("kdn_alive").asInt()).isEqualTo(1);
      JsonNode strategy = json("knowledge", "strategy", "--url", url(plane), "--json");
      assertThat(strategy.at("/strategy_debug/counters/requests_total").asInt(-1)).isZero();

      assertThat(Run.of("knowledge", "kdns", "--all", "--url", url(plane)).out())
          .contains("kdn_a", "true", "-");
      assertThat(Run.of("knowledge", "targets", "--url", url(plane)).out())
          .contains("p1", "kdn_a 1000/1");
      assertThat(Run.of("knowledge", "status", "--url", url(plane)).out())
          .contains("cacheroute", "kdn_a", "p1");
      assertThat(Run.of("knowledge", "strategy", "--url", url(plane)).out())
          .contains("no nodes were looked at", "requests_total");
      assertThat(kid).hasSize(64);
    }
  }

  @Test
  void sayWhyThereIsNothingToShow() throws Exception {
    String gone;
    try (KnowledgeRouting routing = KnowledgeRouting.builder().build();
        KnowledgeControlPlane plane =
            KnowledgeControlPlane.of(routing).port(0).secret(Secret.of("s")).open()) {
      gone = url(plane);
      Run closed = Run.of("knowledge", "kdns", "--url", gone);
      assertThat(closed.exitCode()).isEqualTo(1);
      assertThat(closed.err()).contains("401", "--secret-env");
      assertThat(
              Run.of("knowledge", "kdns", "--url", gone, "--secret-env", "NO_SUCH_VARIABLE")
                  .exitCode())
          .isEqualTo(2);
    }
    Run absent = Run.of("knowledge", "status", "--url", gone);
    assertThat(absent.exitCode()).isEqualTo(1);
    assertThat(absent.err()).contains("did not answer");
    assertThat(Run.of("knowledge", "status", "--url", "nowhere").exitCode()).isEqualTo(2);
    try (FakeKdn other = FakeKdn.start()) {
      assertThat(Run.of("knowledge", "status", "--url", other.url()).err()).contains("404");
    }
  }
}
