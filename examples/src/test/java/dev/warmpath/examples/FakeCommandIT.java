package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.PipedReader;
import java.io.PipedWriter;
import java.io.PrintWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command {@code fake} in the foreground. */
class FakeCommandIT {
  /** Starts the command, reads its ready line, asks for a path and ends it. */
  private static JsonNode[] ask(String path, String... args) throws Exception {
    PipedReader out = new PipedReader(1 << 16);
    PrintWriter writer = new PrintWriter(new PipedWriter(out), true);
    Thread command =
        new Thread(
            () -> Main.commandLine().setOut(writer).setErr(writer).execute(args), "fake-command");
    command.start();
    try (BufferedReader lines = new BufferedReader(out)) {
      JsonNode ready = new ObjectMapper().readTree(lines.readLine());
      HttpRequest request =
          HttpRequest.newBuilder(URI.create(ready.path("url").asText() + path)).build();
      String body =
          HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
      return new JsonNode[] {ready, new ObjectMapper().readTree(body)};
    } finally {
      command.interrupt();
      command.join();
    }
  }

  @Test
  void publishesKvEventsWhereItSays() throws Exception {
    JsonNode[] told =
        ask(
            "/server_info",
            "fake",
            "--dp-size",
            "2",
            "--block-size",
            "32",
            "--blocks",
            "100",
            "--max-seqs",
            "7",
            "--budget",
            "1024",
            "--timing",
            "h100-llama-3.1-8b-fp8",
            "--role",
            "prefill",
            "--kv-events-port",
            "0",
            "--kv-replay-port",
            "0",
            "--kv-encoding",
            "maps");
    JsonNode ready = told[0];
    JsonNode info = told[1];
    assertThat(ready.path("kind").asText()).isEqualTo("sglang");
    assertThat(ready.at("/kv_events/url").asText())
        .endsWith(":" + info.at("/kv_events/endpoint_port_base").asText());
    assertThat(ready.at("/kv_events/replay").asText())
        .endsWith(":" + info.at("/kv_events/replay_endpoint_port_base").asText());
    assertThat(info.at("/kv_events/dp_size").asInt()).isEqualTo(2);
    assertThat(info.at("/kv_events/block_size").asInt()).isEqualTo(32);
    assertThat(info.path("disaggregation_mode").asText()).isEqualTo("prefill");
    assertThat(info.path("max_total_num_tokens").asInt()).isEqualTo(3_200);
    assertThat(info.path("max_running_requests").asInt()).isEqualTo(7);
  }

  @Test
  void servesGrpcWhereItSays() throws Exception {
    JsonNode[] told =
        ask(
            "/v1/models",
            "fake",
            "--engine",
            "vllm",
            "--grpc-port",
            "0",
            "--grpc-api",
            "vllm_inference");
    assertThat(told[0].path("grpc").asText()).matches("grpc://127\\.0\\.0\\.1:[1-9]\\d*");
    assertThat(told[0].path("grpc").asText())
        .isNotEqualTo(told[0].path("url").asText().replace("http", "grpc"));
    assertThat(Run.of("fake", "--grpc-api", "sglang_runtime").err()).contains("needs --grpc-port");
    Run atom = Run.of("fake", "--engine", "atom", "--grpc-port", "0");
    assertThat(atom.exitCode()).isEqualTo(2);
    assertThat(atom.err()).contains("atom has no gRPC server");
  }

  @Test
  void publishesNothingUnlessAsked() throws Exception {
    JsonNode[] told = ask("/server_info", "fake");
    assertThat(told[0].path("grpc").isNull()).isTrue();
    assertThat(told[0].path("kv_events").isNull()).isTrue();
    assertThat(told[1].path("kv_events").isNull()).isTrue();
  }

  @Test
  void runsAKnowledgeNode(@TempDir Path texts) throws Exception {
    Files.writeString(texts.resolve("a.txt"), "what a node knows ".repeat(100));
    JsonNode[] told =
        ask(
            "/v1/topology/ping",
            "fake",
            "kdn",
            "--texts",
            texts.toString(),
            "--kv-model",
            "m",
            "--bandwidth",
            "10",
            "--fixed-latency",
            "0",
            "--efficiency",
            "1",
            "--batch-window",
            "5",
            "--fault",
            "vanish=1");
    assertThat(told[0].path("kind").asText()).isEqualTo("kdn");
    assertThat(told[0].path("grpc").isNull()).isTrue();
    assertThat(told[1].path("ok").asBoolean()).isTrue();
    assertThat(Run.of("fake", "kdn", "--fault", "sulk").err()).contains("no fault 'sulk'");
    assertThat(Run.of("fake", "kdn", "--efficiency", "2").exitCode()).isEqualTo(2);
    assertThat(Run.of("fake", "kdn", "--texts", "nowhere").exitCode()).isEqualTo(2);
    assertThat(Run.of("fake", "kdm").err()).contains("no fake 'kdm'");
  }

  @Test
  void refusesWhatCantBePublished() {
    Run lonely = Run.of("fake", "--kv-hash", "atom");
    assertThat(lonely.exitCode()).isEqualTo(2);
    assertThat(lonely.err()).contains("need --kv-events-port");
    Run unknown = Run.of("fake", "--kv-events-port", "0", "--kv-hash", "md5");
    assertThat(unknown.exitCode()).isEqualTo(2);
    assertThat(unknown.err()).contains("no hash scheme md5", "sglang-event");
    assertThat(Run.of("fake", "--kv-events-port", "70000").exitCode()).isEqualTo(2);
    assertThat(Run.of("fake", "--timing", "fast").err()).contains("h100-llama-3.1-8b-fp8");
  }
}
