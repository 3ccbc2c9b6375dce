package dev.warmpath.fake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.kv.KvEventEncoding;
import dev.warmpath.fake.kv.KvEventEndpoint;
import dev.warmpath.fake.kv.KvEventSettings;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.text.FakeTokenizer;
import dev.warmpath.hash.BlockHashes;
import dev.warmpath.hash.HashParams;
import dev.warmpath.hash.HashSchemes;
import dev.warmpath.hash.Retention;
import dev.warmpath.worker.EngineKind;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;

/** What fake engines publish, as subscribers see it. */
class KvEventsIT {
  private static final int BLOCK = 16;

  private static FakeEngineBuilder engine(EngineKind kind, KvEventSettings.Builder events) {
    return FakeEngine.builder()
        .kind(kind)
        .model("m")
        .blockSize(BLOCK)
        .blocks(64)
        .timing(LatencyModel.instant())
        .kvEvents(events.build());
  }

  /** Text of so many tokens, which differs from its first token on with {@code from}. */
  private static String text(int tokens, int from) {
    return IntStream.range(from, from + tokens)
        .mapToObj(i -> String.format("%04d", i))
        .collect(Collectors.joining());
  }

  private static int[] prompt(int tokens, int from) {
    return FakeTokenizer.encode(text(tokens, from));
  }

  private static void complete(
      FakeEngine engine, int tokens, int from, String more, String... headers) throws Exception {
    String body = Client.completion(text(tokens, from), ",\"max_tokens\":2" + more);
    Client.Reply reply = new Client(engine).post(Client.COMPLETIONS, body, headers);
    assertThat(reply.status()).as(reply.body()).isEqualTo(200);
  }

  /** A subscriber that is known to be heard: it has received the clearing of an empty cache. */
  private static KvSubscriber subscribe(FakeEngine engine, int rank) throws Exception {
    KvSubscriber subscriber = new KvSubscriber(endpoint(engine).url(rank));
    while (!subscriber.arrives(() -> engine.flushCache())) {
      assertThat(engine.kvEvents()).isNotNull();
    }
    return subscriber;
  }

  private static KvEventEndpoint endpoint(FakeEngine engine) {
    return Objects.requireNonNull(engine.kvEvents());
  }

  private static Map<String, Value> map(Value event) {
    Map<String, Value> map = new HashMap<>();
    event
        .asMapValue()
        .map()
        .forEach((key, value) -> map.put(key.asStringValue().asString(), value));
    return map;
  }

  private static List<Value> array(Value event) {
    return event.asArrayValue().list();
  }

  private static BlockHashes hashes(String scheme, HashParams params, int[] tokens) {
    return HashSchemes.byName(scheme, params)
        .newChain(Retention.DIGESTS)
        .append(tokens)
        .finish()
        .hashes();
  }

  private static HashParams.Builder params() {
    return HashParams.builder().blockSize(BLOCK);
  }

  private static Value tokens(int[] prompt, int from, int to) {
    Value[] values =
        Arrays.stream(prompt, from, to).mapToObj(ValueFactory::newInteger).toArray(Value[]::new);
    return ValueFactory.newArray(values);
  }

  @Test
  void sglangTellsOfEveryPageInArrays() throws Exception {
    try (FakeEngine engine = engine(EngineKind.SGLANG, KvEventSettings.builder()).start();
        KvSubscriber subscriber = subscribe(engine, 0)) {
      int[] prompt = prompt(40, 0);
      complete(engine, 40, 0, "");
      KvSubscriber.Message message = subscriber.next();
      BlockHashes expected = hashes("sglang-event", params().build(), prompt);
      assertThat(message.topic()).isEmpty();
      assertThat(message.rank()).isZero();
      assertThat(message.batch().asArrayValue().get(0).asFloatValue().toDouble())
          .isGreaterThan(1.7e9);
      assertThat(message.events()).hasSize(2);
      for (int page = 0; page < 2; page++) {
        List<Value> event = array(message.events().get(page));
        assertThat(event).hasSize(7);
        assertThat(event.get(0).asStringValue().asString()).isEqualTo("BlockStored");
        assertThat(array(event.get(1)))
            .containsExactly(ValueFactory.newInteger(expected.bits(page)));
        assertThat(event.get(2))
            .isEqualTo(
                page == 0 ? ValueFactory.newNil() : ValueFactory.newInteger(expected.bits(0)));
        assertThat(event.get(3)).isEqualTo(tokens(prompt, page * BLOCK, (page + 1) * BLOCK));
        assertThat(event.get(4).asIntegerValue().asInt()).isEqualTo(BLOCK);
        assertThat(event.get(5).isNilValue()).isTrue();
        assertThat(event.get(6).asStringValue().asString()).isEqualTo("GPU");
      }
      assertThat(engine.flushCache()).isTrue();
      assertThat(subscriber.next().events())
          .extracting(Value::toJson)
          .containsExactly("[\"AllBlocksCleared\"]");
    }
  }

  @Test
  void newerSglangSendsMapsAndSalts() throws Exception {
    try (FakeEngine engine =
            engine(EngineKind.SGLANG, KvEventSettings.builder().topic("kv"))
                .version("0.5.20")
                .start();
        KvSubscriber subscriber = subscribe(engine, 0)) {
      int[] prompt = prompt(16, 0);
      complete(engine, 16, 0, ",\"cache_salt\":\"tenant\"");
      KvSubscriber.Message message = subscriber.next();
      assertThat(message.topic()).isEqualTo("kv");
      Map<String, Value> event = map(message.events().get(0));
      BlockHashes salted = hashes("sglang-event", params().cacheSalt("tenant").build(), prompt);
      assertThat(event.get("type").asStringValue().asString()).isEqualTo("BlockStored");
      assertThat(array(event.get("block_hashes")))
          .containsExactly(ValueFactory.newInteger(salted.bits(0)));
      assertThat(event.get("cache_salt").asStringValue().asString()).isEqualTo("tenant");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "SGLANG, sglang-event, , true",
    "SGLANG, fake-sglang, , true",
    "VLLM, vllm-sha256, , true",
    "VLLM, vllm-sha256, 42, false",
    "VLLM, vllm-sha256-cbor, 0, true",
    "VLLM, vllm-xxhash, 7, true",
    "VLLM, vllm-xxhash-cbor, 7, false",
    "ATOM, atom, , true"
  })
  void everySchemeIsTheEnginesOwnChain(
      EngineKind kind, String scheme, String seed, boolean integers) throws Exception {
    KvEventSettings.Builder settings =
        KvEventSettings.builder().scheme(scheme).integerHashes(integers);
    HashParams.Builder params = params();
    if (seed != null) {
      settings.hashSeed(seed);
      params.seed(seed);
    }
    settings.encoding(KvEventEncoding.MAPS);
    try (FakeEngine engine = engine(kind, settings).start();
        KvSubscriber subscriber = subscribe(engine, 0)) {
      int[] longer = prompt(112, 0);
      // The second prompt goes on where the first ended: its blocks chain on blocks that are there.
      complete(engine, 64, 0, "");
      complete(engine, 112, 0, "");
      BlockHashes expected = hashes(scheme, params.build(), longer);
      List<Value> published = new ArrayList<>();
      while (published.size() < 7) {
        for (Value event : subscriber.next().events()) {
          published.addAll(array(map(event).get("block_hashes")));
        }
      }
      for (int i = 0; i < 7; i++) {
        Value hash = published.get(i);
        if (integers) {
          assertThat(hash.asIntegerValue().asBigInteger())
              .isEqualTo(new BigInteger(expected.reported(i)));
        } else {
          assertThat(HexFormat.of().formatHex(hash.asBinaryValue().asByteArray()))
              .isEqualTo(expected.digestHex(i));
        }
      }
    }
  }

  @Test
  void vllmNamesAdaptersAndExtraKeys() throws Exception {
    try (FakeEngine engine =
            engine(EngineKind.VLLM, KvEventSettings.builder().hashSeed("0"))
                .loraAdapters("poet")
                .start();
        KvSubscriber subscriber = subscribe(engine, 0)) {
      int[] prompt = prompt(40, 0);
      complete(engine, 40, 0, ",\"model\":\"poet\",\"cache_salt\":\"s\"");
      List<Value> events = subscriber.next().events();
      assertThat(events).hasSize(1);
      Map<String, Value> event = map(events.get(0));
      BlockHashes expected =
          hashes("vllm-sha256", params().seed("0").loraName("poet").cacheSalt("s").build(), prompt);
      assertThat(array(event.get("block_hashes")))
          .extracting(hash -> hash.asIntegerValue().asBigInteger().toString())
          .containsExactly(expected.reported(0), expected.reported(1));
      assertThat(event.get("parent_block_hash").isNilValue()).isTrue();
      assertThat(event.get("token_ids")).isEqualTo(tokens(prompt, 0, 32));
      assertThat(event.get("lora_name").asStringValue().asString()).isEqualTo("poet");
      assertThat(event.get("extra_keys").toJson()).isEqualTo("[[\"poet\",\"s\"],[\"poet\"]]");
      assertThat(event.get("group_idx").asIntegerValue().asInt()).isZero();
      assertThat(event.get("medium").asStringValue().asString()).isEqualTo("GPU");
    }
  }

  @Test
  void olderVllmSendsShorterArrays() throws Exception {
    Map<String, Integer> lengths = Map.of("0.10.2", 6, "0.11.0", 7, "0.23.1", 8);
    for (Map.Entry<String, Integer> version : lengths.entrySet()) {
      try (FakeEngine engine =
              engine(EngineKind.VLLM, KvEventSettings.builder()).version(version.getKey()).start();
          KvSubscriber subscriber = subscribe(engine, 0)) {
        complete(engine, 20, 0, "");
        assertThat(array(subscriber.next().events().get(0))).hasSize(version.getValue());
      }
    }
  }

  @Test
  void atomSendsBatchesAlone() throws Exception {
    try (FakeEngine engine =
            engine(EngineKind.ATOM, KvEventSettings.builder().replayPort(0)).start();
        KvSubscriber subscriber = subscribe(engine, 0)) {
      complete(engine, 20, 0, "");
      KvSubscriber.Message message = subscriber.next();
      assertThat(message.topic()).isNull();
      assertThat(message.number()).isEqualTo(-1);
      assertThat(array(message.events().get(0)).get(0).asStringValue().asString())
          .isEqualTo("BlockStored");
      assertThat(endpoint(engine).replayPort()).isEmpty();
    }
  }

  @Test
  void earlierBatchesAreReplayed() throws Exception {
    KvEventSettings.Builder settings = KvEventSettings.builder().replayPort(0).keptBatches(3);
    try (FakeEngine engine = engine(EngineKind.VLLM, settings).start();
        KvSubscriber subscriber = subscribe(engine, 0)) {
      for (int i = 0; i < 5; i++) {
        complete(engine, 16, 1_000 * i, "");
      }
      List<KvSubscriber.Message> live = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        live.add(subscriber.next());
      }
      long last = live.get(4).number();
      List<KvSubscriber.Message> replayed =
          KvSubscriber.replay(endpoint(engine).replayUrl(0), last - 1);
      assertThat(replayed)
          .extracting(KvSubscriber.Message::number)
          .containsExactly(last - 1, last, -1L);
      assertThat(replayed.get(1).batch()).isEqualTo(live.get(4).batch());
      // Older ones are gone, which shows by a first number later than asked for.
      assertThat(KvSubscriber.replay(endpoint(engine).replayUrl(0), 0))
          .extracting(KvSubscriber.Message::number)
          .containsExactly(last - 2, last - 1, last, -1L);
      assertThat(KvSubscriber.replay(endpoint(engine).replayUrl(0), last + 1)).hasSize(1);
    }
  }

  @Test
  void whoReplaysTheStreamKnowsWhatIsResident() throws Exception {
    KvEventSettings.Builder settings =
        KvEventSettings.builder().replayPort(0).encoding(KvEventEncoding.MAPS);
    for (EngineKind kind : List.of(EngineKind.SGLANG, EngineKind.VLLM)) {
      try (FakeEngine engine = engine(kind, settings).blocks(40).start()) {
        for (int i = 0; i < 40; i++) {
          complete(engine, 16 + 16 * (i % 9), 500 * (i % 7), "");
        }
        int cached = engine.stats().cachedBlocks();
        List<Value> resident = new ArrayList<>();
        boolean evicted = false;
        for (KvSubscriber.Message message : KvSubscriber.replay(endpoint(engine).replayUrl(0), 0)) {
          if (message.number() < 0) {
            break;
          }
          for (Value value : message.events()) {
            Map<String, Value> event = map(value);
            List<Value> hashes = array(event.get("block_hashes"));
            if (event.get("type").asStringValue().asString().equals("BlockStored")) {
              assertThat(resident).doesNotContainAnyElementsOf(hashes);
              Value parent = event.get("parent_block_hash");
              assertThat(parent.isNilValue() || resident.contains(parent)).isTrue();
              resident.addAll(hashes);
            } else {
              assertThat(resident).containsAll(hashes);
              resident.removeAll(hashes);
              evicted = true;
            }
          }
        }
        assertThat(evicted).as(kind.label()).isTrue();
        assertThat(resident).isNotEmpty().hasSizeLessThanOrEqualTo(cached);
      }
    }
  }

  @Test
  void aRestartBeginsAgainAtTheSamePort() throws Exception {
    KvEventSettings.Builder settings = KvEventSettings.builder().replayPort(0);
    try (FakeEngine engine = engine(EngineKind.SGLANG, settings).start()) {
      complete(engine, 16, 0, "");
      complete(engine, 16, 100, "");
      KvEventEndpoint before = endpoint(engine);
      assertThat(KvSubscriber.replay(before.replayUrl(0), 0)).hasSize(3);
      engine.restart();
      assertThat(endpoint(engine)).isEqualTo(before);
      assertThat(KvSubscriber.replay(before.replayUrl(0), 0)).hasSize(1);
      complete(engine, 16, 0, "");
      assertThat(KvSubscriber.replay(before.replayUrl(0), 0).get(0).number()).isZero();
    }
  }

  @Test
  void eachRankHasAPort() throws Exception {
    try (FakeEngine engine =
            engine(EngineKind.SGLANG, KvEventSettings.builder()).dpSize(2).start();
        KvSubscriber second = subscribe(engine, 1)) {
      complete(engine, 16, 0, "", "x-data-parallel-rank", "1");
      assertThat(second.next().rank()).isEqualTo(1);
      JsonNode info = new Client(engine).get("/server_info").json();
      assertThat(info.at("/kv_events/endpoint_port_base").asInt())
          .isEqualTo(endpoint(engine).port());
      assertThat(info.at("/kv_events/publisher").asText()).isEqualTo("zmq");
      assertThat(info.at("/kv_events/endpoint_host").asText()).isEqualTo("*");
      assertThat(info.at("/kv_events/block_size").asInt()).isEqualTo(BLOCK);
      assertThat(info.at("/kv_events/dp_size").asInt()).isEqualTo(2);
      assertThat(Client.json(info.path("kv_events_config").asText()).path("publisher").asText())
          .isEqualTo("zmq");
    }
  }

  @Test
  void vllmTellsOfItInDevelopment() throws Exception {
    KvEventSettings.Builder settings =
        KvEventSettings.builder().scheme("vllm-xxhash-cbor").hashSeed("1").topic("t");
    try (FakeEngine engine = engine(EngineKind.VLLM, settings).devMode(true).start()) {
      JsonNode config = new Client(engine).get("/server_info").json().path("vllm_config");
      assertThat(config.at("/cache_config/prefix_caching_hash_algo").asText())
          .isEqualTo("xxhash_cbor");
      assertThat(config.at("/kv_events_config/endpoint").asText())
          .isEqualTo("tcp://*:" + endpoint(engine).port());
      assertThat(config.at("/kv_events_config/replay_endpoint").isNull()).isTrue();
    }
  }

  @Test
  void settingsAreChecked() {
    assertThatThrownBy(
            () -> engine(EngineKind.SGLANG, KvEventSettings.builder().scheme("md5")).start())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no hash scheme md5");
    assertThatThrownBy(() -> KvEventSettings.builder().port(70_000).build())
        .hasMessageContaining("port must be from 0 to 65535");
    try (FakeEngine engine = engine(EngineKind.VLLM, KvEventSettings.builder()).start()) {
      int taken = endpoint(engine).port();
      assertThatThrownBy(
              () -> engine(EngineKind.VLLM, KvEventSettings.builder().port(taken)).start())
          .isInstanceOf(java.io.UncheckedIOException.class)
          .hasMessageContaining("KV events can't be published at port " + taken);
    }
    try (FakeEngine silent = FakeEngine.builder().start()) {
      assertThat(silent.kvEvents()).isNull();
    }
  }
}
