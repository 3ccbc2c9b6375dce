package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.RouterClient;
import dev.warmpath.api.NoWorkerAvailableException;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.okhttp.OkHttpTransport;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A prefill and a decode worker that are processes of their own, started by the command line. */
@Timeout(120)
class TwoProcessesIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void kill() throws InterruptedException {
    for (Process process : processes) {
      process.destroyForcibly().waitFor();
    }
  }

  private Process fake(String role) throws IOException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "fake",
                "--engine",
                "vllm",
                "--transfer",
                "mooncake",
                "--role",
                role,
                "--speedup",
                "20")
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    processes.add(process);
    return process;
  }

  private static JsonNode ready(Process process) throws IOException {
    BufferedReader out = process.inputReader();
    return JSON.readTree(out.readLine());
  }

  private static JsonNode handoffs(JsonNode worker) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(worker.path("url").asText() + "/admin/handoffs")).build();
    return JSON.readTree(
        HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body());
  }

  private static RouterRequest chat(boolean stream) {
    return RouterRequest.chatCompletions(
        "{\"model\":\"fake-model\",\"max_tokens\":12,\"stream\":"
            + stream
            + ",\"messages\":[{\"role\":\"user\",\"content\":\"to another process\"}]}");
  }

  @Test
  void handKvOverAndLeaveNothingBehind() throws Exception {
    Process first = fake("prefill");
    Process second = fake("decode");
    JsonNode prefill = ready(first);
    JsonNode decode = ready(second);
    try (RouterClient router =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .worker(prefill.path("worker").asText())
            .worker(decode.path("worker").asText())
            .build()) {
      assertThat(router.awaitReady(Duration.ofSeconds(30))).isTrue();
      // The worker is up before its bootstrap server has told the engine's id.
      await()
          .atMost(Duration.ofSeconds(60))
          .ignoreException(NoWorkerAvailableException.class)
          .until(() -> router.explain(chat(false)).pd() != null);
      RouterResponse answer = router.send(chat(false));
      assertThat(answer.usage().completionTokens()).isEqualTo(12);
      assertThat(answer.decision().pd().prefill()).isNotNull();
      int events = 0;
      try (RouterStream stream = router.stream(chat(true))) {
        while (stream.next() != null) {
          events++;
        }
      }
      assertThat(events).isGreaterThan(12);
      for (JsonNode worker : List.of(prefill, decode)) {
        await()
            .atMost(Duration.ofMinutes(1))
            .untilAsserted(
                () ->
                    assertThat(handoffs(worker).toString())
                        .isEqualTo("{\"handoffs\":0,\"held_blocks\":0,\"live_rooms\":0}"));
      }
      first.destroyForcibly().waitFor();
      sendWhateverComes(router);
      await()
          .atMost(Duration.ofMinutes(1))
          .untilAsserted(() -> assertThat(handoffs(decode).path("handoffs").asInt()).isZero());
    }
  }

  /** Without prefill, decode answers alone or the request fails. */
  private static void sendWhateverComes(RouterClient router) {
    try {
      assertThat(router.send(chat(false)).decision().pd().prefill()).isNull();
    } catch (RouterException e) {
      assertThat(e).hasMessageContaining("prefill");
    }
  }
}
