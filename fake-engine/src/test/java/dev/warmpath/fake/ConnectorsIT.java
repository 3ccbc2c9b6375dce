package dev.warmpath.fake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.handoff.TransferProtocol;
import dev.warmpath.fake.scheduler.KvTransfer;
import dev.warmpath.worker.WorkerRole;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the connectors of vLLM and ATOM refuse, hold and leave waiting, each asked over HTTP. */
@Timeout(60)
class ConnectorsIT {
  private static final Duration SHORT = Duration.ofMillis(200);
  private static final Duration LONG = Duration.ofSeconds(50);

  private FakeEngine prefill;
  private FakeEngine decode;
  private boolean bySocket;

  private void start(TransferProtocol protocol, Duration waiting, Duration lease) {
    prefill = engine(protocol, WorkerRole.PREFILL, waiting, lease);
    decode = engine(protocol, WorkerRole.DECODE, waiting, lease);
  }

  private FakeEngine engine(
      TransferProtocol protocol, WorkerRole role, Duration waiting, Duration lease) {
    return FakeEngine.builder()
        .kind(protocol.engine())
        .transfer(protocol)
        .role(role)
        .model("m")
        .speedup(50)
        .kvTransfer(new KvTransfer(100_000, 10))
        .handoffsBySocket(bySocket)
        .handoffTimeouts(new HandoffTimeouts(LONG, waiting, lease))
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
                assertThat(engine.heldBlocks()).isZero();
                assertThat(engine.liveRooms()).isZero();
                assertThat(engine.stats().activeBlocks()).isZero();
              });
      engine.close();
    }
  }

  private static String chat(String params) {
    return Client.chat(
        "tell me about connectors", ",\"max_tokens\":6,\"kv_transfer_params\":{" + params + "}");
  }

  private static String producer(String more) {
    return chat("\"do_remote_decode\":true,\"do_remote_prefill\":false" + more);
  }

  private String consumer(String more) {
    return chat("\"do_remote_decode\":false,\"do_remote_prefill\":true" + more);
  }

  private String mooncake(String transfer, String engine) {
    return consumer(
        ",\"transfer_id\":\""
            + transfer
            + "\",\"remote_engine_id\":\""
            + engine
            + "\",\"remote_bootstrap_addr\":\"http://127.0.0.1:"
            + prefill.sideChannelPort()
            + "\"");
  }

  private static void assertRefused(Client.Reply reply, int status, String text) {
    assertThat(reply.status()).as(reply.body()).isEqualTo(status);
    assertThat(reply.body()).contains(text);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void mooncakeTellsItsEnginesAndChecksWhichOneIsMeant(boolean sockets) throws Exception {
    bySocket = sockets;
    start(TransferProtocol.MOONCAKE, LONG, LONG);
    HttpRequest query =
        HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + prefill.sideChannelPort() + "/query"))
            .build();
    JsonNode engines =
        Client.json(
            HttpClient.newHttpClient().send(query, HttpResponse.BodyHandlers.ofString()).body());
    String engine = engines.path("0").path("engine_id").asText();
    assertThat(prefill.workerSpec())
        .as("clients ask it")
        .endsWith(";pd=mooncake;bootstrap-port=" + prefill.sideChannelPort());
    Client toDecode = new Client(decode);
    assertRefused(
        toDecode.post(Client.CHAT, mooncake("t1", "another")), 500, "engine another is not here");
    assertRefused(toDecode.post(Client.CHAT, consumer("")), 500, "KeyError: 'transfer_id'");
    var early = toDecode.postAsync(Client.CHAT, mooncake("t2", engine));
    await().atMost(Duration.ofMinutes(1)).until(() -> prefill.liveRooms() == 1);
    Client.Reply answer =
        new Client(prefill).post(Client.CHAT, producer(",\"transfer_id\":\"t2\""));
    assertThat(answer.json().path("kv_transfer_params").isObject())
        .as("nothing to relay")
        .isFalse();
    JsonNode decoded = Client.json(early.get(30, TimeUnit.SECONDS).body());
    assertThat(decoded.path("usage").path("completion_tokens").asInt()).isEqualTo(6);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void mooncakeDecodeIsLeftToItsOwnTimeoutWhenPrefillIsAborted(boolean sockets) throws Exception {
    bySocket = sockets;
    start(TransferProtocol.MOONCAKE, SHORT, LONG);
    prefill.pause(); // so that it is aborted before it is done
    String engine = "fake-" + prefill.sideChannelPort();
    var ofDecode = new Client(decode).postAsync(Client.CHAT, mooncake("t", engine));
    var ofPrefill = new Client(prefill).postAsync(Client.CHAT, producer(",\"transfer_id\":\"t\""));
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> prefill.stats().received() == 1 && decode.handoffs() == 1);
    ofPrefill.cancel(true);
    HttpResponse<String> answer = ofDecode.get(30, TimeUnit.SECONDS);
    assertThat(answer.statusCode()).isEqualTo(500);
    assertThat(answer.body()).contains("KV load failed (transfer_id=t)", "timed out after 0.2s");
    prefill.resume();
  }

  @ParameterizedTest
  @EnumSource(names = {"NIXL_PUSH", "MOONCAKE", "MORIIO_READ", "ATOM"})
  void prefillHoldsWhatNobodyTakesUntilItsTimeIsOver(TransferProtocol protocol) throws Exception {
    start(protocol, LONG, Duration.ofSeconds(1));
    Client.Reply answer = new Client(prefill).post(Client.CHAT, producer(",\"transfer_id\":\"t\""));
    assertThat(answer.status()).isEqualTo(200);
    assertThat(prefill.heldBlocks()).isPositive();
    assertThat(new Client(prefill).get("/admin/handoffs").json().path("held_blocks").asInt())
        .isEqualTo(prefill.heldBlocks());
    await().atMost(Duration.ofMinutes(1)).until(() -> prefill.heldBlocks() == 0);
  }

  @Test
  void atomWantsWhatItsRouterAdds() throws Exception {
    start(TransferProtocol.ATOM, LONG, LONG);
    JsonNode offered =
        new Client(prefill).post(Client.CHAT, producer("")).json().path("kv_transfer_params");
    assertThat(offered.fieldNames())
        .toIterable()
        .contains(
            "remote_block_ids",
            "remote_swa_block_ids",
            "remote_handshake_port",
            "dp_rank",
            "remote_pp_size",
            "transfer_id",
            "first_token_id",
            "draft_token_ids",
            "local_slot_index",
            "prefix_cache_hit_tokens");
    ObjectNode params = offered.deepCopy();
    assertRefused(fetch(params), 500, "KeyError: 'remote_dp_size'");
    params.put("remote_dp_size", 1).put("remote_tp_size", 1).put("remote_dp_rank", 0);
    int first = params.path("first_token_id").asInt();
    assertRefused(fetch(params.deepCopy().put("first_token_id", first + 1)), 400, "first_token_id");
    assertThat(fetch(params).status()).isEqualTo(200);
    assertRefused(fetch(params), 500, "no blocks are held");
  }

  private Client.Reply fetch(JsonNode params) throws Exception {
    return new Client(decode)
        .post(
            Client.CHAT,
            Client.chat(
                "tell me about connectors", ",\"max_tokens\":6,\"kv_transfer_params\":" + params));
  }

  @Test
  void p2pNcclGoesByItsRequestIds() throws Exception {
    start(TransferProtocol.P2P_NCCL, SHORT, LONG);
    String body = Client.completion("tell me about ids", ",\"max_tokens\":6");
    assertRefused(
        new Client(decode).post(Client.COMPLETIONS, body), 500, "does not contain hostname");
    String id = p2p(decode.sideChannelPort());
    assertThat(new Client(prefill).post(Client.COMPLETIONS, body, "X-Request-Id", id).status())
        .isEqualTo(200);
    Client.Reply answer = new Client(decode).post(Client.COMPLETIONS, body, "X-Request-Id", id);
    assertThat(answer.json().path("usage").path("completion_tokens").asInt()).isEqualTo(6);
    String elsewhere = p2p(decode.sideChannelPort() == 1 ? 2 : 1);
    assertRefused(
        new Client(decode).post(Client.COMPLETIONS, body, "X-Request-Id", elsewhere),
        500,
        "timed out after 0.2s");
  }

  private String p2p(int decodePort) {
    return "___prefill_addr_127.0.0.1:"
        + prefill.sideChannelPort()
        + "___decode_addr_127.0.0.1:"
        + decodePort
        + "_0123456789abcdef0123456789abcdef";
  }

  @Test
  void moriioReadsOnlyWhatAnAnswerNamed() throws Exception {
    start(TransferProtocol.MORIIO_READ, LONG, LONG);
    assertRefused(
        new Client(decode).post(Client.CHAT, consumer(",\"transfer_id\":\"t\"")),
        500,
        "KeyError: 'remote_engine_id'");
    assertRefused(new Client(prefill).post(Client.CHAT, producer("")), 500, "'transfer_id'");
    JsonNode offered =
        new Client(prefill)
            .post(Client.CHAT, producer(",\"transfer_id\":\"t\""))
            .json()
            .path("kv_transfer_params");
    assertThat(offered.path("remote_notify_port").asInt()).isEqualTo(prefill.sideChannelPort());
    assertThat(fetch(offered).status()).isEqualTo(200);
  }
}
