package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.AllAttemptsFailedException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.dispatch.RetrySettings;
import dev.warmpath.observe.MetricFamily;
import dev.warmpath.observe.MetricSample;
import dev.warmpath.observe.PrometheusText;
import dev.warmpath.pd.PdSettings;
import dev.warmpath.policy.Policies;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.WorkerRole;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class ClientMetricsTest {
  private static final RouterRequest CHAT =
      RouterRequest.chatCompletions(
          "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a secret prompt\"}]}");
  private static final String ANSWER =
      "{\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":4}}}";

  private static RouterClient client(boolean counted, Function<OutboundRequest, Script> scripts) {
    RouterClient client =
        RouterClient.builder()
            .worker("http://w0:1;engine=vllm;model=m")
            .worker("http://w1:1;engine=vllm;model=m")
            .transport(new ScriptedTransport(scripts))
            .policy(Policies.roundRobin())
            .retry(
                new RetrySettings(
                    2, 0.2, 100, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(10)))
            .noWorkerWait(Duration.ZERO)
            .requestMetrics(counted)
            .apiKey(Secret.of("a secret key"))
            .seed(1)
            .build();
    assertThat(client.awaitReady(Duration.ofSeconds(30))).isTrue();
    return client;
  }

  /** The n-th exchange (from 1) gets the n-th script, later ones the last. */
  private static Function<OutboundRequest, Script> inTurn(Script... scripts) {
    AtomicInteger turn = new AtomicInteger();
    return request -> scripts[Math.min(scripts.length - 1, turn.getAndIncrement())];
  }

  private static double value(RouterClient client, String name, Map<String, String> labels) {
    return client.metrics().stream()
        .filter(family -> family.name().equals("warmpath_" + name))
        .flatMap(family -> family.samples().stream())
        .filter(sample -> sample.labels().entrySet().containsAll(labels.entrySet()))
        .mapToDouble(MetricSample::value)
        .sum();
  }

  @Test
  void requestsAreCountedByWhatBecameOfThem() {
    try (RouterClient client =
        client(true, inTurn(Script.status(503), Script.ok(ANSWER), Script.status(503)))) {
      client.send(CHAT);
      assertThatThrownBy(() -> client.send(CHAT)).isInstanceOf(AllAttemptsFailedException.class);

      assertThat(value(client, "requests_total", Map.of("outcome", "completed"))).isOne();
      assertThat(value(client, "requests_total", Map.of("outcome", "failed"))).isOne();
      assertThat(value(client, "attempts_total", Map.of())).isEqualTo(4);
      assertThat(value(client, "attempts_failed_total", Map.of("phase", "status"))).isEqualTo(3);
      assertThat(value(client, "retries_total", Map.of())).isEqualTo(2);
      assertThat(value(client, "dead_letters_total", Map.of())).isOne();
      assertThat(value(client, "prompt_tokens_total", Map.of())).isEqualTo(5);
      assertThat(value(client, "cached_tokens_total", Map.of())).isEqualTo(4);
      assertThat(value(client, "completion_tokens_total", Map.of())).isOne();
      assertThat(PrometheusText.of(client.metrics()))
          .contains(
              "warmpath_request_seconds_count{outcome=\"completed\"} 1",
              "warmpath_first_byte_seconds_bucket{worker=\"http://w",
              "warmpath_routed_seconds_count 2");
    }
  }

  @Test
  void timesOfPairsAreHistogramsByTheWorkerThatTookThem() {
    String handed = "{\"choices\":[],\"kv_transfer_params\":{\"remote_request_id\":\"r1\"}}";
    try (RouterClient client =
        RouterClient.builder()
            .worker("http://p0:1;role=prefill;model=m;engine=vllm")
            .worker("http://d0:1;role=decode;model=m;engine=vllm")
            .transport(
                new ScriptedTransport(
                    sent ->
                        Script.ok(
                            sent.target().worker().role() == WorkerRole.PREFILL ? handed : ANSWER)))
            .noWorkerWait(Duration.ZERO)
            .seed(1)
            .build()) {
      assertThat(client.awaitReady(Duration.ofSeconds(30))).isTrue();
      client.send(CHAT);
      client.send(CHAT);
      assertThat(PrometheusText.of(client.metrics()))
          .contains("# TYPE warmpath_pd_prefill_seconds histogram")
          .contains("warmpath_pd_prefill_seconds_bucket{worker=\"http://p0:1\",le=\"+Inf\"} 2")
          .contains("warmpath_pd_handoff_seconds_count{worker=\"http://d0:1\"} 2")
          .contains("warmpath_pd_ttft_seconds_count{worker=\"http://d0:1\"} 2");
      assertThat(value(client, "pd_ttft_seconds", Map.of()))
          .as("prefill and the hand-over are parts of it")
          .isGreaterThanOrEqualTo(value(client, "pd_prefill_seconds", Map.of()));
    }
  }

  @Test
  void aDecodeThatTookARequestAloneIsNoHandOver() {
    try (RouterClient client =
        RouterClient.builder()
            .worker("http://p0:1;role=prefill;model=m;engine=vllm")
            .worker("http://d0:1;role=decode;model=m;engine=vllm")
            .prefillDecode(PdSettings.DEFAULT.withDirectBelowTokens(1_000))
            .transport(new ScriptedTransport(sent -> Script.ok(ANSWER)))
            .noWorkerWait(Duration.ZERO)
            .seed(1)
            .build()) {
      assertThat(client.awaitReady(Duration.ofSeconds(30))).isTrue();
      client.send(CHAT);
      assertThat(PrometheusText.of(client.metrics()))
          .contains("warmpath_pd_bypass_total 1")
          .contains("warmpath_pd_ttft_seconds_count{worker=\"http://d0:1\"} 1")
          .doesNotContain("pd_handoff_seconds")
          .doesNotContain("pd_prefill_seconds");
    }
  }

  @Test
  void whatIsNotAskedForIsNotCounted() {
    try (RouterClient client = client(false, request -> Script.ok(ANSWER))) {
      client.send(CHAT);

      assertThat(client.metrics().stream().map(MetricFamily::name))
          .contains("warmpath_requests_in_flight", "warmpath_worker_up")
          .doesNotContain("warmpath_requests_total");
      assertThat(value(client, "worker_up", Map.of("worker", "http://w0:1"))).isOne();
    }
  }

  @Test
  void everyBudgetIsShownBesideWhatItBounds() {
    try (RouterClient client = client(false, request -> Script.ok(ANSWER))) {
      for (String kept : new String[] {"index", "block_index", "answers_waiting"}) {
        double budget = value(client, kept + "_budget_bytes", Map.of());
        assertThat(budget).as(kept).isPositive();
        assertThat(value(client, kept + "_bytes", Map.of())).as(kept).isBetween(0.0, budget);
      }
    }
  }

  @Test
  void namesAreUniqueAndNoSecretIsAmongTheText() {
    try (RouterClient client = client(true, request -> Script.ok(ANSWER))) {
      client.send(CHAT);

      assertThat(client.metrics().stream().map(MetricFamily::name)).doesNotHaveDuplicates();
      assertThat(PrometheusText.of(client.metrics())).doesNotContain("secret");
    }
  }
}
