package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.worker.EngineKind;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands as a user types them, against fake workers. */
@Tag("long")
class CommandsIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static FakeFleet fleet;

  @TempDir Path folder;
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @BeforeAll
  static void startFleet() {
    fleet =
        FakeFleet.start(
            "2", builder -> builder.model("m").timing(LatencyModel.instant()).speedup(1_000));
  }

  @AfterAll
  static void stopFleet() {
    fleet.close();
  }

  private int run(String... args) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    return Main.commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(args);
  }

  private static String workers() {
    return String.join(",", fleet.urls());
  }

  private JsonNode json() throws IOException {
    return JSON.readTree(out.toString());
  }

  private void assertOneLine(String... words) {
    assertThat(err.toString().lines()).hasSize(1);
    assertThat(err.toString()).contains(words);
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void chatStreamsAnAnswerAndSaysWhy() {
    assertThat(run("chat", "hello", "--worker", workers(), "--max-tokens", "4", "--why")).isZero();
    assertThat(out.toString()).contains("policy   pin>homing>shortest_queue", "chosen");
  }

  @Test
  void chatPrintsADocument() throws IOException {
    assertThat(run("chat", "hello", "--worker", workers(), "--json")).isZero();
    assertThat(json().path("status").asInt()).isEqualTo(200);
    assertThat(json().path("text").asText()).isNotBlank();
    assertThat(json().path("usage").path("prompt_tokens").asInt()).isPositive();
    assertThat(json().path("decision").path("chosen").path("worker").asText()).isIn(fleet.urls());
  }

  @Test
  void completeAnswersToo() throws IOException {
    assertThat(run("complete", "once upon", "--worker", workers(), "--json")).isZero();
    assertThat(json().path("text").asText()).isNotBlank();
  }

  @Test
  void explainShowsEveryCandidate() throws IOException {
    Path body = folder.resolve("body.json");
    Files.writeString(
        body, "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
    assertThat(run("explain", "--body", body.toString(), "--worker", workers(), "--json")).isZero();
    assertThat(json().path("candidates")).hasSize(2);
    assertThat(json().path("candidates").path(0).path("terms").size()).isPositive();
    assertThat(json().path("prompt").path("exactness").asText()).isEqualTo("estimated");
    assertThat(json().path("steps")).isNotEmpty();
    assertThat(run("explain", "--body", body.toString(), "--worker", workers())).isZero();
    assertThat(out.toString()).contains("chosen");
  }

  @Test
  void explainNamesBothWorkersOfAPair() throws IOException {
    Path body = folder.resolve("pair.json");
    Files.writeString(
        body, "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
    try (FakeFleet pools =
        FakeFleet.start("2p1d", engine -> engine.kind(EngineKind.SGLANG).model("m"))) {
      List<String> explain = new ArrayList<>(List.of("explain", "--body", body.toString()));
      for (FakeEngine engine : pools.engines()) {
        explain.add("--worker");
        explain.add(engine.url()); // its role is its own to tell
      }
      String decode = pools.engines().get(2).url();
      assertThat(run(explain.toArray(new String[0]))).as(err.toString()).isZero();
      assertThat(out.toString()).contains("prefill  http://", "decode   " + decode);
      explain.add("--json");
      assertThat(run(explain.toArray(new String[0]))).as(err.toString()).isZero();
      JsonNode chosen = json().path("chosen");
      assertThat(chosen.path("decode").path("worker").asText()).isEqualTo(decode);
      assertThat(chosen.path("prefill").path("worker").asText())
          .isIn(pools.engines().get(0).url(), pools.engines().get(1).url());
      assertThat(json().path("candidates")).as("of both roles").hasSize(3);
      pools.engines().forEach(engine -> assertThat(engine.stats().received()).isZero());
    }
  }

  @Test
  void explainKnowsTheTokensOfAModelWhoseFilesItHas() throws IOException {
    Path model = SmallModel.writeTo(folder.resolve("small"));
    Path body = folder.resolve("body.json");
    String question = "which of the two of them has heard of the long way home before";
    Files.writeString(
        body,
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"" + question + "\"}]}");
    int tokens =
        ModelFiles.of(model)
            .tokenizer()
            .encode("<|im_start|>user\n" + question + "<|im_end|>\n<|im_start|>assistant\n", false)
            .length;
    for (String dir : List.of(model.toString(), "m=" + model)) {
      String[] explain = {
        "explain", "--body", body.toString(), "--worker", workers(), "--model-dir", dir, "--json"
      };
      assertThat(run(explain)).as(err.toString()).isZero();
      assertThat(json().path("prompt").path("exactness").asText()).isEqualTo("exact");
      assertThat(json().path("prompt").path("tokens").asInt()).isEqualTo(tokens);
      assertThat(json().path("prompt").path("blocks").asInt()).isPositive().isEqualTo(tokens / 16);
      assertThat(run(Arrays.copyOf(explain, explain.length - 1))).isZero();
      assertThat(out.toString()).contains(tokens + " tokens, " + tokens / 16 + " blocks (exact)");
    }
    String other = "other=" + model;
    assertThat(
            run(
                "explain",
                "--body",
                body.toString(),
                "--worker",
                workers(),
                "--model-dir",
                other,
                "--json"))
        .isZero();
    assertThat(json().path("prompt").path("exactness").asText()).isEqualTo("estimated");
    assertThat(json().path("prompt").path("blocks").asInt(-1)).isZero();
  }

  @Test
  void aModelDirectoryThatIsNotThereIsOneLineAndTwo() throws IOException {
    Path body = folder.resolve("body.json");
    Files.writeString(
        body, "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}");
    Path nothing = folder.resolve("nothing-here");
    for (String dir : List.of(nothing.toString(), "m=" + nothing)) {
      for (String[] command :
          new String[][] {
            {"explain", "--body", body.toString()},
            {"chat", "hello"},
            {"complete", "once upon"},
            {"workers"},
            {"status", "--json"},
            {"metrics"}
          }) {
        List<String> args = new ArrayList<>(List.of(command));
        args.addAll(List.of("--worker", workers(), "--model-dir", dir));
        assertThat(run(args.toArray(String[]::new))).as(args.toString()).isEqualTo(2);
        assertOneLine("--model-dir", nothing.toString());
      }
    }
  }

  @Test
  void statusAndMetricsShowPredictionsAndTheIndexOfBlocks() throws IOException {
    Path model = SmallModel.writeTo(folder.resolve("small"));
    for (List<String> more : List.of(List.<String>of(), List.of("--model-dir", model.toString()))) {
      List<String> status = new ArrayList<>(List.of("status", "--worker", workers(), "--json"));
      status.addAll(more);
      assertThat(run(status.toArray(String[]::new))).as(err.toString()).isZero();
      for (String url : fleet.urls()) {
        JsonNode prediction = json().path("predictions").path(url);
        assertThat(prediction.path("suspect").isBoolean()).as(out.toString()).isTrue();
        assertThat(prediction.path("suspect").asBoolean()).isFalse();
        assertThat(prediction.path("credit").asDouble()).isEqualTo(1);
        assertThat(prediction.path("compared").asInt(-1)).isZero();
      }
      JsonNode blocks = json().path("block_index");
      assertThat(blocks.path("blocks").asInt(-1)).isZero();
      assertThat(blocks.path("holdings").asInt(-1)).isZero();
      assertThat(blocks.path("bytes").asLong(-1))
          .isBetween(0L, blocks.path("budget_bytes").asLong());
      List<String> metrics = new ArrayList<>(List.of("metrics", "--worker", workers()));
      metrics.addAll(more);
      assertThat(run(metrics.toArray(String[]::new))).as(err.toString()).isZero();
      assertThat(out.toString())
          .contains(
              "# TYPE warmpath_prediction_suspect gauge", "# TYPE warmpath_block_index_bytes gauge")
          .containsPattern("(?m)^warmpath_block_index_bytes \\d+$");
      for (String url : fleet.urls()) {
        assertThat(out.toString())
            .containsPattern(
                "(?m)^warmpath_prediction_suspect\\{worker=\""
                    + Pattern.quote(url)
                    + "\",cause=\"\"} 0");
      }
    }
  }

  /** Prometheus's own judgement, where its tool is installed. */
  @Test
  @Tag("promtool")
  void metricsAreWhatPrometheusReads() throws Exception {
    Path promtool = Path.of("/usr/bin/promtool");
    assumeTrue(Files.isExecutable(promtool), "there is no promtool");
    assertThat(run("metrics", "--worker", workers())).isZero();
    Path scrape = Files.writeString(folder.resolve("scrape"), out.toString());
    Path verdict = folder.resolve("verdict");

    Process check =
        new ProcessBuilder(promtool.toString(), "check", "metrics")
            .redirectInput(scrape.toFile())
            .redirectErrorStream(true)
            .redirectOutput(verdict.toFile())
            .start();

    assertThat(check.waitFor()).as(Files.readString(verdict)).isZero();
  }

  @Test
  void showsWorkersModelsStatusAndMetrics() throws IOException {
    assertThat(run("workers", "--worker", workers(), "--json")).isZero();
    assertThat(json().path("workers")).hasSize(2);
    assertThat(json().path("workers").path(0).path("engine").asText()).isEqualTo("sglang");
    assertThat(json().path("workers").path(0).path("health").asText()).isEqualTo("up");
    assertThat(
            json()
                .path("workers")
                .path(0)
                .path("ranks")
                .path(0)
                .path("load")
                .path("running")
                .asInt(-1))
        .isZero();
    assertThat(run("models", "--worker", workers(), "--json")).isZero();
    assertThat(json().path("models").path(0).path("id").asText()).isEqualTo("m");
    assertThat(run("status", "--worker", workers(), "--json")).isZero();
    assertThat(json().path("policy").asText()).isEqualTo("pin>homing>shortest_queue");
    assertThat(json().path("breaker")).hasSize(2);
    assertThat(run("metrics", "--worker", workers())).isZero();
    assertThat(out.toString())
        .contains("# TYPE warmpath_worker_up gauge", "warmpath_worker_up{worker=");
    assertThat(run("workers", "--worker", workers())).isZero();
    assertThat(run("models", "--worker", workers())).isZero();
    assertThat(run("status", "--worker", workers())).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"sglang", "vllm"})
  void benchServesAFleetOfPrefillAndDecodeWorkers(String engine) throws IOException {
    assertThat(
            run(
                "bench",
                "--fleet",
                "2p2d",
                "--engine",
                engine,
                "--speedup",
                "20",
                "--workload",
                "closed",
                "--set",
                "sessions=12",
                "--set",
                "think=0",
                "--concurrency",
                "6",
                "--policy",
                "round_robin,cache_aware,linear_cost",
                "--report",
                folder.resolve("pools.html").toString(),
                "--max-output-tokens",
                "4",
                "--json"))
        .as(err.toString())
        .isZero();
    assertThat(json().path("policies")).hasSize(3);
    for (JsonNode policy : json().path("policies")) {
      assertThat(policy.path("failed").asInt(-1)).isZero();
      assertThat(policy.path("hit_rate").asDouble())
          .as("prefill's: decode computes no prompts")
          .isPositive();
      long requests = policy.path("requests").asLong();
      assertThat(counts(policy.path("prefills_by_worker"))).hasSize(2);
      assertThat(counts(policy.path("prefills_by_worker")).stream().mapToLong(n -> n).sum())
          .isEqualTo(requests);
      assertThat(counts(policy.path("requests_by_worker"))).hasSize(2);
      assertThat(counts(policy.path("requests_by_worker")).stream().mapToLong(n -> n).sum())
          .isEqualTo(requests);
    }
    JsonNode turns = json().path("policies").path(0);
    assertThat(turns.path("prefill_load_cov").asDouble(1)).isLessThan(0.1);
    assertThat(json().path("policies").path(1).path("hit_rate").asDouble())
        .isGreaterThan(turns.path("hit_rate").asDouble());
  }

  private static List<Long> counts(JsonNode workers) {
    List<Long> counts = new ArrayList<>();
    workers.forEach(count -> counts.add(count.asLong()));
    return counts;
  }

  @ParameterizedTest
  @ValueSource(strings = {"sglang", "vllm"})
  void benchComparesRoutersThatHearEventsWithOthersThatDoNot(String engine) throws IOException {
    assertThat(
            run(
                "bench",
                "--fleet",
                "4",
                "--engine",
                engine,
                "--speedup",
                "50",
                "--workload",
                "closed",
                "--set",
                "sessions=12",
                "--set",
                "think=0",
                "--concurrency",
                "3",
                "--clients",
                "6",
                "--events",
                "--policy",
                "cache_aware",
                "--report",
                folder.resolve("events.html").toString(),
                "--max-output-tokens",
                "8",
                "--json"))
        .as(err.toString())
        .isZero();
    JsonNode without = json().path("policies").path(0);
    JsonNode with = json().path("policies").path(1);
    assertThat(without.path("policy").asText()).isEqualTo("cache_aware");
    assertThat(with.path("policy").asText()).isEqualTo("cache_aware + events");
    assertThat(with.path("failed").asInt(-1)).isZero();
    assertThat(with.path("hit_rate").asDouble()).isGreaterThan(without.path("hit_rate").asDouble());
  }

  @ParameterizedTest
  @CsvSource({"sglang, smg", "sglang, sglang_runtime", "vllm, vllm_engine"})
  void benchReachesItsFleetOverGrpc(String engine, String api) throws IOException {
    assertThat(
            run(
                "bench",
                "--fleet",
                "2",
                "--grpc",
                api,
                "--engine",
                engine,
                "--speedup",
                "100",
                "--workload",
                "closed",
                "--set",
                "sessions=4",
                "--set",
                "think=0",
                "--concurrency",
                "2",
                "--policy",
                "cache_aware",
                "--report",
                folder.resolve("grpc.html").toString(),
                "--max-output-tokens",
                "8",
                "--json"))
        .as(err.toString())
        .isZero();
    JsonNode result = json().path("policies").path(0);
    assertThat(result.path("requests").asInt()).isPositive();
    assertThat(result.path("failed").asInt(-1)).isZero();
    assertThat(result.path("hit_rate").asDouble()).isPositive();
    assertThat(result.path("requests_by_worker").fieldNames())
        .toIterable()
        .allMatch(worker -> worker.startsWith("grpc://"));
  }

  @Test
  void benchPutsTogetherWhatSeveralProcessesMeasure() throws IOException {
    assertThat(
            run(
                "bench",
                "--fleet",
                "2",
                "--speedup",
                "50",
                "--workload",
                "closed",
                "--set",
                "sessions=7",
                "--set",
                "think=0",
                "--concurrency",
                "4",
                "--processes",
                "2",
                "--policy",
                "round_robin",
                "--report",
                folder.resolve("processes.html").toString(),
                "--max-output-tokens",
                "4",
                "--json"))
        .as(err.toString())
        .isZero();
    JsonNode together = json().path("policies").path(0);
    assertThat(together.path("failed").asInt(-1)).isZero();
    assertThat(together.path("requests").asInt()).isGreaterThanOrEqualTo(7);
    assertThat(together.path("prompt_tokens").asLong()).isPositive();
    assertThat(ProcessHandle.current().children().filter(ProcessHandle::isAlive)).isEmpty();
  }

  @Test
  void benchListsWorkloadsWithTheirParameters() {
    assertThat(run("bench", "--workload", "list")).isZero();
    assertThat(out.toString()).contains("flash-crowd: sessions, then as many requests again");
    assertThat(out.toString()).containsPattern("zipf=0.9 +exponent of their popularity");
  }

  @Test
  void benchComparesPoliciesAndWritesAReport() throws IOException {
    Path report = folder.resolve("report.html");
    assertThat(
            run(
                "bench",
                "--worker",
                workers(),
                "--workload",
                "closed",
                "--set",
                "sessions=6",
                "--set",
                "think=0",
                "--concurrency",
                "3",
                "--policy",
                "round_robin,cache_aware",
                "--report",
                report.toString(),
                "--max-output-tokens",
                "4",
                "--json"))
        .as(err.toString())
        .isZero();
    assertThat(json().path("policies")).hasSize(2);
    assertThat(json().path("policies").path(0).path("failed").asInt(-1)).isZero();
    assertThat(json().path("policies").path(0).path("ttft_ms").path("p50").isNumber()).isTrue();
    assertThat(Files.readString(report))
        .startsWith("<!doctype html>")
        .doesNotContain("http-equiv", "<script", "src=");
  }

  @Test
  void labPrintsTheFleetStudy() throws IOException {
    Path report = folder.resolve("fleet.html");
    String[] command = {
      "lab",
      "--suite",
      "fleet",
      "--cells",
      "rag1",
      "--policy",
      "rr,sesshash,linear_ev",
      "--clients",
      "1,4",
      "--seeds",
      "2",
      "--report",
      report.toString(),
      "--json"
    };
    assertThat(run(command)).as(err.toString()).isZero();
    JsonNode policies = json().path("policies");
    assertThat(policies).hasSize(3 * 2 * 2);
    for (JsonNode policy : policies) {
      assertThat(policy.path("workload").asText()).isEqualTo("rag(1)");
      assertThat(policy.path("failed").asInt(-1)).isZero();
      assertThat(policy.path("hit_rate").asDouble()).isBetween(0.1, 1.0);
      assertThat(policy.path("ttft_ms").path("p99").asDouble()).isPositive();
    }
    assertThat(Files.readString(report))
        .startsWith("<!doctype html>")
        .contains("rag(1)", "linear_ev", "<svg")
        .doesNotContain("http-equiv", "<script", "src=");
    assertThat(run("lab", "--suite", "flood")).isEqualTo(2);
    assertOneLine("flood", "fleet");
    assertThat(run("lab", "--suite", "fleet", "--cells", "tea1")).isEqualTo(2);
    assertOneLine("tea1", "sess");
    assertThat(run("lab", "--suite", "fleet", "--policy", "best")).isEqualTo(2);
    assertOneLine("best", "chwbl_deep", "warmpath:");
    assertThat(run("lab", "--suite", "fleet", "--preset", "product", "--policy", "rr"))
        .isEqualTo(2);
    assertOneLine("product", "rr");
    assertThat(run("lab", "--suite", "fleet", "--restart-every", "9", "--policy", "rr"))
        .isEqualTo(2);
    assertOneLine("--restart-every", "rr");
  }

  @Test
  void labComparesPoliciesClientsAndLoadsInVirtualTime() throws IOException {
    Path report = folder.resolve("lab.html");
    Path csv = folder.resolve("lab.csv");
    String[] command = {
      "lab",
      "--workload",
      "sessions",
      "--set",
      "duration=20",
      "--fleet",
      "3",
      "--policy",
      "round_robin,cache_aware,oracle",
      "--clients",
      "1,4",
      "--sweep",
      "0.5,1",
      "--seeds",
      "2",
      "--report",
      report.toString(),
      "--csv",
      csv.toString(),
      "--json"
    };
    assertThat(run(command)).as(err.toString()).isZero();
    JsonNode policies = json().path("policies");
    assertThat(policies).hasSize(3 * 2 * 2 * 2);
    for (JsonNode policy : policies) {
      assertThat(policy.path("failed").asInt(-1)).isZero();
      assertThat(policy.path("requests").asInt()).isPositive();
      assertThat(policy.path("of_oracle").isNumber()).isTrue();
    }
    assertThat(json().path("virtual_seconds").asDouble()).isGreaterThan(100);
    assertThat(Files.readAllLines(csv)).hasSize(1 + 24);
    assertThat(Files.readString(report))
        .startsWith("<!doctype html>")
        .contains("Time to first token, mean, 4 clients", "Load by worker: oracle")
        .doesNotContain("http-equiv", "<script", "src=", "NaN");

    String first = Files.readString(csv);
    assertThat(run(command)).isZero();
    assertThat(Files.readString(csv)).isEqualTo(first);
  }

  @Test
  void conversationsThatStayWithAClientAreFoundByItsOwnTree() throws IOException {
    assertThat(hitRateOfPrivateTrees("--sticky")).isGreaterThan(hitRateOfPrivateTrees() + 0.05);
  }

  private double hitRateOfPrivateTrees(String... more) throws IOException {
    List<String> command = new ArrayList<>();
    Collections.addAll(command, "lab", "--workload", "sessions", "--set", "duration=20");
    Collections.addAll(command, "--fleet", "3", "--policy", "cache_aware", "--clients", "4");
    Collections.addAll(command, "--report", folder.resolve("sticky.html").toString(), "--json");
    Collections.addAll(command, more);
    assertThat(run(command.toArray(String[]::new))).as(err.toString()).isZero();
    return json().at("/policies/0/hit_rate").asDouble();
  }

  @Test
  void aWorkerThatIsNotThereIsOneLineAndOne() throws IOException {
    int free;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      free = socket.getLocalPort();
    }
    assertThat(run("chat", "hello", "--worker", "http://127.0.0.1:" + free)).isEqualTo(1);
    assertOneLine("no worker is up", "127.0.0.1:" + free);
  }

  @Test
  void badInputIsOneLineAndTwo() throws IOException {
    Path body = folder.resolve("broken.json");
    Files.writeString(body, "{\"messages\": [");
    assertThat(run("explain", "--body", body.toString(), "--worker", workers())).isEqualTo(2);
    assertOneLine("not valid JSON", "line 1");
    assertThat(run("explain", "--body", folder.resolve("none").toString(), "--worker", workers()))
        .isEqualTo(2);
    assertOneLine("can't be read");
    assertThat(run("chat", "hello", "--worker", "not a url")).isEqualTo(2);
    assertOneLine("not a url");
    assertThat(run("chat", "hello")).isEqualTo(2);
    assertOneLine("--worker");
    assertThat(run("chat", "hello", "--worker", workers(), "--policy", "best")).isEqualTo(2);
    assertOneLine("best", "round_robin");
    assertThat(run("bench", "--fleet", "four", "--workload", "closed")).isEqualTo(2);
    assertOneLine("four");
    assertThat(run("bench", "--fleet", "2", "--workload", "nothing")).isEqualTo(2);
    assertOneLine("nothing", "sessions");
    assertThat(run("bench", "--fleet", "2", "--grpc", "vllm_engine", "--workload", "closed"))
        .isEqualTo(2);
    assertOneLine("--grpc vllm_engine is no gRPC server of sglang");
    assertThat(run("bench", "--worker", "grpc://h:1", "--grpc", "--workload", "closed"))
        .isEqualTo(2);
    assertOneLine("--grpc takes --fleet");
    assertThat(run("bench", "--fleet", "2p0d", "--workload", "closed")).isEqualTo(2);
    assertOneLine("prefill or decode workers only", "2p2d");
    assertThat(
            run(
                "bench",
                "--fleet",
                "2p2d",
                "--engine",
                "atom",
                "--transfer",
                "nixl",
                "--workload",
                "closed"))
        .isEqualTo(2);
    assertOneLine("atom engines do not speak nixl");
    assertThat(run("lab", "--workload", "closed", "--policy", "best")).isEqualTo(2);
    assertOneLine("best", "round_robin", "oracle");
    assertThat(run("lab", "--workload", "closed", "--no-stream")).isEqualTo(2);
    assertOneLine("--no-stream");
    assertThat(run("lab", "--workload", "closed", "--clients", "0")).isEqualTo(2);
    assertOneLine("--clients");
    assertThat(run("lab", "--workload", "closed", "--timing", "fast")).isEqualTo(2);
    assertOneLine("fast", "polynomial");
    assertThat(run("models", "--worker", workers(), "--config", "x.yaml")).isEqualTo(2);
    assertOneLine("--config", "x.yaml", "is not there");
    assertThat(run("nonsense")).isEqualTo(2);
    assertOneLine("nonsense");
  }

  @Test
  void anUnreadableTraceIsOneLineAndOne() throws IOException {
    assertThat(run("bench", "--fleet", "1", "--trace", folder.resolve("none").toString()))
        .isEqualTo(1);
    assertOneLine("can't be read");
    Path trace = folder.resolve("broken.jsonl");
    Files.writeString(trace, "{\"timestamp\": 0}\n");
    assertThat(run("bench", "--fleet", "1", "--trace", trace.toString())).isEqualTo(1);
    assertOneLine("line 1", "hash_ids");
  }

  @Test
  void aPortInUseIsOneLineAndOne() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThat(run("fake", "--port", Integer.toString(taken.getLocalPort()))).isEqualTo(1);
      assertOneLine("port " + taken.getLocalPort());
    }
  }
}
