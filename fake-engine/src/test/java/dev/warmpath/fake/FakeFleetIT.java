package dev.warmpath.fake;

import static dev.warmpath.fake.Client.CHAT;
import static dev.warmpath.fake.Client.chat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.WorkerRole;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.ConnectException;
import java.util.List;
import org.junit.jupiter.api.Test;

class FakeFleetIT {
  @Test
  void startsCountsKillsAndFlushes() throws Exception {
    try (FakeFleet fleet =
        FakeFleet.start(
            "3",
            worker -> worker.kind(EngineKind.VLLM).model("m").timing(LatencyModel.instant()))) {
      assertThat(fleet.urls()).hasSize(3).doesNotHaveDuplicates();
      for (FakeEngine engine : fleet.engines()) {
        new Client(engine).post(CHAT, chat("word ".repeat(100), ",\"max_tokens\":2"));
      }
      assertThat(fleet.stats().served()).isEqualTo(3);
      assertThat(fleet.stats().generatedTokens()).isEqualTo(6);
      assertThat(fleet.flushAll()).isTrue();
      assertThat(fleet.stats().cachedBlocks()).isZero();

      fleet.kill(1);

      Client dead = new Client(fleet.engine(1));
      assertThatThrownBy(() -> dead.get("/health")).isInstanceOf(ConnectException.class);
      assertThat(fleet.stats().served()).isEqualTo(3);
      fleet.engine(1).restart();
      assertThat(dead.get("/health").status()).isEqualTo(200);
      assertThat(fleet.stats().starts()).isEqualTo(4);
    }
  }

  @Test
  void rolesFollowTheSpec() {
    try (FakeFleet fleet = FakeFleet.start("1p2d", worker -> worker)) {
      assertThat(fleet.engines())
          .extracting(FakeEngine::role)
          .containsExactly(WorkerRole.PREFILL, WorkerRole.DECODE, WorkerRole.DECODE);
    }
  }

  @Test
  void portInUseIsSaidClearlyAndNothingStaysOpen() {
    try (FakeEngine first = FakeEngine.builder().start()) {
      assertThatThrownBy(() -> FakeEngine.builder().port(first.port()).start())
          .isInstanceOf(UncheckedIOException.class)
          .hasCauseInstanceOf(BindException.class)
          .hasMessageContaining(String.valueOf(first.port()));
      assertThatThrownBy(() -> FakeFleet.start("2", worker -> worker.port(first.port())))
          .isInstanceOf(UncheckedIOException.class);
    }
  }

  @Test
  void noThreadOutlivesItsEngine() throws Exception {
    FakeEngine engine = FakeEngine.builder().dpSize(3).start();
    new Client(engine).get("/v1/models");
    String mark = "-" + engine.port();
    assertThat(threads(mark)).hasSize(4);
    engine.restart();
    assertThat(threads(mark)).hasSize(4);
    engine.close();
    assertThat(threads(mark)).isEmpty();
  }

  private static List<String> threads(String mark) {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("fake-") && name.contains(mark))
        .toList();
  }

  @Test
  void closedEngineIsGoneAndStaysGone() {
    FakeEngine engine = FakeEngine.builder().start();
    Client client = new Client(engine);
    engine.close();
    engine.close();
    assertThatThrownBy(() -> client.get("/health")).isInstanceOf(ConnectException.class);
    assertThatThrownBy(engine::restart).isInstanceOf(IllegalStateException.class);
    assertThat(engine.stats().starts()).isEqualTo(1);
  }
}
