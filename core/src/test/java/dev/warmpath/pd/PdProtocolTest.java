package dev.warmpath.pd;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.api.Headers;
import dev.warmpath.api.RouteOptions;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.index.BlockLocations;
import dev.warmpath.prompt.Prompt;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What each protocol says to each side, field by field. */
class PdProtocolTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String RID = "0123456789abcdef0123456789abcdef";
  private static final String BODY =
      "{\"model\":\"m\", \"messages\":[{\"role\":\"user\",\"content\":\"hé\\n\"}],"
          + "\"stream\":true,\"stream_options\":{\"include_usage\":true},\"max_tokens\":50,"
          + "\"max_completion_tokens\":50,\"min_tokens\":3,\"stop\":[\"x\"],\"temperature\":0.25,"
          + "\"bootstrap_room\":7,\"rid\":\"mine\",\"kv_transfer_params\":{\"a\":1}}";

  private static PdPair pair(String prefill, String decode) {
    try (PdFixture fixture =
        new PdFixture(1, PdSettings.DEFAULT, (call, done) -> done.accept(true), prefill, decode)) {
      Prompt prompt =
          fixture.dispatcher.read(
              RouterRequest.chatCompletions("{\"model\":\"m\",\"messages\":[]}"));
      String path =
          prefill.contains("p2pnccl") ? RouterRequest.COMPLETIONS : RouterRequest.CHAT_COMPLETIONS;
      PdChoice choice =
          fixture
              .shared
              .selector()
              .choose(
                  new PdWanted(
                      fixture.shared.selector().rules(),
                      prompt,
                      RouteOptions.NONE,
                      BlockLocations.NONE,
                      path,
                      null),
                  new PdExclusions());
      choice.decode().neutral(null);
      choice.prefill().neutral(null);
      return choice.pair();
    }
  }

  private static Original original(String... headers) {
    return new Original(
        RouterRequest.CHAT_COMPLETIONS,
        Headers.of(headers),
        JsonFields.find(BODY.getBytes(StandardCharsets.UTF_8)),
        true);
  }

  private static AttemptIds ids(PdPair pair, long room) {
    PdProtocol protocol = pair.decodeTraits().protocol();
    return new AttemptIds(RID, room, "xfer-" + RID, protocol.requestId(pair, RID));
  }

  private static JsonNode json(LegRequest request) throws Exception {
    return JSON.readTree(request.body());
  }

  private static List<String> differing(JsonNode one, JsonNode other) {
    List<String> names = new ArrayList<>();
    one.fieldNames().forEachRemaining(names::add);
    other
        .fieldNames()
        .forEachRemaining(
            name -> {
              if (!names.contains(name)) {
                names.add(name);
              }
            });
    names.removeIf(name -> one.has(name) && one.get(name).equals(other.get(name)));
    return names;
  }

  @Test
  void i5_i8_sglang_bodies_differ_in_the_ranks_only_and_name_the_prefill_worker() throws Exception {
    PdPair pair =
        pair(
            "http://[::1]:30000;role=prefill;model=m;engine=sglang;dp=4;bootstrap-port=9001",
            "http://d0:1;role=decode;model=m;engine=sglang;dp=2");
    AttemptIds ids = ids(pair, 41);
    LegRequest prefill = PdProtocols.SGLANG.prefill(pair, ids, original());
    LegRequest decode = PdProtocols.SGLANG.decode(pair, ids, original(), null);
    JsonNode p = json(prefill);
    JsonNode d = json(decode);
    assertThat(p.get("bootstrap_host").asText()).isEqualTo("[::1]");
    assertThat(p.get("bootstrap_port").asInt()).isEqualTo(9001);
    assertThat(p.get("bootstrap_room").asLong()).isEqualTo(41);
    assertThat(p.get("rid").asText()).isEqualTo(RID);
    assertThat(p.get("routed_dp_rank").asInt()).isEqualTo(pair.prefillRank());
    assertThat(d.get("routed_dp_rank").asInt()).isEqualTo(pair.decodeRank());
    assertThat(d.get("disagg_prefill_dp_rank").asInt()).isEqualTo(pair.prefillRank());
    assertThat(differing(p, d))
        .isSubsetOf("routed_dp_rank", "disagg_prefill_dp_rank")
        .contains("disagg_prefill_dp_rank");
    assertThat(p.get("max_tokens").asInt()).as("the engine limits prefill itself").isEqualTo(50);
    assertThat(prefill.stream()).isTrue();
    assertThat(prefill.rid()).isEqualTo(RID);
    assertThat(new String(prefill.body(), StandardCharsets.UTF_8))
        .contains("\"messages\":[{\"role\":\"user\",\"content\":\"hé\\n\"}]")
        .contains("\"temperature\":0.25");
  }

  @Test
  void sglang_leaves_an_unknown_bootstrap_port_to_the_engine() throws Exception {
    PdPair pair =
        pair(
            "http://p0:1;role=prefill;model=m;engine=sglang",
            "http://d0:1;role=decode;model=m;engine=sglang");
    JsonNode p = json(PdProtocols.SGLANG.prefill(pair, ids(pair, 1), original()));
    assertThat(p.get("bootstrap_port").isNull()).isTrue();
    assertThat(p.has("routed_dp_rank")).isFalse();
    assertThat(p.get("bootstrap_host").asText()).isEqualTo("p0");
  }

  @Test
  void nixl_prefill_is_one_token_and_decode_relays_the_parameters_verbatim() throws Exception {
    PdPair pair =
        pair(
            "http://p0:1;role=prefill;model=m;engine=vllm;dp=2",
            "http://d0:1;role=decode;model=m;engine=vllm");
    AttemptIds ids = ids(pair, 0);
    LegRequest prefill = PdProtocols.NIXL.prefill(pair, ids, original("X-Request-Id", "callers"));
    JsonNode p = json(prefill);
    assertThat(p.get("max_tokens").asInt()).isEqualTo(1);
    assertThat(p.get("max_completion_tokens").asInt()).isEqualTo(1);
    assertThat(p.get("stream").asBoolean()).isFalse();
    assertThat(p.get("ignore_eos").asBoolean()).isTrue();
    assertThat(p.get("min_tokens").asInt()).isZero();
    assertThat(p.has("stream_options") || p.has("stop") || p.has("rid")).isFalse();
    assertThat(p.get("kv_transfer_params").get("do_remote_decode").asBoolean()).isTrue();
    assertThat(p.get("kv_transfer_params").get("remote_block_ids").isNull()).isTrue();
    assertThat(prefill.headers().get("X-Request-Id")).isEqualTo(RID);
    assertThat(prefill.headers().get("X-Correlation-Id")).isEqualTo("callers");
    assertThat(prefill.headers().get("X-data-parallel-rank"))
        .isEqualTo(Integer.toString(pair.prefillRank()));
    assertThat(prefill.stream()).isFalse();

    byte[] params = "{ \"remote_block_ids\": [[1, 2]],\"x\" :1e3}".getBytes(StandardCharsets.UTF_8);
    LegRequest decode = PdProtocols.NIXL.decode(pair, ids, original(), params);
    assertThat(new String(decode.body(), StandardCharsets.UTF_8))
        .contains("\"kv_transfer_params\":{ \"remote_block_ids\": [[1, 2]],\"x\" :1e3}")
        .contains("\"max_tokens\":50")
        .contains("\"stop\":[\"x\"]");
    assertThat(decode.headers().get("X-Request-Id")).isEqualTo(RID);
    assertThat(decode.stream()).isTrue();
    assertThat(json(PdProtocols.NIXL.decode(pair, ids, original(), null)).has("kv_transfer_params"))
        .as("the caller's own are never sent")
        .isFalse();
  }

  @Test
  void nixl_push_and_mooncake_share_a_transfer_id_and_name_the_prefill_engine() throws Exception {
    PdPair push =
        pair(
            "http://p0:1;role=prefill;model=m;engine=vllm;pd=nixl-push;engine-id=e;kv-port=5;tp=8",
            "http://d0:1;role=decode;model=m;engine=vllm;pd=nixl-push");
    JsonNode p = params(PdProtocols.NIXL_PUSH.prefill(push, ids(push, 0), original()));
    JsonNode d = params(PdProtocols.NIXL_PUSH.decode(push, ids(push, 0), original(), null));
    assertThat(p.get("transfer_id")).isEqualTo(d.get("transfer_id"));
    assertThat(d.get("remote_engine_id").asText()).isEqualTo("e");
    assertThat(d.get("remote_host").asText()).isEqualTo("p0");
    assertThat(d.get("remote_port").asInt()).isEqualTo(5);
    assertThat(d.get("tp_size").asInt()).isEqualTo(8);
    assertThat(d.has("remote_block_ids")).isFalse();

    PdPair mooncake =
        pair(
            "http://p0:1;role=prefill;model=m;engine=vllm;pd=mooncake;engine-id=e;dp=2",
            "http://d0:1;role=decode;model=m;engine=vllm;pd=mooncake");
    d = params(PdProtocols.MOONCAKE.decode(mooncake, ids(mooncake, 0), original(), null));
    assertThat(d.get("remote_engine_id").asText()).isEqualTo("e_dp" + mooncake.prefillRank());
    assertThat(d.get("remote_bootstrap_addr").asText()).isEqualTo("http://p0:8998");
    assertThat(d.get("do_remote_prefill").asBoolean()).isTrue();
  }

  private static JsonNode params(LegRequest request) throws Exception {
    return json(request).get("kv_transfer_params");
  }

  @Test
  void moriio_ids_name_both_sides_and_reading_copies_what_prefill_named() throws Exception {
    String more = ";engine=vllm;model=m;handshake-port=6400;pd=";
    PdPair write =
        pair(
            "http://p0:1;role=prefill" + more + "moriio",
            "http://d0:1;role=decode" + more + "moriio");
    String id = PdProtocols.MORIIO.requestId(write, RID);
    assertThat(id)
        .isEqualTo(
            "___prefill_addr_host:p0,handshake:6400,notify:61005"
                + "___decode_addr_host:d0,handshake:6400,notify:61005_"
                + RID);
    JsonNode p = params(PdProtocols.MORIIO.prefill(write, ids(write, 0), original()));
    JsonNode d = params(PdProtocols.MORIIO.decode(write, ids(write, 0), original(), null));
    assertThat(p.get("remote_host").asText()).isEqualTo("d0");
    assertThat(d.get("remote_host").asText()).isEqualTo("p0");
    assertThat(p.get("transfer_id")).isEqualTo(d.get("transfer_id"));
    assertThat(PdProtocols.MORIIO.boundToDecode()).isTrue();

    PdPair read =
        pair(
            "http://p0:1;role=prefill" + more + "moriio-read",
            "http://d0:1;role=decode" + more + "moriio-read");
    assertThat(PdProtocols.MORIIO_READ.shape()).isEqualTo(PdShape.SEQUENTIAL);
    byte[] given =
        "{\"remote_engine_id\":\"e\",\"remote_block_ids\":[1],\"transfer_id\":\"tx-1\"}"
            .getBytes(StandardCharsets.UTF_8);
    d = params(PdProtocols.MORIIO_READ.decode(read, ids(read, 0), original(), given));
    assertThat(d.get("transfer_id").asText()).isEqualTo("tx-1");
    assertThat(d.get("remote_block_ids").get(0).asInt()).isEqualTo(1);
    assertThat(d.get("do_remote_prefill").asBoolean()).isTrue();
  }

  @Test
  void p2p_nccl_says_it_all_in_the_id_and_serves_completions_only() {
    PdPair pair =
        pair(
            "http://p0:1;role=prefill;model=m;engine=vllm;pd=p2pnccl;kv-port=21001",
            "http://d0:1;role=decode;model=m;engine=vllm;pd=p2pnccl;kv-port=22001");
    assertThat(PdProtocols.P2P_NCCL.requestId(pair, RID))
        .isEqualTo("___prefill_addr_p0:21001___decode_addr_d0:22001_" + RID);
    assertThat(PdProtocols.P2P_NCCL.serves(RouterRequest.CHAT_COMPLETIONS)).isFalse();
    assertThat(PdProtocols.P2P_NCCL.serves(RouterRequest.COMPLETIONS)).isTrue();
    assertThat(PdProtocols.P2P_NCCL.handsOver()).isFalse();
  }

  @Test
  void i9_atom_adds_three_keys_to_what_prefill_gave() throws Exception {
    PdPair pair =
        pair(
            "http://p0:1;role=prefill;model=m;engine=atom;dp=2;tp=4",
            "http://d0:1;role=decode;model=m;engine=atom;dp=2");
    LegRequest prefill = PdProtocols.ATOM.prefill(pair, ids(pair, 0), original());
    assertThat(json(prefill).get("data_parallel_rank").asInt()).isEqualTo(pair.prefillRank());
    assertThat(json(prefill).get("max_completion_tokens").asInt()).isEqualTo(1);
    byte[] given =
        "{\"transfer_id\":17,\"dp_rank\":1,\"tp_size\":8,\"remote_block_ids\":[3]}"
            .getBytes(StandardCharsets.UTF_8);
    LegRequest decode = PdProtocols.ATOM.decode(pair, ids(pair, 0), original(), given);
    JsonNode d = params(decode);
    assertThat(d.get("remote_dp_size").asInt()).isEqualTo(2);
    assertThat(d.get("remote_tp_size").asInt()).isEqualTo(4);
    assertThat(d.get("remote_dp_rank").asInt()).isEqualTo(1);
    assertThat(differing(JSON.readTree(given), d))
        .containsExactlyInAnyOrder("remote_dp_size", "remote_tp_size", "remote_dp_rank");
    assertThat(json(decode).get("data_parallel_rank").asInt()).isEqualTo(pair.decodeRank());
    assertThat(PdProtocols.ATOM.recomputes()).isFalse();
    assertThat(PdProtocols.ATOM.finishesPrefill()).isTrue();
  }

  @Test
  void i17_logprobs_of_the_prompt_are_prefills_then_decodes() throws Exception {
    LogprobMerge merge =
        LogprobMerge.of(
            "{\"text\":\"\",\"meta_info\":{\"input_token_logprobs\":[[-1,5,null],[-2,6,null]]}}"
                .getBytes(StandardCharsets.UTF_8));
    assertThat(merge).isNotNull();
    String merged =
        merge.merged(
            "{\"text\":\"a\",\"meta_info\":{\"id\":\"r\",\"input_token_logprobs\":[[-3,7]]}}");
    JsonNode logprobs = JSON.readTree(merged).get("meta_info").get("input_token_logprobs");
    assertThat(logprobs.toString()).isEqualTo("[[-1,5,null],[-2,6,null],[-3,7]]");
    assertThat(JSON.readTree(merged).get("text").asText()).isEqualTo("a");
    assertThat(merge.merged("{\"meta_info\":{\"input_token_logprobs\":[]}}"))
        .contains("[[-1,5,null],[-2,6,null]]");
    String untouched = "{\"meta_info\":{\"id\":\"r\"}}";
    assertThat(merge.merged(untouched)).isSameAs(untouched);
    String noArray = "{\"meta_info\":{\"input_token_logprobs\":{\"0\":[-3,7]}}}";
    assertThat(merge.merged(noArray)).as("nothing to put in front of").isEqualTo(noArray);
    assertThat(LogprobMerge.of(noArray.getBytes(StandardCharsets.UTF_8))).isNull();
    assertThat(LogprobMerge.of("[{\"meta_info\":{}}]".getBytes(StandardCharsets.UTF_8))).isNull();
  }

  @Test
  void fields_are_edited_in_place_and_the_rest_keeps_its_bytes() {
    String body = " { \"a\" : 1 , \"b\":\"x\\\"y\",\"c\":[1, {\"a\":2}] ,\"n\":null, \"z\": 12 } ";
    JsonFields fields = JsonFields.find(body.getBytes(StandardCharsets.UTF_8));
    assertThat(fields.text("a")).isEqualTo("1");
    assertThat(fields.text("z")).isEqualTo("12");
    assertThat(fields.text("b")).isEqualTo("\"x\\\"y\"");
    assertThat(fields.raw("n")).isNull();
    assertThat(fields.has("n")).isTrue();
    byte[] edited =
        fields.edit(
            java.util.Set.of("a", "n"), new JsonFields.Added().text("k", "v\"").number("q", 3));
    assertThat(new String(edited, StandardCharsets.UTF_8))
        .isEqualTo("{\"k\":\"v\\\"\",\"q\":3,\"b\":\"x\\\"y\",\"c\":[1, {\"a\":2}],\"z\": 12}");
    assertThat(JsonFields.find("[1]".getBytes(StandardCharsets.UTF_8))).isNull();
    assertThat(JsonFields.find("{\"a\":".getBytes(StandardCharsets.UTF_8))).isNull();
    assertThat(
            new String(
                JsonFields.find("{}".getBytes(StandardCharsets.UTF_8))
                    .edit(java.util.Set.of(), new JsonFields.Added()),
                StandardCharsets.UTF_8))
        .isEqualTo("{}");
  }
}
