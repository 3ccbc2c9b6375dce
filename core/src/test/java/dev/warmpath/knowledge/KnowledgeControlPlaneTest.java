package dev.warmpath.knowledge;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.transport.KnowledgeTransport.Piece;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.VirtualScheduler;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** By plain HTTP calls, as CacheRoute's own nodes and proxies make them. */
class KnowledgeControlPlaneTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String NODE =
      """
      {"kdn_id":"kdn_a","host":"10.0.0.7","port":9101,"meta":{"db_dir":"/db"}}""";
  private static final String PROXY =
      """
      {"proxy_id":"p1","host":"10.0.0.8","port":8001,"max_capacity":8,"instance_count":2,
       "kv_mem_per_instance_gb":128,
       "meta":{"zone":"z","kdn_links":{"kdn_a":{"bandwidth_mbps":1000,"latency_ms":0.5},
                                       "kdn_b":{"bandwidth_mbps":"fast"}}}}""";

  private final VirtualScheduler time = new VirtualScheduler();
  private final ScriptedNodes nodes = new ScriptedNodes();
  private final KnowledgeRouting routing =
      KnowledgeRouting.builder()
          .transport(nodes)
          .scheduler(time)
          .executor(Runnable::run)
          .clock(InstantSource.fixed(Instant.ofEpochSecond(1_700_000_000)))
          .build();
  private KnowledgeControlPlane plane;

  @BeforeEach
  void open() throws IOException {
    plane = KnowledgeControlPlane.of(routing).port(0).open();
  }

  @AfterEach
  void close() {
    plane.close();
    routing.close();
  }

  private record Answer(int status, JsonNode body) {}

  private Answer call(String path, @Nullable String secret, @Nullable String body)
      throws IOException {
    URI uri = URI.create("http://127.0.0.1:" + plane.address().getPort() + path);
    HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
    if (secret != null) {
      connection.setRequestProperty("Authorization", "Bearer " + secret);
    }
    if (body != null) {
      connection.setDoOutput(true);
      connection.getOutputStream().write(body.getBytes(StandardCharsets.UTF_8));
    }
    int status = connection.getResponseCode();
    try (InputStream in =
        status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
      return new Answer(status, MAPPER.readTree(in));
    }
  }

  private Answer get(String path) throws IOException {
    return call(path, null, null);
  }

  private Answer post(String path, String body) throws IOException {
    return call(path, null, body);
  }

  private static JsonNode json(String text) throws IOException {
    return MAPPER.readTree(text);
  }

  @Test
  void listensOnLoopbackAlone() throws Exception {
    assertThat(plane.address().getAddress().isLoopbackAddress()).isTrue();
    assertThat(get("/healthz").body()).isEqualTo(json("{\"ok\":true}"));
  }

  @Test
  void aNodeRegistersBeatsAndLeaves() throws Exception {
    nodes.has.put(URI.create("http://10.0.0.7:9101"), List.of(new Piece("k", 40, true)));

    assertThat(post("/v1/kdn/register", NODE).body())
        .isEqualTo(json("{\"kdn_id\":\"kdn_a\",\"heartbeat_interval_s\":5,\"ttl_s\":30}"));
    time.run();
    assertThat(routing.registry().catalogue().size()).isEqualTo(1);

    Answer beat =
        post("/v1/kdn/heartbeat", "{\"kdn_id\":\"kdn_a\",\"pending_transfers\":4,\"qps_1m\":null}");
    assertThat(beat.body()).isEqualTo(json("{\"ok\":true}"));
    assertThat(post("/v1/kdn/heartbeat", "{\"kdn_id\":\"kdn_a\",\"active_transfers\":1}").status())
        .isEqualTo(200);
    assertThat(get("/v1/kdn/list").body())
        .isEqualTo(
            json(
                """
                [{"kdn_id":"kdn_a","host":"10.0.0.7","port":9101,
                  "endpoints":["knowledge/snapshot","knowledge/search/text"],"tags":[],
                  "weight":1.0,"meta":{"db_dir":"/db"},"items":null,"qps_1m":null,
                  "pending_transfers":4,"active_transfers":1,"network_queue_ms_ema":null,
                  "registered_at":1.7E9,"last_seen_at":1.7E9,"is_alive":true}]"""));

    time.advance(Duration.ofSeconds(31));
    assertThat(get("/v1/kdn/list").body()).isEmpty();
    assertThat(get("/v1/kdn/list?include_dead=true").body().get(0).get("is_alive").asBoolean())
        .isFalse();
    assertThat(post("/v1/kdn/unregister", "{\"kdn_id\":\"kdn_a\"}").body())
        .isEqualTo(json("{\"ok\":true}"));
    assertThat(get("/v1/kdn/list?include_dead=true").body()).isEmpty();
    assertThat(post("/v1/kdn/unregister", "{\"kdn_id\":\"kdn_a\"}").status()).isEqualTo(200);
  }

  @Test
  void whoNeverRegisteredIsToldSo() throws Exception {
    assertThat(post("/v1/kdn/heartbeat", "{\"kdn_id\":\"x\"}"))
        .isEqualTo(new Answer(404, json("{\"detail\":\"kdn_id not registered\"}")));
    assertThat(post("/v1/proxy/heartbeat", "{\"proxy_id\":\"x\"}"))
        .isEqualTo(new Answer(404, json("{\"detail\":\"proxy_id not registered\"}")));
  }

  @Test
  void aProxyRegistersAndItsReportsKeepWhatTheyLeaveOut() throws Exception {
    assertThat(post("/v1/proxy/register", PROXY).body())
        .isEqualTo(json("{\"proxy_id\":\"p1\",\"heartbeat_interval_s\":5,\"ttl_s\":30}"));
    post("/v1/proxy/heartbeat", "{\"proxy_id\":\"p1\",\"inflight\":3,\"pool_resource\":{\"g\":1}}");
    post("/v1/proxy/heartbeat", "{\"proxy_id\":\"p1\",\"gpu_util\":71.5}");
    post("/v1/proxy/heartbeat", "{\"proxy_id\":\"p1\",\"meta_patch\":{}}");
    post(
        "/v1/proxy/heartbeat",
        "{\"proxy_id\":\"p1\",\"meta_patch\":{\"kdn_links\":{\"kdn_c\":{\"bandwidth_tier\":3}}}}");

    assertThat(get("/v1/proxy/list").body())
        .isEqualTo(
            json(
                """
                [{"proxy_id":"p1","host":"10.0.0.8","port":8001,
                  "endpoints":["chat/completions","completions"],"tags":[],"weight":1.0,
                  "meta":{"zone":"z","kdn_links":{"kdn_c":{"bandwidth_tier":3}}},
                  "max_capacity":8,"instance_count":2,"kv_mem_per_instance_gb":128.0,
                  "kv_cache_pool_gb":256.0,"kv_cache_update_policy":"lru",
                  "inflight":3,"qps_1m":null,"gpu_util":71.5,
                  "registered_at":1.7E9,"last_seen_at":1.7E9,"is_alive":true,
                  "pool_resource":{"g":1},"pool_resource_reported_at":1.7E9}]"""));
    assertThat(routing.registry().targets().get(0).target().links()).containsOnlyKeys("kdn_c");
    assertThat(get("/debug/proxy_pool_resources").body().at("/proxies/0/pool_resource/g").asInt())
        .isEqualTo(1);
  }

  @Test
  void alinkThatCantBeReadCutsNobodyOff() throws Exception {
    post("/v1/proxy/register", PROXY);

    assertThat(routing.registry().targets().get(0).target().links()).containsOnlyKeys("kdn_a");
  }

  @Test
  void aProxyWithoutAnIdIsGivenOne() throws Exception {
    String id =
        post("/v1/proxy/register", "{\"host\":\"h\",\"port\":1}").body().get("proxy_id").asText();

    assertThat(id).matches("pxy_[0-9a-f]{12}");
    assertThat(post("/v1/proxy/heartbeat", "{\"proxy_id\":\"" + id + "\"}").status())
        .isEqualTo(200);
  }

  @Test
  void whatIsNotValidIsRefusedWithItsField() throws Exception {
    Answer port = post("/v1/kdn/register", "{\"kdn_id\":\"a\",\"host\":\"h\",\"port\":70000}");
    assertThat(port.status()).isEqualTo(422);
    assertThat(port.body().at("/detail/0/loc/1").asText()).isEqualTo("port");
    assertThat(post("/v1/kdn/register", "{\"kdn_id\":\"a\",\"host\":\"h/x?\",\"port\":7}").status())
        .isEqualTo(422);
    assertThat(post("/v1/kdn/register", "{\"kdn_id\":\"a\",\"host\":\"[\",\"port\":7}").status())
        .isEqualTo(422);
    assertThat(
            post("/v1/kdn/register", "{\"kdn_id\":\"a\\nb\",\"host\":\"h\",\"port\":7}").status())
        .isEqualTo(422);
    assertThat(post("/v1/kdn/register", "{\"kdn_id\":7,\"host\":\"h\",\"port\":7}").status())
        .isEqualTo(422);
    assertThat(post("/v1/kdn/register", "[]").status()).isEqualTo(422);
    assertThat(post("/v1/kdn/register", "{").status()).isEqualTo(422);
    assertThat(post("/v1/kdn/list", "{}").status()).isEqualTo(405);
    assertThat(get("/v1/nowhere").status()).isEqualTo(404);
    assertThat(post("/v1/kdn/register", "\"" + "x".repeat(300 << 10) + "\"").status())
        .isEqualTo(413);
    assertThat(routing.registry().nodes()).isEmpty();
  }

  @Test
  void aSecretIsAskedForWhereOneIsSet() throws Exception {
    plane.close();
    plane = KnowledgeControlPlane.of(routing).port(0).secret(Secret.of("s3cret")).open();

    assertThat(get("/v1/kdn/list").status()).isEqualTo(401);
    assertThat(call("/v1/kdn/list", "wrong", null).status()).isEqualTo(401);
    assertThat(call("/v1/kdn/list", "s3cret", null).status()).isEqualTo(200);
    assertThat(get("/healthz").status()).isEqualTo(200);
  }

  @Test
  void statusAndStrategyHaveTheOriginalsKeys() throws Exception {
    nodes.has.put(URI.create("http://10.0.0.7:9101"), List.of(new Piece("k", 40, true)));
    post("/v1/kdn/register", NODE);
    post("/v1/proxy/register", PROXY);
    time.run();

    JsonNode status = get("/debug/status").body();
    assertThat(status.fieldNames())
        .toIterable()
        .containsExactly(
            "strategy",
            "knowledge_loaded",
            "entries",
            "dim",
            "faiss_total",
            "kdn_base_url",
            "last_refresh_ts",
            "unit_fields",
            "sample_kids",
            "kdn_alive",
            "kdn_alive_addrs",
            "kdn_last_selected",
            "kdn_last_selected_id",
            "kdn_last_refresh_ok",
            "kdn_last_refresh_reason",
            "kdn_last_refresh_ts",
            "kdns",
            "proxies");
    assertThat(status.get("kdn_alive").asInt()).isEqualTo(1);
    assertThat(status.get("sample_kids")).isEqualTo(json("[\"k\"]"));
    JsonNode strategy = get("/debug/strategy").body();
    assertThat(strategy.at("/proxies_sample/0/proxy_id").asText()).isEqualTo("p1");
    assertThat(strategy.at("/strategy_debug/counters"))
        .isEqualTo(
            json(
                """
                {"requests_total":0,"kdn_overload_filtered":0,"proxy_topology_hits":0,
                 "proxy_loadsafe_filtered":0,"proxy_affinity_hits":0}"""));
  }
}
