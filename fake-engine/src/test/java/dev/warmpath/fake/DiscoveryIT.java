package dev.warmpath.fake;

import static dev.warmpath.fake.Client.CHAT;
import static dev.warmpath.fake.Client.chat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.wire.LoadsShape;
import dev.warmpath.fake.wire.MetricNames;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class DiscoveryIT {
  private static FakeEngineBuilder engine(EngineKind kind) {
    return FakeEngine.builder()
        .kind(kind)
        .model("org/m")
        .servedModels("m")
        .timing(LatencyModel.instant())
        .healthLatency(Duration.ZERO);
  }

  @Test
  void sglangDescribesItself() throws Exception {
    try (FakeEngine engine =
        engine(EngineKind.SGLANG)
            .dpSize(2)
            .blocks(100)
            .blockSize(32)
            .maxModelLen(2048)
            .role(WorkerRole.PREFILL)
            .loraAdapters("tuned")
            .start()) {
      Client client = new Client(engine);
      JsonNode models = client.get("/v1/models").json().path("data");
      assertThat(models.path(0).path("id").asText()).isEqualTo("m");
      assertThat(models.path(0).path("root").asText()).isEqualTo("org/m");
      assertThat(models.path(0).path("owned_by").asText()).isEqualTo("sglang");
      assertThat(models.path(0).path("max_model_len").asInt()).isEqualTo(2048);
      assertThat(models.path(1).path("id").asText()).isEqualTo("tuned");
      assertThat(models.path(1).path("parent").asText()).isEqualTo("m");
      JsonNode info = client.get("/server_info").json();
      assertThat(info).isEqualTo(client.get("/get_server_info").json());
      assertThat(info.path("page_size").asInt()).isEqualTo(32);
      assertThat(info.path("dp_size").asInt()).isEqualTo(2);
      assertThat(info.path("max_total_num_tokens").asInt()).isEqualTo(3200);
      assertThat(info.path("max_total_tokens").isNull()).isTrue();
      assertThat(info.path("chunked_prefill_size").asInt()).isEqualTo(8192);
      assertThat(info.path("max_prefill_tokens").asInt()).isEqualTo(16_384);
      assertThat(info.path("max_req_input_len").asInt()).isEqualTo(2047);
      assertThat(info.path("schedule_policy").asText()).isEqualTo("fcfs");
      assertThat(info.path("disaggregation_mode").asText()).isEqualTo("prefill");
      assertThat(info.path("disaggregation_bootstrap_port").asInt())
          .isEqualTo(engine.sideChannelPort());
      assertThat(info.path("internal_states")).hasSize(2);
      assertThat(info.has("version")).isTrue();
      assertThat(client.get("/model_info").json().path("model_path").asText()).isEqualTo("org/m");
      assertThat(client.get("/get_model_info").status()).isEqualTo(200);
      assertThat(client.get("/health").status()).isEqualTo(200);
      assertThat(client.get("/health").body()).isEmpty();
      assertThat(client.get("/version").status()).isEqualTo(404);
      assertThat(client.post("/tokenize", "{\"prompt\":\"abcdefgh\"}").json().path("count").asInt())
          .isEqualTo(2);
    }
  }

  @Test
  void regularSglangWorkerSaysNullAsText() throws Exception {
    try (FakeEngine engine = engine(EngineKind.SGLANG).start()) {
      JsonNode mode = new Client(engine).get("/server_info").json().path("disaggregation_mode");
      assertThat(mode.isTextual()).isTrue();
      assertThat(mode.asText()).isEqualTo("null");
    }
  }

  @Test
  void vllmDescribesItselfAndHidesItsDevelopmentRoutes() throws Exception {
    try (FakeEngine engine = engine(EngineKind.VLLM).version("0.99").blocks(7).start();
        FakeEngine dev = engine(EngineKind.VLLM).devMode(true).start()) {
      Client client = new Client(engine);
      assertThat(client.get("/version").json().path("version").asText()).isEqualTo("0.99");
      assertThat(client.get("/v1/models").json().path("data").path(0).path("owned_by").asText())
          .isEqualTo("vllm");
      assertThat(client.get("/server_info").status()).isEqualTo(404);
      assertThat(client.post("/reset_prefix_cache", "").status()).isEqualTo(404);
      assertThat(client.get("/health").status()).isEqualTo(200);
      assertThat(client.get("/load").json().path("server_load").asInt()).isZero();
      assertThat(client.get("/metrics").body())
          .contains("vllm:cache_config_info{")
          .contains("num_gpu_blocks=\"7\"");
      assertThat(new Client(dev).get("/server_info").json().has("vllm_config")).isTrue();
      assertThat(new Client(dev).get("/is_sleeping").json().path("is_sleeping").asBoolean(true))
          .isFalse();
    }
  }

  @Test
  void atomDescribesItself() throws Exception {
    try (FakeEngine engine = engine(EngineKind.ATOM).dpSize(3).role(WorkerRole.DECODE).start();
        FakeEngine prefill = engine(EngineKind.ATOM).role(WorkerRole.PREFILL).start()) {
      Client client = new Client(engine);
      JsonNode model = client.get("/v1/models").json().path("data").path(0);
      assertThat(model.path("owned_by").asText()).isEqualTo("atom");
      assertThat(model.has("max_model_len")).isFalse();
      JsonNode info = client.get("/server_info").json();
      assertThat(info.fieldNames())
          .toIterable()
          .containsExactlyInAnyOrder("model_id", "served_model_name", "tp_size", "dp_size");
      assertThat(info.path("dp_size").asInt()).isEqualTo(3);
      JsonNode transfer = client.get("/kv_transfer_info").json();
      assertThat(transfer.path("kv_role").asText()).isEqualTo("kv_consumer");
      assertThat(transfer.path("handshake_port").asInt()).isEqualTo(engine.sideChannelPort());
      assertThat(new Client(prefill).get("/kv_transfer_info").json().path("kv_role").asText())
          .isEqualTo("kv_producer");
      assertThat(client.get("/health").json().path("status").asText()).isEqualTo("ok");
      assertThat(client.post("/v1/embeddings", "{}").status()).isEqualTo(404);
      assertThat(client.post("/abort_request", "{}").status()).isEqualTo(404);
    }
  }

  @Test
  void sglangLoadsInEveryShape() throws Exception {
    try (FakeEngine current = engine(EngineKind.SGLANG).dpSize(2).start();
        FakeEngine older =
            engine(EngineKind.SGLANG).dpSize(2).loadsShape(LoadsShape.AGGREGATE).start();
        FakeEngine oldest = engine(EngineKind.SGLANG).loadsShape(LoadsShape.ABSENT).start()) {
      current.pause();
      Client client = new Client(current);
      var unused = client.postAsync(CHAT, chat("hi", ",\"max_tokens\":1,\"routed_dp_rank\":1"));
      await().atMost(Duration.ofMinutes(1)).until(() -> current.stats().waiting() == 1);
      JsonNode loads = client.get("/v1/loads").json();
      assertThat(loads.has("aggregate")).isFalse();
      assertThat(loads.has("dp_rank_count")).isFalse();
      assertThat(loads.path("timestamp").asText()).contains("T");
      JsonNode second = loads.path("loads").path(1);
      assertThat(second.path("dp_rank").asInt()).isEqualTo(1);
      assertThat(second.path("num_waiting_reqs").asInt()).isEqualTo(1);
      assertThat(second.path("num_running_reqs").asInt()).isZero();
      assertThat(second.path("num_waiting_uncached_tokens").asInt()).isEqualTo(4);
      assertThat(second.path("max_total_num_tokens").asInt()).isEqualTo(16_384 * 64);
      assertThat(second.has("queues")).isTrue();
      assertThat(second.has("disaggregation")).isFalse();
      JsonNode core = client.get("/v1/loads?dp_rank=1&include=core").json().path("loads");
      assertThat(core).hasSize(1);
      assertThat(core.path(0).has("queues")).isFalse();
      assertThat(client.get("/v1/loads?include=moon").status()).isEqualTo(400);
      JsonNode legacy = client.get("/get_load").json();
      assertThat(legacy.path(1).path("num_reqs").asInt()).isEqualTo(1);
      assertThat(legacy.path(1).path("num_waiting_reqs").asInt()).isEqualTo(1);

      JsonNode aggregated = new Client(older).get("/v1/loads").json();
      assertThat(aggregated.path("dp_rank_count").asInt()).isEqualTo(2);
      assertThat(aggregated.path("aggregate").path("total_reqs").asInt()).isZero();
      assertThat(aggregated.path("loads").path(0).has("timestamp")).isTrue();
      assertThat(new Client(oldest).get("/v1/loads").status()).isEqualTo(404);
      assertThat(new Client(oldest).get("/get_load").status()).isEqualTo(200);
    }
  }

  @Test
  void metricNamesOfBothGenerations() throws Exception {
    try (FakeEngine sglang = engine(EngineKind.SGLANG).start();
        FakeEngine sglangUnderscored =
            engine(EngineKind.SGLANG).metricNames(MetricNames.ALTERNATE).start();
        FakeEngine sglangSilent =
            engine(EngineKind.SGLANG).metricNames(MetricNames.ABSENT).start();
        FakeEngine vllm = engine(EngineKind.VLLM).dpSize(2).start();
        FakeEngine vllmOld = engine(EngineKind.VLLM).metricNames(MetricNames.ALTERNATE).start();
        FakeEngine vllmSilent = engine(EngineKind.VLLM).metricNames(MetricNames.ABSENT).start();
        FakeEngine atom = engine(EngineKind.ATOM).metricsRefresh(Duration.ofMillis(5)).start()) {
      new Client(vllm).post(CHAT, chat("hi", ",\"max_tokens\":2"), "x-data-parallel-rank", "1");
      assertThat(new Client(sglang).get("/metrics").body())
          .contains("sglang:num_running_reqs{model_name=\"m\"")
          .contains("dp_rank=\"0\"");
      assertThat(new Client(sglangUnderscored).get("/metrics").body())
          .contains("sglang_num_running_reqs{")
          .doesNotContain("sglang:");
      assertThat(new Client(sglangSilent).get("/metrics").status()).isEqualTo(404);
      assertThat(new Client(vllm).get("/metrics").body())
          .contains("vllm:num_requests_running{model_name=\"m\",engine=\"1\"} 0\n")
          .contains("vllm:prefix_cache_queries_total{model_name=\"m\",engine=\"1\"} 4\n")
          .contains("vllm:generation_tokens_total{model_name=\"m\",engine=\"1\"} 2\n")
          .contains("vllm:kv_cache_usage_perc{")
          .doesNotContain("gpu_cache_usage_perc");
      assertThat(new Client(vllmOld).get("/metrics").body())
          .contains("vllm:gpu_cache_usage_perc{")
          .doesNotContain("vllm:kv_cache_usage_perc");
      assertThat(new Client(vllmSilent).get("/metrics").body())
          .doesNotContain("vllm:")
          .contains("process_start_time_seconds");
      Client client = new Client(atom);
      client.post(CHAT, chat("hi", ",\"max_tokens\":2"));
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> client.get("/metrics").body().contains("atom:generation_tokens_total 2\n"));
      assertThat(client.get("/metrics").body())
          .contains("atom:kv_cache_blocks_total 16384\n")
          .contains("atom:metrics_snapshot_available 1\n");
    }
  }

  @Test
  void atomMetricsAreAsOldAsTheirRefresh() throws Exception {
    try (FakeEngine atom = engine(EngineKind.ATOM).metricsRefresh(Duration.ofHours(1)).start()) {
      Client client = new Client(atom);
      client.post(CHAT, chat("hi", ",\"max_tokens\":2"));
      assertThat(client.get("/metrics").body()).contains("atom:generation_tokens_total 0\n");
    }
  }
}
