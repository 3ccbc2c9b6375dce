package dev.warmpath.fake;

import static dev.warmpath.fake.Client.CHAT;
import static dev.warmpath.fake.Client.chat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.worker.EngineKind;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DisconnectIT {
  private static final String ENDLESS =
      chat("hi", ",\"rid\":\"abc-1\",\"max_tokens\":100000,\"stream\":true");

  private static FakeEngine start(EngineKind kind) {
    return FakeEngine.builder()
        .kind(kind)
        .model("m")
        .timing(LatencyModel.constant(0, 1))
        .disconnectDelay(Duration.ZERO)
        .start();
  }

  private static int firstByte(HttpResponse<InputStream> response) throws Exception {
    return response.body().read();
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = "UNKNOWN", mode = EnumSource.Mode.EXCLUDE)
  void droppedStreamFreesItsRequest(EngineKind kind) throws Exception {
    try (FakeEngine engine = start(kind)) {
      HttpResponse<InputStream> response = new Client(engine).open(CHAT, ENDLESS);
      assertThat(firstByte(response)).isEqualTo('d');
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().running() == 1);

      response.body().close();

      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().running() == 0);
      assertThat(engine.stats().activeBlocks()).isZero();
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().aborted() == 1);
      assertThat(engine.stats().served()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = "UNKNOWN", mode = EnumSource.Mode.EXCLUDE)
  void clientThatLeavesWhileItWaitsIsNoticedThoughNothingIsWritten(EngineKind kind) {
    try (FakeEngine engine = start(kind)) {
      engine.pause();
      CompletableFuture<HttpResponse<String>> pending =
          new Client(engine).postAsync(CHAT, chat("hi", ",\"max_tokens\":5"));
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 1);

      pending.cancel(true);

      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().waiting() == 0);
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().aborted() == 1);
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().connections() == 0);
    }
  }

  @Test
  void sglangGoesOnForAWhile() throws Exception {
    try (FakeEngine engine =
        FakeEngine.builder()
            .timing(LatencyModel.constant(0, 1))
            .disconnectDelay(Duration.ofMillis(1))
            .start()) {
      HttpResponse<InputStream> response = new Client(engine).open(CHAT, ENDLESS);
      assertThat(firstByte(response)).isEqualTo('d');
      response.body().close();
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().aborted() == 1);
      assertThat(engine.stats().running()).isZero();
    }
  }

  @Test
  void zombieRunsOnAndAbortingItAfterwardsDoesNothing() throws Exception {
    try (FakeEngine engine = start(EngineKind.SGLANG)) {
      engine.faults().add(Fault.zombie());
      Client client = new Client(engine);
      HttpResponse<InputStream> response = client.open(CHAT, ENDLESS);
      assertThat(firstByte(response)).isEqualTo('d');
      response.body().close();
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().leaked() == 1);

      assertThat(client.post("/abort_request", "{\"rid\":\"abc-1\"}").status()).isEqualTo(200);

      long before = engine.stats().generatedTokens();
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().generatedTokens() > before);
      assertThat(engine.stats().running()).isEqualTo(1);
      assertThat(engine.stats().aborted()).isZero();
    }
  }

  @Test
  void abortBeforeTheDisconnectLeaksNothing() throws Exception {
    try (FakeEngine engine = start(EngineKind.SGLANG)) {
      engine.faults().add(Fault.zombie());
      Client client = new Client(engine);
      HttpResponse<InputStream> response = client.open(CHAT, ENDLESS);
      assertThat(firstByte(response)).isEqualTo('d');

      assertThat(client.post("/abort_request", "{\"rid\":\"abc-1\"}").status()).isEqualTo(200);
      response.body().close();

      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().running() == 0);
      await().atMost(Duration.ofMinutes(1)).until(() -> engine.stats().aborted() == 1);
      assertThat(engine.stats().leaked()).isZero();
    }
  }
}
