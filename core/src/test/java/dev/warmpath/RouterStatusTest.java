package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.config.RouterConfig;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException.Kind;
import dev.warmpath.worker.Secret;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a client tells of itself. */
class RouterStatusTest {
  private static final String PLANTED = "planted-7f3a";
  private static final String ANSWER =
      "{\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":4}}}";

  private @Nullable RouterClient router;

  private RouterClient router(String config, Function<OutboundRequest, Script> scripts) {
    RouterClient made =
        RouterClient.builder()
            .transport(new ScriptedTransport(scripts))
            .config(RouterConfig.parse(config, "router.yaml"))
            .adminKey(Secret.of(PLANTED))
            .seed(1)
            .build();
    router = made;
    return made;
  }

  @AfterEach
  void close() {
    if (router != null) {
      router.close();
    }
  }

  private static RouterRequest request() {
    return RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS)
        .body(
            "{\"model\":\"m\",\"user\":\""
                + PLANTED
                + "\",\"messages\":[{\"role\":\"user\",\"content\":\""
                + PLANTED
                + "\"}]}")
        .build();
  }

  private static JsonNode json(RouterStatus status) throws JsonProcessingException {
    return new ObjectMapper().readTree(status.toJson());
  }

  @Test
  void itTellsEverythingButWhatWasSaidAndTheKeys() throws JsonProcessingException {
    RouterClient client =
        router(
            "policy: round_robin\napi_key: "
                + PLANTED
                + "\nworkers:\n  - {url: 'http://w0:1', engine: vllm, models: m, api_key: "
                + PLANTED
                + "}",
            request -> Script.ok(ANSWER));
    assertThat(client.awaitReady(Duration.ofSeconds(30))).isTrue();
    client.send(request());
    RouterStatus status = client.status();
    assertThat(status.toJson()).doesNotContain(PLANTED);
    assertThat(status.toString()).doesNotContain(PLANTED);
    JsonNode json = json(status);
    assertThat(json.path("policy").asText()).isEqualTo("round_robin");
    assertThat(json.path("configuration").path("source").asText()).isEqualTo("router.yaml");
    assertThat(json.path("configuration").path("hash").asText()).isEqualTo(client.config().hash());
    assertThat(json.path("queue").path("in_flight").asInt(-1)).isZero();
    assertThat(json.path("pd_sessions").asInt(-1)).isZero();
    assertThat(json.path("index").path("budget_bytes").asLong()).isPositive();
    assertThat(json.path("breaker").path("http://w0:1").asText()).isEqualTo("closed");
    assertThat(json.path("workers").path(0).path("health").asText()).isEqualTo("up");
    JsonNode decision = json.path("decisions").path(0);
    assertThat(decision.path("worker").asText()).isEqualTo("http://w0:1");
    assertThat(decision.path("policy").asText()).isEqualTo("round_robin");
    assertThat(decision.path("outcome").asText()).isEqualTo("completed");
    assertThat(decision.path("cached_tokens").asInt()).isEqualTo(4);
    assertThat(decision.path("attempts").asInt()).isEqualTo(1);
  }

  @Test
  void theLastRequestsAreKeptAndNoMore() {
    RouterClient client =
        router(
            "policy: round_robin\nstatus_decisions: 3\nworkers: ['http://w0:1;engine=vllm;model=m']",
            request -> Script.ok(ANSWER));
    for (int i = 0; i < 10; i++) {
      client.send(request());
    }
    List<RouterStatus.Decision> last = client.status().decisions();
    assertThat(last).hasSize(3);
    assertThat(last)
        .extracting(decision -> -decision.requestId())
        .as("the newest first")
        .isSorted();
    client.send(request());
    assertThat(client.status().decisions().subList(1, 3))
        .extracting(RouterStatus.Decision::requestId)
        .containsExactly(last.get(0).requestId(), last.get(1).requestId());
  }

  @Test
  void noneAreKeptWhereNoneAreWanted() {
    RouterClient client =
        router(
            "status_decisions: 0\nworkers: ['http://w0:1;engine=vllm;model=m']",
            request -> Script.ok(ANSWER));
    client.send(request());
    assertThat(client.status().decisions()).isEmpty();
  }

  @Test
  void aFailedRequestIsShownAsOne() {
    RouterClient client =
        router(
            "retry: {max_attempts: 2, base_backoff: 0}\n"
                + "workers: ['http://w0:1;engine=vllm;model=m', 'http://w1:1;engine=vllm;model=m']",
            request -> Script.fails(Kind.CONNECT, FailurePhase.CONNECT));
    assertThatThrownBy(() -> client.send(request())).isInstanceOf(RouterException.class);
    RouterStatus.Decision decision = client.status().decisions().get(0);
    assertThat(decision.outcome()).isEqualTo("failed");
    assertThat(decision.attempts()).isEqualTo(2);
  }

  @Test
  void readinessFollowsWorkersAndLivenessTheClient() {
    RouterClient client =
        router("workers: ['http://w0:1;engine=vllm;model=m']", request -> Script.ok(ANSWER));
    assertThat(client.awaitReady(Duration.ofSeconds(30))).isTrue();
    assertThat(client.readiness())
        .isEqualTo(new RouterStatus.Readiness(true, true, 1, 1, Map.of()));
    client.workers().drain("http://w0:1");
    RouterStatus.Readiness drained = client.readiness();
    assertThat(drained.live()).isTrue();
    assertThat(drained.ready()).isFalse();
    assertThat(drained.reasons()).isEqualTo(Map.of("http://w0:1", "draining"));
    client.workers().resume("http://w0:1");
    assertThat(client.readiness().ready()).isTrue();
    client.close();
    assertThat(client.readiness().live()).isFalse();
    assertThat(client.readiness().ready()).isFalse();
  }
}
