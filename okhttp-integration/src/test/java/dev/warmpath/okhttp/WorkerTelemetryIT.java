package dev.warmpath.okhttp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.transport.LoadReport;
import dev.warmpath.transport.ProbeReport;
import dev.warmpath.transport.RankLoad;
import dev.warmpath.transport.TransportException;
import dev.warmpath.transport.TransportException.Kind;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerCapabilities;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerRole;
import dev.warmpath.worker.WorkerSpec;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import mockwebserver3.MockResponse;
import mockwebserver3.RecordedRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Probes and load readings of bodies in the shapes that engines give them. */
class WorkerTelemetryIT {
  private static final Duration PATIENT = Duration.ofSeconds(20);

  private final MockWorker engine = MockWorker.started();
  private final Map<String, MockResponse> pages = new ConcurrentHashMap<>();
  private final OkHttpTransport transport = OkHttpTransport.create();

  WorkerTelemetryIT() {
    engine.answers(
        request ->
            pages.getOrDefault(
                request.getTarget().replaceAll("\\?.*", ""), MockWorker.json(404, "{}")));
  }

  @AfterEach
  void stop() {
    transport.close();
    engine.close();
  }

  private void page(String path, String body) {
    pages.put(path, MockWorker.json(200, body));
  }

  private void metrics(String... lines) {
    pages.put(
        "/metrics",
        new MockResponse.Builder()
            .setHeader("Content-Type", "text/plain; version=0.0.4")
            .body(String.join("\n", lines) + "\n")
            .build());
  }

  private void models(String owner) {
    page(
        "/v1/models",
        "{\"object\":\"list\",\"data\":[{\"id\":\"m\",\"root\":\"/models/m\",\"owned_by\":\""
            + owner
            + "\",\"max_model_len\":32768},{\"id\":\"lora\",\"parent\":\"m\",\"owned_by\":\""
            + owner
            + "\"}]}");
  }

  private Worker worker(String options) {
    return worker(WorkerSpec.parse(engine.url() + options));
  }

  private static Worker worker(WorkerSpec spec) {
    WorkerRegistry registry = new WorkerRegistry();
    registry.replace("test", List.of(spec));
    return registry.current().workers().get(0);
  }

  private WorkerCapabilities probe() throws TransportException {
    return transport.probe(worker(""), PATIENT).capabilities();
  }

  private List<RankLoad> load(String options) throws TransportException {
    return transport.load(worker(options), PATIENT).ranks();
  }

  private List<String> asked() {
    return engine.requests().stream().map(RecordedRequest::getTarget).toList();
  }

  // Probes

  private static final String SGLANG_INFO =
      """
      {"model_path":"/models/m","page_size":64,"dp_size":4,"tp_size":4,"max_running_requests":256,
       "max_total_tokens":null,"max_total_num_tokens":500000,"disaggregation_mode":"null",
       "enable_cache_report":true,"version":"0.5.19","internal_states":[{"last_gen_throughput":1.5}],
       "new_field":{"x":1}}
      """;

  @ParameterizedTest
  @ValueSource(strings = {"/server_info", "/get_server_info"})
  void sglangTellsWhatItIs(String path) throws TransportException {
    models("sglang");
    page(path, SGLANG_INFO);
    WorkerCapabilities found = probe();
    assertThat(found.engine()).isEqualTo(EngineKind.SGLANG);
    assertThat(found.version()).isEqualTo("0.5.19");
    assertThat(found.role()).isEqualTo(WorkerRole.REGULAR);
    assertThat(found.dpSize()).isEqualTo(4);
    assertThat(found.blockSize()).isEqualTo(64);
    assertThat(found.kvCapacityTokens()).isEqualTo(500_000);
    assertThat(found.maxRunningRequests()).isEqualTo(256);
    assertThat(found.cacheReport()).isTrue();
    assertThat(found.models()).extracting("id").containsExactly("m", "lora");
    assertThat(found.models().get(1).parent()).isEqualTo("m");
    assertThat(found.models().get(0).maxModelLen()).isEqualTo(32_768);
  }

  @Test
  void sglangTellsItsRoleAndAnOlderOneItsCapacityElsewhere() throws TransportException {
    models("sglang");
    page(
        "/server_info",
        "{\"disaggregation_mode\":\"prefill\",\"max_running_requests\":null,\"internal_states\":"
            + "[{\"memory_usage\":{\"token_capacity\":1234}}]}");
    WorkerCapabilities found = probe();
    assertThat(found.role()).isEqualTo(WorkerRole.PREFILL);
    assertThat(found.kvCapacityTokens()).isEqualTo(1234);
    assertThat(found.dpSize()).isNull();
    assertThat(found.maxRunningRequests()).isNull();
  }

  @Test
  void vllmTellsWhatItIs() throws TransportException {
    models("vllm");
    page("/version", "{\"version\":\"0.19.0\"}");
    metrics(
        "# TYPE vllm:cache_config_info gauge",
        "vllm:cache_config_info{block_size=\"16\",cache_dtype=\"auto\",engine=\"0\",num_gpu_blocks=\"1000\",sliding_window=\"None\"}"
            + " 1.0",
        "vllm:num_requests_running{engine=\"0\",model_name=\"m\"} 1.0",
        "vllm:num_requests_running{engine=\"1\",model_name=\"m\"} 0.0",
        "process_start_time_seconds 1.7e9");
    ProbeReport report = transport.probe(worker(""), PATIENT);
    WorkerCapabilities found = report.capabilities();
    assertThat(found.engine()).isEqualTo(EngineKind.VLLM);
    assertThat(found.version()).isEqualTo("0.19.0");
    assertThat(found.role()).isNull();
    assertThat(found.dpSize()).isEqualTo(2);
    assertThat(found.blockSize()).isEqualTo(16);
    assertThat(found.kvCapacityTokens()).isEqualTo(16_000);
    assertThat(report.incarnation()).isNotNull();
    assertThat(asked()).doesNotContain("/server_info");
  }

  @Test
  void vllmsMeasuredCapacityWins() throws TransportException {
    models("vllm");
    metrics(
        "vllm:cache_config_info{block_size=\"16\",num_gpu_blocks=\"1000\",kv_cache_size_tokens=\"12345\"}"
            + " 1");
    assertThat(probe().kvCapacityTokens()).isEqualTo(12_345);
  }

  @Test
  void vllmWithoutStatisticsLeavesOpenWhatItDoesNotTell() throws TransportException {
    models("vllm");
    metrics("process_start_time_seconds 1");
    WorkerCapabilities found = probe();
    assertThat(found.engine()).isEqualTo(EngineKind.VLLM);
    assertThat(found.dpSize()).isNull();
    assertThat(found.blockSize()).isNull();
    assertThat(found.kvCapacityTokens()).isNull();
  }

  @Test
  void atomTellsWhatItIs() throws TransportException {
    page("/v1/models", "{\"data\":[{\"id\":\"m\",\"owned_by\":\"atom\"}]}");
    page(
        "/server_info",
        "{\"model_id\":\"m\",\"served_model_name\":\"m\",\"tp_size\":8,\"dp_size\":2}");
    page("/kv_transfer_info", "{\"tp_size\":8,\"dp_size\":2,\"kv_role\":\"kv_consumer\"}");
    metrics("atom:kv_cache_blocks_total 1000.0");
    WorkerCapabilities found = transport.probe(worker(";block=16"), PATIENT).capabilities();
    assertThat(found.engine()).isEqualTo(EngineKind.ATOM);
    assertThat(found.role()).isEqualTo(WorkerRole.DECODE);
    assertThat(found.dpSize()).isEqualTo(2);
    assertThat(found.kvCapacityTokens()).isEqualTo(16_000);
    assertThat(probe().kvCapacityTokens()).isNull();
  }

  @Test
  void mooncakesBootstrapServerTellsTheEnginesOfAPrefillWorker() throws TransportException {
    models("vllm");
    try (MockWorker bootstrap = MockWorker.started()) {
      bootstrap.answers(
          request ->
              request.getTarget().equals("/query")
                  ? MockWorker.json(
                      200, "{\"1\":{\"engine_id\":\"b\"},\"0\":{\"engine_id\":\"a\",\"x\":1}}")
                  : MockWorker.json(404, "{}"));
      String port = ";pd=mooncake;bootstrap-port=" + URI.create(bootstrap.url()).getPort();
      WorkerSpec keyed =
          WorkerSpec.parse(engine.url() + ";role=prefill" + port).toBuilder()
              .apiKey(Secret.of("key"))
              .build();
      ProbeReport report = transport.probe(worker(keyed), PATIENT);
      assertThat(report.unfinished()).isFalse();
      WorkerCapabilities found = report.capabilities();
      assertThat(found.transfer())
          .containsOnly(Map.entry("engine-id-0", "a"), Map.entry("engine-id-1", "b"));
      assertThat(found.dpSize()).isEqualTo(2);
      assertThat(bootstrap.requests())
          .hasSize(1)
          .allSatisfy(
              request ->
                  assertThat(request.getHeaders().get("Authorization"))
                      .as("the key is for the worker, not for what stands beside it")
                      .isNull());
      assertThat(told(";role=decode" + port)).isEmpty();
      assertThat(told(";role=prefill" + port + ";engine-id=e")).as("it is configured").isEmpty();
      assertThat(bootstrap.requests()).as("nobody else asks").hasSize(1);
      bootstrap.answers(request -> MockWorker.json(200, "{\"0\":{\"engine_id\":\"a\"},\"1\":{}}"));
      assertThat(told(";role=prefill" + port)).as("a rank has not registered").isEmpty();
      assertThat(transport.probe(worker(";role=prefill" + port), PATIENT).unfinished())
          .as("so it is asked again soon")
          .isTrue();
      bootstrap.answers(request -> MockWorker.json(503, "[]"));
      assertThat(told(";role=prefill" + port)).isEmpty();
    }
    assertThat(told(";role=prefill;pd=mooncake;bootstrap-port=1"))
        .as("a worker is well without its bootstrap server")
        .isEmpty();
  }

  private Map<String, String> told(String options) throws TransportException {
    return transport.probe(worker(options), PATIENT).capabilities().transfer();
  }

  @Test
  void aCustomOwnerIsSeenThrough() throws TransportException {
    models("acme");
    page("/version", "{\"version\":\"0.19.0\"}");
    assertThat(probe().engine()).isEqualTo(EngineKind.VLLM);
    pages.remove("/version");
    page("/server_info", SGLANG_INFO);
    assertThat(probe().engine()).isEqualTo(EngineKind.SGLANG);
    page("/server_info", "{\"vllm_config\":{}}");
    assertThat(probe().engine()).isEqualTo(EngineKind.VLLM);
    page("/server_info", "{\"model_id\":\"m\",\"tp_size\":1,\"dp_size\":1}");
    assertThat(probe().engine()).isEqualTo(EngineKind.ATOM);
    pages.remove("/server_info");
    metrics("sglang_num_running_reqs 1");
    assertThat(probe().engine()).isEqualTo(EngineKind.SGLANG);
    metrics("other 1");
    WorkerCapabilities unknown = probe();
    assertThat(unknown.engine()).isEqualTo(EngineKind.UNKNOWN);
    assertThat(unknown.models()).hasSize(2);
  }

  @Test
  void whatIsConfiguredWins() throws TransportException {
    models("vllm");
    page("/server_info", SGLANG_INFO);
    assertThat(transport.probe(worker(";engine=sglang"), PATIENT).capabilities().engine())
        .isEqualTo(EngineKind.SGLANG);
  }

  @Test
  void aKeyThatIsRefusedIsNamed() {
    pages.put("/v1/models", MockWorker.json(401, "{\"error\":\"Unauthorized\"}"));
    assertThatThrownBy(this::probe)
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("apiKey");
  }

  @Test
  void theWorkersKeyIsSent() throws TransportException {
    models("vllm");
    Worker keyed = worker(WorkerSpec.builder(engine.url()).apiKey(Secret.of("key")).build());
    transport.probe(keyed, PATIENT);
    assertThat(engine.requests())
        .allSatisfy(
            request ->
                assertThat(request.getHeaders().get("Authorization")).isEqualTo("Bearer key"));
  }

  @Test
  void aServerThatTellsNothingIsNotUnderstood() {
    assertThatThrownBy(this::probe)
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.kind()).isEqualTo(Kind.PROTOCOL))
        .hasMessageContaining("configure its engine");
    pages.put("/v1/models", MockWorker.json(503, ""));
    assertThatThrownBy(this::probe).hasMessageContaining("503");
  }

  @Test
  void aRestartChangesTheFingerprint() throws TransportException {
    models("vllm");
    metrics("process_start_time_seconds 1.77e+09");
    String before = transport.probe(worker(""), PATIENT).incarnation();
    String again = transport.load(worker(";engine=vllm"), PATIENT).incarnation();
    metrics("process_start_time_seconds 1.77000001e+09");
    String after = transport.probe(worker(""), PATIENT).incarnation();
    assertThat(before).isNotNull().isEqualTo(again).isNotEqualTo(after);
    metrics("other 1");
    assertThat(transport.probe(worker(""), PATIENT).incarnation()).isNull();
  }

  // Health

  @Test
  void healthIsTheStatus() throws TransportException {
    pages.put("/health", new MockResponse.Builder().code(200).build());
    assertThat(transport.health(worker(""), PATIENT).healthy()).isTrue();
    pages.put("/health", new MockResponse.Builder().code(503).build());
    assertThat(transport.health(worker(""), PATIENT).healthy()).isFalse();
    assertThat(transport.health(worker(""), PATIENT).detail()).contains("503");
  }

  @Test
  void silenceIsSlowAndARefusalIsARefusal() {
    CountDownLatch open = new CountDownLatch(1);
    engine.answers(request -> Bodies.held(open));
    Worker worker = worker("");
    assertThatThrownBy(() -> transport.health(worker, Duration.ofMillis(200)))
        .isInstanceOfSatisfying(
            TransportException.class,
            e -> assertThat(e.kind()).isEqualTo(Kind.FIRST_TOKEN_TIMEOUT));
    open.countDown();
    engine.close();
    assertThatThrownBy(() -> transport.health(worker, PATIENT))
        .isInstanceOfSatisfying(
            TransportException.class, e -> assertThat(e.kind()).isEqualTo(Kind.CONNECT));
  }

  @Test
  void aStaleConnectionDoesNotFailAReading() throws TransportException {
    engine.answers(
        request ->
            request.getExchangeIndex() > 0 ? MockWorker.closesAfterRequest() : MockWorker.ok());
    for (int i = 0; i < 3; i++) {
      assertThat(transport.health(worker(""), PATIENT).healthy()).isTrue();
    }
  }

  // SGLang's load

  private static final String RANK =
      "{\"dp_rank\":%d,\"num_running_reqs\":%d,\"num_waiting_reqs\":2,"
          + "\"num_waiting_uncached_tokens\":70,\"num_used_tokens\":1000,\"num_total_tokens\":1500,"
          + "\"max_total_num_tokens\":4000,\"max_running_requests\":64,\"token_usage\":0.25,"
          + "\"gen_throughput\":120.5,\"cache_hit_rate\":0.5,\"utilization\":0.1}";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"timestamp\":\"2026-09-01T00:00:00\",\"version\":\"0.5.19\",\"loads\":[%s,%s]}",
        "{\"timestamp\":\"x\",\"dp_rank_count\":2,\"loads\":[%s,%s],\"aggregate\":{\"total_running_reqs\":99}}"
      })
  void bothShapesOfV1LoadsAreRead(String shape) throws TransportException {
    page("/v1/loads", shape.formatted(RANK.formatted(0, 3), RANK.formatted(1, 5)));
    LoadReport report = transport.load(worker(";engine=sglang;dp=2"), PATIENT);
    assertThat(report.source()).isEqualTo("/v1/loads");
    assertThat(report.ranks())
        .containsExactly(
            new RankLoad(0, 3, 2, 1000, 0.25, 4000, 64, 0.5, 120.5, 70),
            new RankLoad(1, 5, 2, 1000, 0.25, 4000, 64, 0.5, 120.5, 70));
  }

  @Test
  void aSingleRankSpeaksForTheWorkerAndWhatIsMissingIsUnknown() throws TransportException {
    page("/v1/loads", "{\"loads\":[{\"dp_rank\":0,\"num_running_reqs\":0,\"token_usage\":null}]}");
    RankLoad load = load(";engine=sglang").get(0);
    assertThat(load.rank()).isEqualTo(-1);
    assertThat(load.runningRequests()).isZero();
    assertThat(load.waitingRequests()).isNaN();
    assertThat(load.tokenUsage()).isNaN();
    assertThat(load.cacheHitRate()).isNaN();
  }

  @Test
  void getLoadStandsInAndIsRememberedForTheIncarnation() throws TransportException {
    page(
        "/get_load",
        "[{\"dp_rank\":0,\"num_reqs\":7,\"num_waiting_reqs\":3,\"num_tokens\":900,\"num_pending_tokens\":80,\"ts_tic\":1.0},"
            + "{\"dp_rank\":1,\"num_reqs\":1,\"num_waiting_reqs\":0,\"num_tokens\":10}]");
    Worker worker = worker(";engine=sglang;dp=2");
    LoadReport report = transport.load(worker, PATIENT);
    assertThat(report.source()).isEqualTo("/get_load");
    assertThat(report.ranks()).extracting(RankLoad::rank).containsExactly(0, 1);
    assertThat(report.ranks().get(0).runningRequests()).isEqualTo(4);
    assertThat(report.ranks().get(0).waitingRequests()).isEqualTo(3);
    assertThat(report.ranks().get(0).waitingUncachedTokens()).isEqualTo(80);
    assertThat(report.ranks().get(0).tokenUsage()).isNaN();
    transport.load(worker, PATIENT);
    assertThat(asked()).containsExactly("/v1/loads?include=core", "/get_load", "/get_load");
  }

  @ParameterizedTest
  @ValueSource(strings = {"sglang:", "sglang_"})
  void sglangsMetricsStandInUnderBothSpellings(String prefix) throws TransportException {
    metrics(
        prefix + "num_running_reqs{dp_rank=\"0\",tp_rank=\"0\"} 3",
        prefix + "num_running_reqs{dp_rank=\"0\",tp_rank=\"1\"} 3",
        prefix + "num_queue_reqs{dp_rank=\"0\",tp_rank=\"0\"} 1",
        prefix + "num_used_tokens{dp_rank=\"0\",tp_rank=\"0\"} 100",
        prefix + "max_total_num_tokens{dp_rank=\"0\",tp_rank=\"0\"} 1000",
        prefix + "token_usage{dp_rank=\"0\",tp_rank=\"0\"} 0.1",
        prefix + "cache_hit_rate{dp_rank=\"0\",tp_rank=\"0\"} 0.75",
        prefix + "gen_throughput{dp_rank=\"0\",tp_rank=\"0\"} 42");
    assertThat(load(";engine=sglang"))
        .containsExactly(new RankLoad(-1, 3, 1, 100, 0.1, 1000, Double.NaN, 0.75, 42, Double.NaN));
  }

  @Test
  void aWorkerWithoutTelemetryIsUnknownNotIdle() throws TransportException {
    assertThat(load(";engine=sglang")).isEmpty();
    assertThat(load(";engine=vllm")).isEmpty();
  }

  @Test
  void answersThatMakeNoSenseAreFailures() {
    for (String body : List.of("no json", "{}", "{\"loads\":7}", "[]")) {
      page("/v1/loads", body);
      assertThatThrownBy(() -> load(";engine=sglang")).isInstanceOf(TransportException.class);
    }
    pages.put("/v1/loads", MockWorker.json(401, "{}"));
    assertThatThrownBy(() -> load(";engine=sglang")).hasMessageContaining("401");
    pages.remove("/v1/loads");
    page("/get_load", "{}");
    assertThatThrownBy(() -> load(";engine=sglang")).isInstanceOf(TransportException.class);
  }

  // vLLM's load

  @Test
  void vllmsEnginesAreRanks() throws TransportException {
    metrics(
        "# HELP vllm:num_requests_running Number of requests",
        "vllm:num_requests_running{engine=\"0\",model_name=\"a \\\"b\\\" {c},\"} 3.0",
        "vllm:num_requests_running{engine=\"1\",model_name=\"m\"} 5.0",
        "vllm:num_requests_waiting{engine=\"0\",model_name=\"m\"} 1.0",
        "vllm:num_requests_waiting{engine=\"1\",model_name=\"m\"} 0.0",
        "vllm:kv_cache_usage_perc{engine=\"0\",model_name=\"m\"} 0.5",
        "vllm:kv_cache_usage_perc{engine=\"1\",model_name=\"m\"} 0.25");
    List<RankLoad> ranks = load(";engine=vllm;dp=2;kv-tokens=1000");
    assertThat(ranks).extracting(RankLoad::rank).containsExactly(0, 1);
    assertThat(ranks).extracting(RankLoad::runningRequests).containsExactly(3.0, 5.0);
    assertThat(ranks).extracting(RankLoad::waitingRequests).containsExactly(1.0, 0.0);
    assertThat(ranks).extracting(RankLoad::usedTokens).containsExactly(500.0, 250.0);
  }

  @Test
  void vllmsOlderAndNewerNamesAreKnown() throws TransportException {
    metrics(
        "vllm:num_requests_running{model_name=\"m\"} 2",
        "vllm:num_requests_waiting{model_name=\"m\"} 4",
        "vllm:gpu_cache_usage_perc{model_name=\"m\"} 0.125",
        "vllm:gpu_prefix_cache_hit_rate{model_name=\"m\"} 0.5");
    assertThat(load(";engine=vllm").get(0))
        .isEqualTo(
            new RankLoad(
                -1, 2, 4, Double.NaN, 0.125, Double.NaN, Double.NaN, 0.5, Double.NaN, Double.NaN));
    metrics(
        "vllm:num_requests_running{engine=\"0\"} 2",
        "vllm:num_requests_waiting_by_reason{engine=\"0\",reason=\"capacity\"} 4",
        "vllm:num_requests_waiting_by_reason{engine=\"0\",reason=\"deferred\"} 1");
    assertThat(load(";engine=vllm").get(0).waitingRequests()).isEqualTo(5);
  }

  @Test
  void vllmsRatesComeFromTwoReadings() throws TransportException {
    Worker worker = worker(";engine=vllm");
    metrics(
        "vllm:num_requests_running 1",
        "vllm:prefix_cache_queries_total 100",
        "vllm:prefix_cache_hits_total 10",
        "vllm:generation_tokens_total 50",
        "vllm:prompt_tokens_total 100");
    LoadReport before = transport.load(worker, PATIENT);
    assertThat(before.ranks().get(0).cacheHitRate()).isNaN();
    assertThat(before.ranks().get(0).generationTokensPerSecond()).isNaN();
    assertThat(before.monotonicCount()).isEqualTo(150);
    metrics(
        "vllm:num_requests_running 1",
        "vllm:prefix_cache_queries_total 200",
        "vllm:prefix_cache_hits_total 85",
        "vllm:generation_tokens_total 60",
        "vllm:prompt_tokens_total 200");
    LoadReport after = transport.load(worker, PATIENT);
    assertThat(after.ranks().get(0).cacheHitRate()).isEqualTo(0.75);
    assertThat(after.ranks().get(0).generationTokensPerSecond()).isPositive();
    assertThat(after.monotonicCount()).isEqualTo(260);
    metrics("vllm:num_requests_running 1", "vllm:generation_tokens_total 1");
    LoadReport restarted = transport.load(worker, PATIENT);
    assertThat(restarted.ranks().get(0).generationTokensPerSecond()).isNaN();
    assertThat(restarted.monotonicCount()).isEqualTo(1);
  }

  @Test
  void vllmWithItsStatisticsSwitchedOffIsUnknownNotIdle() throws TransportException {
    metrics("python_gc_objects_collected_total 3", "process_start_time_seconds 17");
    LoadReport report = transport.load(worker(";engine=vllm"), PATIENT);
    assertThat(report.ranks()).isEmpty();
    assertThat(report.incarnation()).isNotNull();
    assertThat(report.monotonicCount()).isNaN();
  }

  // ATOM's load

  @Test
  void atomsMetricsAreRead() throws TransportException {
    metrics(
        "atom:metrics_snapshot_available 1.0",
        "atom:requests_running 3.0",
        "atom:requests_waiting 2.0",
        "atom:kv_cache_blocks_used 50.0",
        "atom:kv_cache_usage_ratio 0.5",
        "atom:prefix_cache_hit_ratio 0.25",
        "atom:generation_tokens_total 7.0");
    LoadReport report = transport.load(worker(";engine=atom;kv-tokens=1600"), PATIENT);
    assertThat(report.ranks().get(0))
        .isEqualTo(
            new RankLoad(-1, 3, 2, 800, 0.5, 1600, Double.NaN, 0.25, Double.NaN, Double.NaN));
    assertThat(report.monotonicCount()).isEqualTo(7);
  }

  @Test
  void atomsZerosBeforeItsFirstSnapshotAreUnknownNotIdle() throws TransportException {
    metrics(
        "atom:metrics_snapshot_available 0.0",
        "atom:requests_running 0.0",
        "atom:requests_waiting 0.0",
        "atom:kv_cache_usage_ratio 0.0");
    assertThat(load(";engine=atom")).isEmpty();
  }

  @Test
  void oddLinesHideNoOthers() throws TransportException {
    metrics(
        "vllm:num_requests_running{engine=\"0\" 3.0",
        "vllm:num_requests_running{engine=\"0\"} three",
        "vllm:num_requests_waiting{engine=\"0\"} NaN",
        "",
        "  vllm:num_requests_running{engine=\"0\",} 2 1700000000000",
        "vllm:kv_cache_usage_perc 5e-1 # {trace=\"x\"} 1");
    RankLoad load = load(";engine=vllm").get(0);
    assertThat(load.runningRequests()).isEqualTo(2);
    assertThat(load.waitingRequests()).isNaN();
    assertThat(load.tokenUsage()).isEqualTo(0.5);
  }
}
