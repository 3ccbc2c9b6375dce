package dev.warmpath.fake;

import static dev.warmpath.fake.Client.CHAT;
import static dev.warmpath.fake.Client.COMPLETIONS;
import static dev.warmpath.fake.Client.chat;
import static dev.warmpath.fake.Client.completion;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.worker.EngineKind;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class AdminIT {
  private static FakeEngineBuilder engine(EngineKind kind) {
    return FakeEngine.builder()
        .kind(kind)
        .model("m")
        .timing(LatencyModel.instant())
        .healthLatency(Duration.ZERO)
        .disconnectDelay(Duration.ZERO)
        .devMode(true);
  }

  private static HttpResponse<String> get(CompletableFuture<HttpResponse<String>> future)
      throws Exception {
    return future.get(30, TimeUnit.SECONDS);
  }

  private static JsonNode choice(HttpResponse<String> response) {
    return Client.json(response.body()).path("choices").path(0);
  }

  @Test
  void flushIsRefusedWhileBusyAndEmptiesTheCacheWhenIdle() throws Exception {
    try (FakeEngine engine = engine(EngineKind.SGLANG).start()) {
      Client client = new Client(engine);
      String body = chat("word ".repeat(200), ",\"max_tokens\":1");
      client.post(CHAT, body);
      engine.pause();
      CompletableFuture<HttpResponse<String>> held = client.postAsync(CHAT, body);
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 1);
      assertThat(client.post("/flush_cache", "").status()).isEqualTo(400);
      engine.resume();
      assertThat(get(held).statusCode()).isEqualTo(200);
      assertThat(engine.stats().cachedTokens()).isPositive();
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().running() == 0);

      assertThat(client.get("/flush_cache").status()).isEqualTo(200);

      assertThat(engine.stats().cachedBlocks()).isZero();
    }
  }

  @Test
  void abortMatchesByPrefixAndAlwaysSucceeds() throws Exception {
    try (FakeEngine engine = engine(EngineKind.SGLANG).start()) {
      Client client = new Client(engine);
      engine.pause();
      var first = client.postAsync(CHAT, chat("a", ",\"rid\":\"abc-1\",\"max_tokens\":5"));
      var second = client.postAsync(CHAT, chat("b", ",\"rid\":\"abc-2\",\"max_tokens\":5"));
      var other = client.postAsync(CHAT, chat("c", ",\"rid\":\"xyz\",\"max_tokens\":5"));
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 3);

      assertThat(client.post("/abort_request", "{\"rid\":\"nobody\"}").status()).isEqualTo(200);
      assertThat(client.post("/abort_request", "{\"rid\":\"\"}").status()).isEqualTo(200);
      Client.Reply reply = client.post("/abort_request", "{\"rid\":\"abc\"}");

      assertThat(reply.status()).isEqualTo(200);
      assertThat(reply.body()).isEmpty();
      assertThat(choice(get(first)).path("finish_reason").asText()).isEqualTo("abort");
      assertThat(choice(get(second)).path("finish_reason").asText()).isEqualTo("abort");
      assertThat(other).isNotDone();
      client.post("/abort_request", "{\"abort_all\":true}");
      assertThat(choice(get(other)).path("finish_reason").asText()).isEqualTo("abort");
      assertThat(engine.stats().aborted()).isEqualTo(3);
    }
  }

  @Test
  void pausedSglangHoldsRequestsAndFailsItsHealthProbe() throws Exception {
    try (FakeEngine engine = engine(EngineKind.SGLANG).start()) {
      Client client = new Client(engine);
      JsonNode paused = client.post("/pause_generation", "{\"mode\":\"in_place\"}").json();
      assertThat(paused.path("status").asText()).isEqualTo("ok");
      var held = client.postAsync(CHAT, chat("a", ",\"max_tokens\":2"));
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 1);
      assertThat(client.get("/health").status()).isEqualTo(503);

      assertThat(client.post("/continue_generation", "{}").status()).isEqualTo(200);

      assertThat(choice(get(held)).path("finish_reason").asText()).isEqualTo("length");
      assertThat(client.get("/health").status()).isEqualTo(200);
      assertThat(client.post("/pause_generation", "{\"mode\":\"moon\"}").status()).isEqualTo(400);
    }
  }

  @Test
  void pauseWithoutABodyAborts() throws Exception {
    try (FakeEngine engine = engine(EngineKind.SGLANG).start()) {
      Client client = new Client(engine);
      engine.pause();
      var held = client.postAsync(CHAT, chat("a", ",\"max_tokens\":2"));
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 1);
      assertThat(client.post("/pause_generation", "").status()).isEqualTo(200);
      assertThat(choice(get(held)).path("finish_reason").asText()).isEqualTo("abort");
    }
  }

  @Test
  void vllmAbortsByExternalIdsAndAllWithoutAny() throws Exception {
    try (FakeEngine engine = engine(EngineKind.VLLM).start()) {
      Client client = new Client(engine);
      engine.pause();
      var chat = client.postAsync(CHAT, chat("a", ",\"request_id\":\"one\",\"max_tokens\":5"));
      var completion = client.postAsync(COMPLETIONS, completion("a", ",\"request_id\":\"two\""));
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 2);

      JsonNode none = client.post("/abort_requests", "{\"request_ids\":[\"one\"]}").json();
      assertThat(none.path("aborted").asInt()).isZero();
      JsonNode one = client.post("/abort_requests", "{\"request_ids\":[\"chatcmpl-one\"]}").json();
      assertThat(one.path("aborted").asInt()).isEqualTo(1);
      assertThat(choice(get(chat)).path("finish_reason").asText()).isEqualTo("abort");
      JsonNode two = client.post("/abort_requests", "{\"request_ids\":[\"cmpl-two-0\"]}").json();
      assertThat(two.path("aborted").asInt()).isEqualTo(1);
      assertThat(choice(get(completion)).path("finish_reason").asText()).isEqualTo("abort");
      assertThat(
              client.post("/abort_requests", "{\"request_ids\":[]}").json().path("status").asText())
          .isEqualTo("aborted");
    }
  }

  @Test
  void vllmPausesResumesSleepsAndResets() throws Exception {
    try (FakeEngine engine = engine(EngineKind.VLLM).start()) {
      Client client = new Client(engine);
      client.post(CHAT, chat("word ".repeat(200), ",\"max_tokens\":1"));
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().running() == 0);
      assertThat(client.post("/reset_prefix_cache", "").status()).isEqualTo(200);
      assertThat(engine.stats().cachedBlocks()).isZero();

      assertThat(client.post("/pause?mode=keep", "").json().path("status").asText())
          .isEqualTo("paused");
      assertThat(client.get("/is_paused").json().path("is_paused").asBoolean()).isTrue();
      var held = client.postAsync(CHAT, chat("a", ",\"max_tokens\":2"));
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 1);
      assertThat(client.post("/reset_prefix_cache", "").status()).isEqualTo(200);
      assertThat(client.post("/resume", "").json().path("status").asText()).isEqualTo("resumed");
      assertThat(get(held).statusCode()).isEqualTo(200);
      assertThat(client.post("/pause?mode=moon", "").status()).isEqualTo(400);

      assertThat(client.post("/sleep?level=1", "").status()).isEqualTo(200);
      assertThat(client.get("/is_sleeping").json().path("is_sleeping").asBoolean()).isTrue();
      assertThat(client.post("/wake_up", "").status()).isEqualTo(200);
      assertThat(client.get("/is_sleeping").json().path("is_sleeping").asBoolean()).isFalse();
      assertThat(client.post(CHAT, chat("a", ",\"max_tokens\":2")).status()).isEqualTo(200);
    }
  }

  @Test
  void sglangKeys() throws Exception {
    try (FakeEngine engine = engine(EngineKind.SGLANG).apiKey("k").adminKey("a").start();
        FakeEngine plain = engine(EngineKind.SGLANG).apiKey("k").start()) {
      Client client = new Client(engine);
      String key = "Bearer k";
      String admin = "Bearer a";
      assertThat(client.get("/health").status()).isEqualTo(200);
      assertThat(client.get("/metrics").status()).isEqualTo(200);
      for (String path : new String[] {"/v1/models", "/server_info", "/v1/loads", "/ping"}) {
        Client.Reply denied = client.get(path);
        assertThat(denied.status()).as(path).isEqualTo(401);
        assertThat(denied.json().path("error").asText()).isEqualTo("Unauthorized");
        assertThat(client.get(path, "Authorization", key).status()).as(path).isEqualTo(200);
        assertThat(client.get(path, "x-api-key", "k").status()).as(path).isEqualTo(200);
      }
      assertThat(client.get("/flush_cache", "Authorization", key).status()).isEqualTo(401);
      assertThat(client.get("/flush_cache", "Authorization", admin).status()).isEqualTo(200);
      assertThat(client.post(CHAT, chat("a", ""), "Authorization", admin).status()).isEqualTo(401);
      Client withoutAdmin = new Client(plain);
      assertThat(withoutAdmin.get("/flush_cache", "Authorization", key).status()).isEqualTo(200);
      assertThat(withoutAdmin.get("/flush_cache").status()).isEqualTo(401);
    }
  }

  @Test
  void vllmKeyGuardsTheOpenAiPathsOnlyAndAtomHasNone() throws Exception {
    try (FakeEngine vllm = engine(EngineKind.VLLM).apiKey("k").start();
        FakeEngine atom = engine(EngineKind.ATOM).apiKey("k").start()) {
      Client client = new Client(vllm);
      assertThat(client.get("/v1/models").status()).isEqualTo(401);
      assertThat(client.get("/v1/models", "Authorization", "Bearer k").status()).isEqualTo(200);
      for (String path : new String[] {"/health", "/version", "/metrics", "/is_paused"}) {
        assertThat(client.get(path).status()).as(path).isEqualTo(200);
      }
      assertThat(new Client(atom).get("/v1/models").status()).isEqualTo(200);
    }
  }

  @Test
  void errorsInEachEnginesShape() throws Exception {
    try (FakeEngine sglang = engine(EngineKind.SGLANG).maxModelLen(100).start();
        FakeEngine vllm = engine(EngineKind.VLLM).maxModelLen(100).start();
        FakeEngine atom = engine(EngineKind.ATOM).start()) {
      String unknown = chat("hi", ",\"max_tokens\":1").replace("\"m\"", "\"nobody\"");
      assertThat(new Client(sglang).post(CHAT, unknown).json().path("model").asText())
          .isEqualTo("nobody");
      Client.Reply missing = new Client(vllm).post(CHAT, unknown);
      assertThat(missing.status()).isEqualTo(404);
      assertThat(missing.json().path("error").path("type").asText()).isEqualTo("NotFoundError");
      assertThat(missing.json().path("error").path("param").asText()).isEqualTo("model");
      Client.Reply mismatch = new Client(atom).post(CHAT, unknown);
      assertThat(mismatch.status()).isEqualTo(400);
      assertThat(mismatch.json().path("detail").asText()).contains("nobody");

      String tooLong = chat("x".repeat(1000), "");
      Client.Reply flat = new Client(sglang).post(CHAT, tooLong);
      assertThat(flat.status()).isEqualTo(400);
      assertThat(flat.json().path("object").asText()).isEqualTo("error");
      assertThat(flat.json().path("message").asText()).contains("maximum context length");
      Client.Reply nested = new Client(vllm).post(CHAT, chat("hi", ",\"max_tokens\":99"));
      assertThat(nested.status()).isEqualTo(400);
      assertThat(nested.json().path("error").path("code").asInt()).isEqualTo(400);

      for (FakeEngine engine : new FakeEngine[] {sglang, vllm}) {
        Client client = new Client(engine);
        for (String bad :
            new String[] {
              "{", "[]", "{\"model\":\"m\"}", chat("a", ",\"n\":0"), chat("a", ",\"max_tokens\":0")
            }) {
          assertThat(client.post(CHAT, bad).status()).as(bad).isEqualTo(400);
        }
        assertThat(client.post(COMPLETIONS, "{\"model\":\"m\",\"prompt\":7}").status())
            .isEqualTo(400);
        assertThat(client.get(CHAT).status()).isEqualTo(405);
        assertThat(client.get("/nowhere").json().path("detail").asText()).isEqualTo("Not Found");
      }
      assertThat(new Client(atom).post(CHAT, "{").status()).isEqualTo(422);
      assertThat(new Client(atom).post(COMPLETIONS, "{\"model\":\"m\",\"prompt\":[1]}").status())
          .isEqualTo(422);
      assertThat(sglang.stats().rejected()).isPositive();
    }
  }

  @Test
  void restartKeepsThePortAndLosesTheCache() throws Exception {
    try (FakeEngine engine = engine(EngineKind.SGLANG).start()) {
      Client client = new Client(engine);
      String body = chat("word ".repeat(200), ",\"max_tokens\":1");
      client.post(CHAT, body);
      int seed = client.get("/server_info").json().path("random_seed").asInt();
      String url = engine.url();

      engine.restart();

      assertThat(engine.url()).isEqualTo(url);
      JsonNode again = client.post(CHAT, body).json();
      assertThat(again.path("usage").path("prompt_tokens_details").path("cached_tokens").asInt())
          .isZero();
      assertThat(client.get("/server_info").json().path("random_seed").asInt()).isNotEqualTo(seed);
      assertThat(client.get("/metrics").body()).contains("sglang:generation_tokens_total{");
      assertThat(engine.stats().starts()).isEqualTo(2);
      assertThat(engine.stats().served()).isEqualTo(2);
      assertThat(engine.ranks().get(0).metrics().generatedTokens()).isEqualTo(1);
    }
  }

  @Test
  void faultsAreSetAtRunTimeAllOrNone() throws Exception {
    try (FakeEngine engine = engine(EngineKind.VLLM).start()) {
      Client client = new Client(engine);
      String path = "/admin/config";
      Client.Reply set =
          client.post(path, "{\"faults\": [\"503:count=1\", \"429:after=1,count=1\"]}");
      assertThat(set.status()).isEqualTo(200);
      assertThat(set.json().path("faults")).hasSize(2);
      assertThat(client.post(CHAT, chat("a", ",\"max_tokens\":1")).status()).isEqualTo(503);
      for (String wrong :
          new String[] {
            "{\"faults\": [\"hang\", \"nonsense\"]}",
            "{\"faults\": \"\", \"speed\": 3}",
            "{\"faults\": 7}",
            "{}"
          }) {
        assertThat(client.post(path, wrong).status()).as(wrong).isEqualTo(400);
      }
      assertThat(client.get(path).json()).isEqualTo(set.json());
      assertThat(client.post(CHAT, chat("a", ",\"max_tokens\":1")).status()).isEqualTo(429);
      assertThat(client.post(path, "{\"faults\": \"\"}").json().path("faults")).isEmpty();
      assertThat(client.post(CHAT, chat("a", ",\"max_tokens\":1")).status()).isEqualTo(200);
    }
  }

  @Test
  void profilingIsAnswered() throws Exception {
    for (EngineKind kind : new EngineKind[] {EngineKind.SGLANG, EngineKind.VLLM, EngineKind.ATOM}) {
      try (FakeEngine engine = engine(kind).start()) {
        Client client = new Client(engine);
        assertThat(client.post("/start_profile", "").status()).as(kind.label()).isEqualTo(200);
        assertThat(client.post("/stop_profile", "").status()).as(kind.label()).isEqualTo(200);
      }
    }
    try (FakeEngine engine = engine(EngineKind.SGLANG).start()) {
      assertThat(new Client(engine).post("/clear_hicache_storage_backend", "").status())
          .isEqualTo(200);
      assertThat(new Client(engine).get("/").body()).isEqualTo("SGLang is running\n");
    }
  }

  @Test
  void latenciesAreHistograms() throws Exception {
    for (EngineKind kind : new EngineKind[] {EngineKind.SGLANG, EngineKind.VLLM}) {
      try (FakeEngine engine = engine(kind).start()) {
        Client client = new Client(engine);
        for (int i = 0; i < 3; i++) {
          client.post(CHAT, chat("a", ",\"max_tokens\":5"));
        }
        String metrics = client.get("/metrics").body();
        String prefix = kind == EngineKind.VLLM ? "vllm:" : "sglang:";
        assertThat(metrics)
            .contains("# TYPE " + prefix + "time_to_first_token_seconds histogram")
            .containsPattern(prefix + "time_to_first_token_seconds_bucket\\{.*le=\"\\+Inf\"\\} 3\n")
            .containsPattern(prefix + "time_to_first_token_seconds_count\\{.*\\} 3\n")
            .containsPattern(prefix + "inter_token_latency_seconds_count\\{.*\\} 12\n")
            .containsPattern(prefix + "e2e_request_latency_seconds_count\\{.*\\} 3\n");
      }
    }
  }
}
