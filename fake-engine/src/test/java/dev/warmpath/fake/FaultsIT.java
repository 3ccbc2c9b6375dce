package dev.warmpath.fake;

import static dev.warmpath.fake.Client.CHAT;
import static dev.warmpath.fake.Client.chat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.fault.Scope;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.worker.EngineKind;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FaultsIT {
  private static final String STREAM = chat("hi", ",\"max_tokens\":6,\"stream\":true");
  private static final String PLAIN = chat("hi", ",\"max_tokens\":6");

  private final FakeEngine engine = start(EngineKind.VLLM);
  private final Client client = new Client(engine);

  private static FakeEngine start(EngineKind kind) {
    return FakeEngine.builder()
        .kind(kind)
        .model("m")
        .timing(LatencyModel.instant())
        .healthLatency(Duration.ZERO)
        .start();
  }

  @AfterEach
  void nothingIsLeftBehind() {
    await()
        .atMost(Duration.ofMinutes(1))
        .until(() -> engine.stats().running() + engine.stats().waiting() == 0);
    engine.close();
  }

  /** Sends a chat over a bare socket and returns everything until the end of the connection. */
  private static String exchange(FakeEngine engine, String body) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), engine.port())) {
      post(socket, body);
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
    }
  }

  private static void post(Socket socket, String body) throws IOException {
    String head =
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: "
            + body.length()
            + "\r\n\r\n";
    socket.getOutputStream().write((head + body).getBytes(StandardCharsets.US_ASCII));
  }

  @Test
  void resetBeforeAnyByte() {
    engine.faults().add(Fault.reset(0).times(1));
    assertThatThrownBy(() -> exchange(engine, STREAM))
        .isInstanceOf(SocketException.class)
        .hasMessageContaining("reset");
    assertThat(engine.stats().failed()).isEqualTo(1);
    assertThat(engine.stats().promptTokens()).isZero();
  }

  @Test
  void resetAfterSomeChunks() throws Exception {
    engine.faults().add(Fault.reset(3).times(1));
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), engine.port())) {
      post(socket, STREAM);
      InputStream in = socket.getInputStream();
      StringBuilder read = new StringBuilder();
      assertThatThrownBy(
              () -> {
                for (int c = in.read(); c >= 0; c = in.read()) {
                  read.append((char) c);
                }
              })
          .isInstanceOf(SocketException.class);
      // a reset may overtake bytes that were on their way, but never lets more pass
      assertThat(read.toString().split("data: ", -1).length - 1).isLessThanOrEqualTo(3);
    }
    assertThat(engine.faults().fired(Fault.Kind.RESET)).isEqualTo(1);
    assertThat(client.post(CHAT, PLAIN).status()).isEqualTo(200);
    assertThat(engine.stats().served()).isEqualTo(1);
  }

  @Test
  void cutStreamLacksItsTerminator() throws Exception {
    engine.faults().add(Fault.cut(2).times(1));
    String bytes = exchange(engine, STREAM);
    assertThat(bytes).contains("transfer-encoding: chunked").doesNotContain("\r\n0\r\n");
    assertThat(bytes.split("data: ", -1)).hasSize(3);
  }

  @Test
  void truncatedStreamEndsProperlyButWithoutDone() throws Exception {
    engine.faults().add(Fault.truncate(4).times(1));
    List<String> events = client.events(CHAT, STREAM);
    assertThat(events).hasSize(4).doesNotContain("[DONE]");
    assertThat(client.events(CHAT, STREAM)).last().isEqualTo("[DONE]");
  }

  @Test
  void truncationBeyondTheEndStillTakesTheDone() throws Exception {
    engine.faults().add(Fault.truncate(1000));
    assertThat(client.events(CHAT, STREAM)).hasSize(7).doesNotContain("[DONE]");
  }

  @Test
  void truncatedPlainAnswerIsShorterThanItsLength() throws Exception {
    engine.faults().add(Fault.truncate(1));
    String bytes = exchange(engine, PLAIN);
    String body = bytes.substring(bytes.indexOf("\r\n\r\n") + 4);
    int promised = Integer.parseInt(bytes.replaceAll("(?s).*content-length: (\\d+).*", "$1"));
    assertThat(body.length()).isPositive().isLessThan(promised);
  }

  @Test
  void errorInsideAStream() throws Exception {
    engine.faults().add("error:chunks=2,status=503");
    List<String> events = client.events(CHAT, STREAM);
    assertThat(events).hasSize(4).last().isEqualTo("[DONE]");
    assertThat(Client.json(events.get(2)).path("error").path("code").asInt()).isEqualTo(503);
    assertThat(client.post(CHAT, PLAIN).status()).isEqualTo(503);
  }

  @Test
  void atomHasNoErrorFramesAndBreaksOff() throws Exception {
    try (FakeEngine atom = start(EngineKind.ATOM)) {
      atom.faults().add(Fault.error(2));
      assertThat(exchange(atom, STREAM)).doesNotContain("error").doesNotContain("[DONE]");
    }
  }

  @Test
  void statusesInTheEnginesShapeWithRetryAfter() throws Exception {
    engine.faults().add("429:retry-after=7,count=1;5xx:status=502,count=1");
    Client.Reply busy = client.post(CHAT, PLAIN);
    assertThat(busy.status()).isEqualTo(429);
    assertThat(busy.header("retry-after")).isEqualTo("7");
    assertThat(busy.json().path("error").path("code").asInt()).isEqualTo(429);
    assertThat(client.post(CHAT, PLAIN).status()).isEqualTo(502);
    assertThat(client.post(CHAT, PLAIN).status()).isEqualTo(200);
    assertThat(engine.stats().failed()).isEqualTo(2);
  }

  @Test
  void garbageIsNoHttp() throws Exception {
    engine.faults().add(Fault.garbage());
    assertThat(exchange(engine, STREAM)).doesNotContain("HTTP").isNotEmpty();
  }

  @Test
  void hangingRequestGetsNothingUntilItsClientLeaves() throws Exception {
    engine.faults().add(Fault.hang().times(1));
    CompletableFuture<HttpResponse<String>> hanging = client.postAsync(CHAT, PLAIN);
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.faults().fired(Fault.Kind.HANG) == 1);
    assertThat(client.post(CHAT, PLAIN).status()).isEqualTo(200);
    assertThat(hanging).isNotDone();
    int before = engine.stats().connections();
    hanging.cancel(true);
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().connections() < before);
  }

  @Test
  void hangingStreamStopsInTheMiddle() throws Exception {
    engine.faults().add("hang:chunks=2,count=1");
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), engine.port())) {
      post(socket, STREAM);
      StringBuilder read = new StringBuilder();
      byte[] buffer = new byte[4096];
      while (read.toString().split("data: ", -1).length < 3) {
        int count = socket.getInputStream().read(buffer);
        assertThat(count).isPositive();
        read.append(new String(buffer, 0, count, StandardCharsets.US_ASCII));
      }
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().running() == 0);
      assertThat(socket.getInputStream().available()).isZero();
    }
  }

  @Test
  void refusedConnectionsAndBackAgain() throws Exception {
    int port = engine.port();
    engine.faults().add(Fault.refuse());
    assertThatThrownBy(() -> client.get("/health")).isInstanceOf(ConnectException.class);
    engine.faults().clear();
    assertThat(client.get("/health").status()).isEqualTo(200);
    assertThat(engine.port()).isEqualTo(port);
  }

  @Test
  void refusalAfterSomeRequestsTakesTheOneThatTriggersItAlong() throws Exception {
    engine.faults().add("refuse:after=1");
    assertThat(client.post(CHAT, PLAIN).status()).isEqualTo(200);
    assertThatThrownBy(() -> client.post(CHAT, PLAIN)).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> client.post(CHAT, PLAIN)).isInstanceOf(ConnectException.class);
    engine.faults().add("5xx:status=503,count=1");
    assertThatThrownBy(() -> client.post(CHAT, PLAIN)).isInstanceOf(ConnectException.class);
    engine.faults().clear();
    assertThat(client.post(CHAT, PLAIN).status()).isEqualTo(200);
  }

  @Test
  void faultsOfOtherEndpointsLeaveInferenceAlone() throws Exception {
    engine.faults().add("503:on=health");
    engine.faults().add(Fault.status(500).on(Scope.LOAD));
    assertThat(client.get("/health").status()).isEqualTo(503);
    assertThat(client.get("/metrics").status()).isEqualTo(500);
    assertThat(client.get("/v1/models").status()).isEqualTo(200);
    assertThat(client.post(CHAT, PLAIN).status()).isEqualTo(200);
    assertThat(engine.stats().failed()).isZero();
  }

  @Test
  void frozenSchedulerKeepsItsHttpServer() throws Exception {
    engine.faults().add(Fault.freeze());
    CompletableFuture<HttpResponse<String>> stuck = client.postAsync(CHAT, PLAIN);
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 1);
    assertThat(client.get("/health").status()).isEqualTo(200);
    assertThatThrownBy(() -> stuck.get(1, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    engine.faults().clear();
    assertThat(stuck.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(200);
  }

  @Test
  void delayedRequestIsAnsweredAllTheSame() throws Exception {
    engine.faults().add("slow:delay=1ms");
    assertThat(client.post(CHAT, PLAIN).status()).isEqualTo(200);
    assertThat(engine.faults().fired(Fault.Kind.SLOW)).isEqualTo(1);
  }

  @Test
  void restartByFaultLosesTheRequestAndTheCache() throws Exception {
    engine.faults().add(Fault.restart().after(1));
    String prompt = "word ".repeat(200);
    String body = chat(prompt, ",\"max_tokens\":1");
    client.post(CHAT, body);
    assertThatThrownBy(() -> client.post(CHAT, body)).isInstanceOf(IOException.class);
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().starts() == 2 && serves(body));
    assertThat(engine.stats().cachedTokens()).isZero();
  }

  private boolean serves(String body) throws InterruptedException {
    try {
      return client.post(CHAT, body).status() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void startsWithFaultsAlreadyArmed() throws Exception {
    try (FakeEngine faulty =
        FakeEngine.builder().timing(LatencyModel.instant()).faults("503:count=1").start()) {
      assertThat(new Client(faulty).post(CHAT, PLAIN).status()).isEqualTo(503);
      assertThat(new Client(faulty).post(CHAT, PLAIN).status()).isEqualTo(200);
    }
  }

  @Test
  void pendingClientOfAKilledEngineSeesAReset() {
    engine.pause();
    CompletableFuture<HttpResponse<String>> pending = client.postAsync(CHAT, PLAIN);
    await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 1);
    engine.kill();
    assertThatThrownBy(() -> pending.get(30, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(IOException.class);
    assertThat(engine.ranks()).isEmpty();
    assertThat(engine.flushCache()).isFalse();
  }
}
