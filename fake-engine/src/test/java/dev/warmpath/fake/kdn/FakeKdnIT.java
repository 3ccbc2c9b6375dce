package dev.warmpath.fake.kdn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpServer;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.knowledge.KnowledgeIds;
import dev.warmpath.worker.EngineKind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FakeKdnIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private static final String LONG = "a passage that fills some chunks. ".repeat(100);

  private static FakeKdn.Builder quick() {
    return FakeKdn.builder().speedup(1000);
  }

  private static FakeEngine engine(EngineKind kind) {
    return FakeEngine.builder().kind(kind).model("m").timing(LatencyModel.instant()).start();
  }

  private static CompletableFuture<HttpResponse<String>> send(String url, JsonNode body) {
    return HTTP.sendAsync(
        HttpRequest.newBuilder(URI.create(url))
            .timeout(Duration.ofSeconds(60))
            .POST(HttpRequest.BodyPublishers.ofString(body.toString()))
            .build(),
        HttpResponse.BodyHandlers.ofString());
  }

  private static JsonNode post(String url, JsonNode body) throws IOException {
    HttpResponse<String> answer = send(url, body).join();
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body());
  }

  private static ObjectNode ids(String... kids) {
    ObjectNode body = JSON.createObjectNode();
    List.of(kids).forEach(body.putArray("knowledge_ids")::add);
    return body;
  }

  private static ObjectNode injection(FakeKdn kdn, String... kids) {
    return ids(kids).put("request_id", 1).put("model", "m").put("kdn_addr", kdn.url());
  }

  private static JsonNode chat(FakeEngine engine, String knowledge) throws IOException {
    ObjectNode body = JSON.createObjectNode().put("model", "m").put("max_tokens", 1);
    var messages = body.putArray("messages");
    messages.addObject().put("role", "system").put("content", knowledge);
    messages.addObject().put("role", "user").put("content", "and?");
    return post(engine.url() + "/v1/chat/completions", body).path("usage");
  }

  @Test
  void tellsWhatItHasAsTheOriginalDoes() throws IOException {
    try (FakeKdn kdn = quick().id("kdn_a").start()) {
      String ready = kdn.addReady(LONG, "m");
      JsonNode created =
          post(
              kdn.url() + "/knowledge/register_text",
              JSON.createObjectNode().put("content", "  caf\u00e9 \ud83d\ude00\r\n"));
      String kid = created.path("kid").asText();
      assertThat(kid).isEqualTo(KnowledgeIds.of("caf\u00e9 \ud83d\ude00"));
      assertThat(created.path("length").asInt()).isEqualTo(6); // as Python counts
      assertThat(created.path("status").asText()).isEqualTo("created");

      ObjectNode fields = JSON.createObjectNode();
      fields.putArray("need_fields").add("kid").add("length").add("kv_ready");
      JsonNode snapshot = post(kdn.url() + "/knowledge/snapshot", fields);

      assertThat(snapshot.path("count").asInt()).isEqualTo(2);
      for (JsonNode item : snapshot.path("items")) {
        assertThat(item.properties()).hasSize(3);
        assertThat(item.path("kv_ready").asInt())
            .isEqualTo(item.path("kid").asText().equals(ready) ? 1 : 0);
      }
      JsonNode texts =
          post(
              kdn.url() + "/knowledge/search/text",
              ids(kid.toUpperCase(java.util.Locale.ROOT), "0".repeat(64)));
      assertThat(texts.at("/items/0/id").asText()).isEqualTo(kid);
      assertThat(texts.at("/items/0/content").asText()).isEqualTo("caf\u00e9 \ud83d\ude00");
      assertThat(texts.path("miss").get(0).asText()).isEqualTo("0".repeat(64));
      JsonNode hello =
          post(kdn.url() + "/v1/topology/hello", JSON.createObjectNode().put("instance_id", "i"));
      assertThat(hello.path("kdn_id").asText()).isEqualTo("kdn_a");
      assertThat(hello.path("kdn_port").asInt()).isEqualTo(kdn.port());
      assertThat(kdn.stats().textBytes()).isEqualTo(10);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM", "ATOM"})
  void injectedKvMakesTheNextPromptHit(EngineKind kind) throws IOException {
    try (FakeKdn kdn = quick().start();
        FakeEngine engine = engine(kind)) {
      String kid = kdn.addReady(LONG, "m");
      String small = kdn.add("a text without KV");

      JsonNode answer =
          post(engine.url() + "/v1/kv/inject_ready", injection(kdn, kid, small, "f".repeat(64)));

      assertThat(answer.at("/injected_kids/0").asText()).isEqualTo(kid);
      assertThat(answer.at("/text_only_kids/0").asText()).isEqualTo(small);
      assertThat(answer.at("/miss_kids/0").asText()).isEqualTo("f".repeat(64));
      assertThat(answer.path("payload_bytes").asLong()).isEqualTo(3L * 256 * 96_000);
      assertThat(answer.has(KdnApi.DELIVERED)).isFalse();
      assertThat(engine.stats().cachedBlocks()).isPositive();
      chat(engine, KnowledgeIds.normalise(LONG));
      assertThat(engine.stats().cachedTokens()).isEqualTo(3 * 256);
      assertThat(kdn.stats().kvBytes()).isEqualTo(3L * 256 * 96_000);
    }
  }

  @Test
  void kvOfAnotherModelIsTakenAndNeverFound() throws IOException {
    try (FakeKdn kdn = quick().start();
        FakeEngine engine = engine(EngineKind.VLLM)) {
      String kid = kdn.addReady(LONG, "another");

      JsonNode answer = post(engine.url() + "/v1/kv/inject_ready", injection(kdn, kid));

      assertThat(answer.at("/injected_kids/0").asText()).isEqualTo(kid);
      assertThat(engine.stats().cachedBlocks()).isZero();
    }
  }

  @Test
  void builtKvIsAsLongAsTheEngineSays() throws IOException {
    try (FakeKdn kdn = quick().start();
        FakeEngine builder = engine(EngineKind.VLLM);
        FakeEngine engine = engine(EngineKind.VLLM)) {
      String kid = kdn.add(LONG);
      ObjectNode build =
          JSON.createObjectNode()
              .put("kid", kid)
              .put("api_url", builder.url() + "/v1/chat/completions")
              .put("model", "m");

      assertThat(post(kdn.url() + "/knowledge/build_kv", build).path("dumped_keys").asInt())
          .isEqualTo(3);

      post(engine.url() + "/v1/kv/inject_ready", injection(kdn, kid));
      chat(engine, KnowledgeIds.normalise(LONG));
      assertThat(engine.stats().cachedTokens()).isEqualTo(3 * 256);
    }
  }

  @Test
  void nodeThatIsGoneIsTheInstancesErrorAndTheEngineGoesOn() throws IOException {
    try (FakeKdn kdn = quick().start();
        FakeEngine engine = engine(EngineKind.VLLM)) {
      String kid = kdn.addReady(LONG, "m");
      kdn.kill();

      assertThat(
              send(engine.url() + "/v1/kv/inject_ready", injection(kdn, kid)).join().statusCode())
          .isEqualTo(500);
      assertThat(send(engine.url() + "/v1/kv/inject_ready", ids(kid)).join().statusCode())
          .isEqualTo(422);

      kdn.restart();
      post(engine.url() + "/v1/kv/inject_ready", injection(kdn, kid));
      chat(engine, KnowledgeIds.normalise(LONG));
      assertThat(engine.stats().cachedTokens()).isPositive();
    }
  }

  @Test
  void hangEndsLateAndFlapsResetEverySecondRequest() throws IOException {
    try (FakeKdn kdn = quick().start()) {
      ObjectNode all = JSON.createObjectNode();
      kdn.faults().hang(true);
      CompletableFuture<HttpResponse<String>> held = send(kdn.url() + "/knowledge/snapshot", all);
      await().atMost(Duration.ofMinutes(1)).until(() -> kdn.stats().requests() == 1);
      assertThat(held).isNotDone();
      kdn.faults().hang(false);
      assertThat(held.join().statusCode()).isEqualTo(200);

      kdn.faults().flap(true);
      assertThatThrownBy(() -> send(kdn.url() + "/knowledge/snapshot", all).join())
          .hasRootCauseInstanceOf(IOException.class);
    }
  }

  @Test
  void liarClaimsWhatIsNot() throws IOException {
    try (FakeKdn kdn = quick().start();
        FakeEngine engine = engine(EngineKind.VLLM)) {
      String kid = kdn.add("short");
      kdn.faults().add("lie");

      JsonNode snapshot = post(kdn.url() + "/knowledge/snapshot", JSON.createObjectNode());
      assertThat(snapshot.path("items")).hasSize(2);
      assertThat(snapshot.at("/items/0/kv_ready").asInt()).isEqualTo(1);
      JsonNode text = post(kdn.url() + "/knowledge/search/text", ids(kid));
      assertThat(KnowledgeIds.of(text.at("/items/0/content").asText())).isNotEqualTo(kid);
      JsonNode answer = post(engine.url() + "/v1/kv/inject_ready", injection(kdn, kid));
      assertThat(answer.at("/injected_kids/0").asText()).isEqualTo(kid);
      assertThat(engine.stats().cachedBlocks()).isZero();
      assertThatThrownBy(() -> kdn.faults().add("sulk"))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void registersReportsItsLoadAndRegistersAgainWhenForgotten() throws Exception {
    ConcurrentLinkedQueue<String> heard = new ConcurrentLinkedQueue<>();
    AtomicBoolean forgets = new AtomicBoolean();
    AtomicInteger reported = new AtomicInteger();
    HttpServer plane =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    plane.createContext(
        "/v1/kdn/",
        exchange -> {
          String what = exchange.getRequestURI().getPath().substring("/v1/kdn/".length());
          JsonNode body = JSON.readTree(exchange.getRequestBody());
          heard.add(what + " " + body.path("kdn_id").asText());
          boolean unknown = what.equals("heartbeat") && forgets.getAndSet(false);
          if (body.has("pending_transfers") && body.has("network_queue_ms_ema")) {
            reported.incrementAndGet();
          }
          byte[] answer = "{\"heartbeat_interval_s\":5}".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(unknown ? 404 : 200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    plane.start();
    try {
      FakeKdn kdn =
          quick()
              .id("kdn_a")
              .controlPlane("http://127.0.0.1:" + plane.getAddress().getPort())
              .heartbeat(Duration.ofMillis(1))
              .start();
      try (kdn) {
        await().atMost(Duration.ofMinutes(1)).until(() -> kdn.stats().heartbeats() >= 2);
        assertThat(heard.peek()).isEqualTo("register kdn_a");
        assertThat(reported).hasPositiveValue();
        forgets.set(true);
        await().atMost(Duration.ofMinutes(1)).until(() -> kdn.stats().registrations() == 2);
      }
      assertThat(heard).contains("unregister kdn_a");
    } finally {
      plane.stop(0);
    }
  }

  @Test
  void vanishesAtTheRequestThatWasSaid() throws IOException {
    try (FakeKdn kdn = quick().start()) {
      kdn.faults().add("vanish=1");
      post(kdn.url() + "/knowledge/snapshot", JSON.createObjectNode());
      for (int i = 0; i < 2; i++) {
        assertThatThrownBy(
                () -> send(kdn.url() + "/knowledge/snapshot", JSON.createObjectNode()).join())
            .hasRootCauseInstanceOf(IOException.class);
      }
    }
  }
}
