package dev.warmpath.fake;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpServer;
import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.scheduler.KvTransfer;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Prefill and decode workers that hand KV over, each asked over HTTP. */
@Timeout(60)
class HandoffIT {
  private static final Duration SHORT = Duration.ofMillis(200);
  private static final Duration LONG = Duration.ofSeconds(50);

  private FakeEngine prefill;
  private FakeEngine decode;
  private boolean bySocket;

  private void start(EngineKind kind, Duration bootstrap, Duration waiting, Duration lease) {
    prefill = engine(kind, WorkerRole.PREFILL, new HandoffTimeouts(bootstrap, waiting, lease));
    decode = engine(kind, WorkerRole.DECODE, new HandoffTimeouts(bootstrap, waiting, lease));
  }

  private FakeEngine engine(EngineKind kind, WorkerRole role, HandoffTimeouts timeouts) {
    return FakeEngine.builder()
        .kind(kind)
        .role(role)
        .model("m")
        .speedup(50)
        .disconnectDelay(Duration.ZERO)
        .kvTransfer(new KvTransfer(100_000, 10))
        .handoffsBySocket(bySocket)
        .handoffTimeouts(timeouts)
        .start();
  }

  @AfterEach
  void nothingIsHeld() {
    for (FakeEngine engine : List.of(prefill, decode)) {
      await()
          .atMost(Duration.ofMinutes(1))
          .untilAsserted(
              () -> {
                assertThat(engine.handoffs()).isZero();
                assertThat(engine.stats().activeBlocks()).isZero();
                assertThat(engine.stats().running() + engine.stats().waiting()).isZero();
              });
      engine.close();
    }
  }

  private String sglang(long room, String more) {
    return Client.chat(
        "tell me about rooms",
        ",\"max_tokens\":12,\"bootstrap_host\":\"127.0.0.1\",\"bootstrap_port\":"
            + prefill.sideChannelPort()
            + ",\"bootstrap_room\":"
            + room
            + ",\"rid\":\"r"
            + room
            + "\""
            + more);
  }

  private static String content(JsonNode answer) {
    return answer.path("choices").path(0).path("message").path("content").asText();
  }

  private static String aggregated(EngineKind kind, String body) throws Exception {
    try (FakeEngine engine = FakeEngine.builder().kind(kind).model("m").speedup(50).start()) {
      return content(new Client(engine).post(Client.CHAT, body).json());
    }
  }

  @Test
  void sglangMeetsInARoomWhoeverComesFirst() throws Exception {
    start(EngineKind.SGLANG, LONG, LONG, LONG);
    String expected =
        aggregated(EngineKind.SGLANG, Client.chat("tell me about rooms", ",\"max_tokens\":12"));
    for (long room : new long[] {1, 1L << 62}) {
      FakeEngine first = room == 1 ? prefill : decode;
      FakeEngine second = room == 1 ? decode : prefill;
      var early = new Client(first).postAsync(Client.CHAT, sglang(room, ""));
      await().atMost(Duration.ofMinutes(1)).until(() -> first.handoffs() == 1);
      assertThat(early).isNotDone();
      Client.Reply late = new Client(second).post(Client.CHAT, sglang(room, ""));
      String earlyBody = early.get(30, TimeUnit.SECONDS).body();
      JsonNode ofPrefill = room == 1 ? Client.json(earlyBody) : late.json();
      JsonNode ofDecode = room == 1 ? late.json() : Client.json(earlyBody);
      assertThat(content(ofDecode)).isEqualTo(expected);
      assertThat(ofDecode.path("usage").path("completion_tokens").asInt()).isEqualTo(12);
      assertThat(ofPrefill.path("usage").path("completion_tokens").asInt()).isEqualTo(1);
      assertThat(ofPrefill.path("choices").path(0).path("finish_reason").asText())
          .isEqualTo("length");
    }
  }

  @Test
  void sglangRefusesWhatNamesNoRoomOrSeveral() throws Exception {
    start(EngineKind.SGLANG, LONG, LONG, LONG);
    Client.Reply none = new Client(decode).post(Client.CHAT, Client.chat("x", ""));
    assertThat(none.status()).isEqualTo(400);
    assertThat(none.json().path("message").asText()).contains("without bootstrap room id");
    assertThat(new Client(prefill).post(Client.CHAT, sglang(5, ",\"n\":2")).status())
        .isEqualTo(400);
  }

  @Test
  void sglangSidesThatNobodyMeetsTimeOut() throws Exception {
    start(EngineKind.SGLANG, SHORT, SHORT, LONG);
    Client.Reply alone = new Client(prefill).post(Client.CHAT, sglang(7, ""));
    assertThat(alone.status()).isEqualTo(500);
    assertThat(alone.json().path("message").asText())
        .isEqualTo(
            "Prefill bootstrap failed: KVTransferError(bootstrap_room=7): timed out after 0.2s in"
                + " KVPoll.Bootstrapping");
    Client.Reply lonely = new Client(decode).post(Client.CHAT, sglang(8, ""));
    assertThat(lonely.status()).isEqualTo(500);
    assertThat(lonely.json().path("message").asText())
        .startsWith("Decode transfer failed: KVTransferError(bootstrap_room=8)")
        .endsWith("KVPoll.WaitingForInput");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void sglangAbortOfEitherSideFreesBoth(boolean sockets) throws Exception {
    bySocket = sockets;
    start(EngineKind.SGLANG, LONG, LONG, LONG);
    for (FakeEngine aborted : List.of(prefill, decode)) {
      prefill.pause(); // holds the prompt back, so that decode's reservation waits for it
      var ofPrefill = new Client(prefill).postAsync(Client.CHAT, sglang(9, ""));
      var ofDecode = new Client(decode).postAsync(Client.CHAT, sglang(9, ""));
      await().atMost(Duration.ofMinutes(1)).until(() -> decode.stats().activeBlocks() > 0);
      new Client(aborted).post("/abort_request", "{\"rid\":\"r9\"}");
      HttpResponse<String> other =
          (aborted == prefill ? ofDecode : ofPrefill).get(30, TimeUnit.SECONDS);
      assertThat(other.statusCode()).isEqualTo(500);
      assertThat(other.body()).contains("KVTransferError(bootstrap_room=9)");
      CompletableFuture.allOf(ofPrefill, ofDecode).get(30, TimeUnit.SECONDS);
      prefill.resume();
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> prefill.handoffs() + decode.handoffs() == 0);
    }
  }

  @Test
  void sglangDeathOfPrefillIsDecodesError() throws Exception {
    start(EngineKind.SGLANG, LONG, LONG, LONG);
    prefill.pause();
    var ofPrefill = new Client(prefill).postAsync(Client.CHAT, sglang(11, ""));
    var ofDecode = new Client(decode).postAsync(Client.CHAT, sglang(11, ""));
    await().atMost(Duration.ofMinutes(1)).until(() -> decode.stats().activeBlocks() > 0);
    prefill.kill();
    HttpResponse<String> answer = ofDecode.get(30, TimeUnit.SECONDS);
    assertThat(answer.statusCode()).isEqualTo(500);
    assertThat(answer.body()).contains("Lost connection with prefill instance");
    assertThat(ofPrefill.handle((r, e) -> e != null).get(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void prefillThatDoesNotHearDecodeLosesTheConnectionInPlaceOfWaiting() throws Exception {
    start(EngineKind.SGLANG, LONG, LONG, LONG);
    HttpServer deaf =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    ExecutorService threads = Executors.newCachedThreadPool();
    deaf.setExecutor(threads);
    deaf.createContext(
        "/fake/handoffs",
        exchange -> {
          if (exchange.getRequestURI().getPath().equals("/fake/handoffs")) {
            exchange.sendResponseHeaders(200, 0);
            exchange
                .getResponseBody()
                .write(
                    "{\"id\":7}\n{\"do\":\"RESERVE_DESTINATION\",\"action\":0}\n".getBytes(UTF_8));
            exchange.getResponseBody().flush(); // and goes on
          } else {
            exchange.close(); // without an answer
          }
        });
    deaf.start();
    try {
      String body = sglang(6, "").replace(":" + prefill.sideChannelPort(), ":" + port(deaf));
      Client.Reply answer = new Client(decode).post(Client.CHAT, body);
      assertThat(answer.status()).isEqualTo(500);
      assertThat(answer.body()).contains("Lost connection with prefill instance");
    } finally {
      deaf.stop(0);
      threads.shutdownNow();
    }
  }

  private static int port(HttpServer server) {
    return server.getAddress().getPort();
  }

  @Test
  void sglangManyAtOnceMeetEachInTheirOwnRoom() throws Exception {
    start(EngineKind.SGLANG, LONG, LONG, LONG);
    Client toPrefill = new Client(prefill);
    Client toDecode = new Client(decode);
    List<CompletableFuture<HttpResponse<String>>> all = new java.util.ArrayList<>();
    for (long room = 100; room < 200; room++) {
      all.add(toPrefill.postAsync(Client.CHAT, sglang(room, "")));
      all.add(toDecode.postAsync(Client.CHAT, sglang(room, "")));
    }
    for (var answer : all) {
      HttpResponse<String> response = answer.get(50, TimeUnit.SECONDS);
      assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    }
  }

  @Test
  void sglangClientThatLeavesTheStreamFreesDecode() throws Exception {
    start(EngineKind.SGLANG, LONG, LONG, LONG);
    var ofPrefill =
        new Client(prefill).postAsync(Client.CHAT, sglang(13, ",\"max_completion_tokens\":5000"));
    HttpResponse<InputStream> stream =
        new Client(decode)
            .open(Client.CHAT, sglang(13, ",\"stream\":true,\"max_completion_tokens\":5000"));
    assertThat(stream.body().read()).isEqualTo('d');
    assertThat(ofPrefill.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
    stream.body().close();
    await().atMost(Duration.ofMinutes(1)).until(() -> decode.stats().aborted() == 1);
  }

  private static final String PRODUCER =
      ",\"max_tokens\":1,\"kv_transfer_params\":"
          + "{\"do_remote_decode\":true,\"do_remote_prefill\":false}";

  private JsonNode hand() throws Exception {
    Client.Reply reply =
        new Client(prefill).post(Client.CHAT, Client.chat("tell me about leases", PRODUCER));
    assertThat(reply.status()).isEqualTo(200);
    return reply.json().path("kv_transfer_params");
  }

  private static String fetch(JsonNode params, String more) {
    return Client.chat(
        "tell me about leases", ",\"max_tokens\":12,\"kv_transfer_params\":" + params + more);
  }

  @Test
  void vllmDecodeFetchesWhatPrefillHolds() throws Exception {
    start(EngineKind.VLLM, LONG, LONG, LONG);
    JsonNode params = hand();
    assertThat(params.path("do_remote_prefill").asBoolean()).isTrue();
    assertThat(params.path("do_remote_decode").asBoolean()).isFalse();
    assertThat(params.path("remote_host").asText()).isEqualTo("127.0.0.1");
    assertThat(params.has("remote_engine_id")).isTrue();
    assertThat(params.has("remote_port")).isTrue();
    assertThat(params.path("tp_size").asInt()).isEqualTo(1);
    assertThat(params.path("remote_block_ids").path(0)).isNotEmpty();
    assertThat(prefill.handoffs()).isEqualTo(1);
    assertThat(prefill.stats().activeBlocks()).isPositive();
    Client.Reply answer = new Client(decode).post(Client.CHAT, fetch(params, ""));
    assertThat(content(answer.json()))
        .isEqualTo(
            aggregated(EngineKind.VLLM, Client.chat("tell me about leases", ",\"max_tokens\":12")));
    Client.Reply again = new Client(decode).post(Client.CHAT, fetch(params, ""));
    assertThat(again.status()).isEqualTo(500);
    assertThat(again.body()).contains("KV load failed");
  }

  @Test
  void vllmRefusesParametersThatLostAField() throws Exception {
    start(EngineKind.VLLM, LONG, LONG, LONG);
    JsonNode params = hand();
    ObjectNode lossy = params.deepCopy();
    lossy.remove("fake_seal");
    Client.Reply refused = new Client(decode).post(Client.CHAT, fetch(lossy, ""));
    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.body()).contains("invalid KVTransferParams");
    assertThat(new Client(decode).post(Client.CHAT, fetch(params, "")).status()).isEqualTo(200);
  }

  @Test
  void vllmLeaseEnds() throws Exception {
    start(EngineKind.VLLM, LONG, LONG, SHORT);
    JsonNode params = hand();
    await().atMost(Duration.ofMinutes(1)).until(() -> prefill.handoffs() == 0);
    assertThat(new Client(decode).post(Client.CHAT, fetch(params, "")).status()).isEqualTo(500);
  }

  @Test
  void vllmDecodeComputesAPromptThatNobodyHandsOver() throws Exception {
    start(EngineKind.VLLM, LONG, LONG, LONG);
    String plain = Client.chat("tell me about leases", ",\"max_tokens\":12");
    assertThat(content(new Client(decode).post(Client.CHAT, plain).json()))
        .isEqualTo(aggregated(EngineKind.VLLM, plain));
  }
}
