package dev.warmpath.examples;

import static dev.warmpath.examples.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.RouterClient;
import dev.warmpath.api.PdInfo;
import dev.warmpath.api.RouterException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.handoff.HandoffTimeouts;
import dev.warmpath.fake.handoff.TransferProtocol;
import dev.warmpath.fake.scheduler.KvTransfer;
import dev.warmpath.health.Availability;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.policy.Policies;
import dev.warmpath.worker.WorkerRole;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Two prefill and two decode workers of every connector over real sockets. Every test ends with no
 * KV held, no room or transfer open and nothing in flight, on both sides and in the client.
 */
@Timeout(120)
@Tag("long")
class TransferProtocolsIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Longer than a busy machine takes from prefill's end to decode's first look. */
  private static final Duration LEASE = Duration.ofSeconds(2);

  /** Where decode workers die and leave the KV to it. */
  private static final Duration SHORT_LEASE = Duration.ofMillis(500);

  private FakeFleet fleet;
  private RouterClient router;
  private TransferProtocol protocol;

  private void start(TransferProtocol of) {
    start(of, 1, LEASE);
  }

  private void start(TransferProtocol of, int ranks, Duration lease) {
    protocol = of;
    fleet =
        FakeFleet.start(
            "2p2d",
            worker ->
                worker
                    .kind(of.engine())
                    .transfer(of)
                    .dpSize(ranks)
                    .model("m")
                    .speedup(20)
                    .disconnectDelay(Duration.ZERO)
                    .kvTransfer(new KvTransfer(100_000, 10))
                    .handoffTimeouts(
                        new HandoffTimeouts(Duration.ofSeconds(5), Duration.ofSeconds(5), lease)));
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .prefillPolicy(Policies.roundRobin())
            .decodePolicy(Policies.roundRobin())
            .seed(7);
    fleet.engines().forEach(engine -> builder.worker(engine.workerSpec()));
    router = builder.build();
    await()
        .until(
            () ->
                router.workers().list().stream()
                    .allMatch(worker -> worker.availability() == Availability.UP));
  }

  @AfterEach
  void nothingIsHeld() {
    await()
        .untilAsserted(
            () -> {
              for (FakeEngine engine : fleet.engines()) {
                assertThat(engine.handoffs()).as(engine.toString()).isZero();
                assertThat(engine.heldBlocks()).isZero();
                assertThat(engine.liveRooms()).isZero();
              }
              assertThat(fleet.stats().activeBlocks()).isZero();
              assertThat(fleet.stats().running() + fleet.stats().waiting()).isZero();
              assertThat(router.stats().pd().liveSessions()).isZero();
              assertThat(router.stats().pd().liveRooms()).isZero();
              assertThat(router.stats().inFlight()).isZero();
            });
    router.close();
    fleet.close();
  }

  private RouterRequest request(String prompt, int tokens, boolean stream) {
    String common =
        "{\"model\":\"m\",\"max_tokens\":" + tokens + ",\"seed\":3,\"stream\":" + stream + ",";
    return protocol == TransferProtocol.P2P_NCCL
        ? RouterRequest.completions(common + "\"prompt\":\"" + prompt + "\"}")
        : RouterRequest.chatCompletions(
            common + "\"messages\":[{\"role\":\"user\",\"content\":\"" + prompt + "\"}]}");
  }

  private static JsonNode choice(String json) {
    try {
      return JSON.readTree(json).path("choices").path(0);
    } catch (IOException e) {
      throw new AssertionError("not JSON: " + json, e);
    }
  }

  private static String text(String json) {
    JsonNode choice = choice(json);
    return choice.path("text").asText() + choice.path("message").path("content").asText();
  }

  private static String delta(String json) {
    JsonNode choice = choice(json);
    return choice.path("text").asText() + choice.path("delta").path("content").asText();
  }

  private static int drain(RouterStream stream) {
    try (stream) {
      int events = 0;
      while (stream.next() != null) {
        events++;
      }
      return events;
    }
  }

  @ParameterizedTest
  @EnumSource
  void pairsGiveTheTextOfOneEngine(TransferProtocol of) {
    start(of);
    String prompt = "tell me a story of two pools";
    String expected;
    try (FakeEngine one = FakeEngine.builder().kind(of.engine()).model("m").speedup(20).start();
        RouterClient direct =
            RouterClient.builder().transport(OkHttpTransport.create()).worker(one.url()).build()) {
      assertThat(direct.awaitReady(Duration.ofSeconds(20))).isTrue();
      expected = text(direct.send(request(prompt, 24, false)).text());
    }
    assertThat(expected).isNotEmpty();

    Set<String> pairs = new HashSet<>();
    for (int i = 0; i < 8; i++) {
      RouterResponse sent = router.send(request(prompt, 24, false));
      assertThat(text(sent.text())).isEqualTo(expected);
      assertThat(sent.usage().completionTokens()).isEqualTo(24);
      assertThat(sent.decision().pd().attempts()).isEqualTo(1);
      pairs.add(sent.decision().pd().prefill() + sent.decision().pd().decode());
    }
    assertThat(pairs).hasSize(4);
    StringBuilder streamed = new StringBuilder();
    try (RouterStream stream = router.stream(request(prompt, 24, true))) {
      stream.forEach(event -> streamed.append(delta(event.data())));
    }
    assertThat(streamed).hasToString(expected);
    assertThat(router.stats().pd().recomputes()).as("decode computed no prompt").isZero();
  }

  @ParameterizedTest
  @EnumSource
  void ranksAreTargetsOfBothRoles(TransferProtocol of) {
    start(of, 2, LEASE);
    await()
        .until(
            () ->
                router.workers().list().stream()
                    .allMatch(view -> view.worker().ranks().size() == 2));
    Set<String> pairs = new HashSet<>();
    for (int i = 0; i < 16; i++) {
      RouterResponse sent = router.send(request("which rank is it", 4, false));
      assertThat(sent.status()).as(sent.text()).isEqualTo(200);
      PdInfo pair = sent.decision().pd();
      assertThat(pair.attempts()).isEqualTo(1);
      pairs.add(
          pair.prefill() + "@" + pair.prefillRank() + pair.decode() + "@" + pair.decodeRank());
      if (of == TransferProtocol.SGLANG) {
        assertThat(pair.room() % 2).as("engines place a room").isEqualTo((long) pair.prefillRank());
      }
    }
    assertThat(pairs).as("every rank with every rank").hasSize(16);
    assertThat(router.stats().pd().recomputes()).isZero();
  }

  @ParameterizedTest
  @EnumSource
  void manyAtOnceAndStreamsThatAreLeft(TransferProtocol of) {
    start(of);
    List<CompletableFuture<Integer>> streams = new ArrayList<>();
    List<CompletableFuture<RouterResponse>> answers = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      String prompt = "session " + (i % 5) + " question " + i;
      answers.add(router.sendAsync(request(prompt, 8, false)));
      streams.add(
          router.streamAsync(request(prompt, 8, true)).thenApply(TransferProtocolsIT::drain));
    }
    for (int i = 0; i < 10; i++) {
      try (RouterStream stream = router.stream(request("a long answer " + i, 5_000, true))) {
        assertThat(stream.next()).isNotNull();
      }
    }
    answers.forEach(answer -> assertThat(answer.join().status()).isEqualTo(200));
    streams.forEach(stream -> assertThat(stream.join()).isPositive());
  }

  static Stream<Arguments> deaths() {
    return Stream.of(TransferProtocol.values())
        .flatMap(
            protocol ->
                Stream.of(WorkerRole.PREFILL, WorkerRole.DECODE)
                    .map(role -> Arguments.of(protocol, role)));
  }

  @ParameterizedTest
  @MethodSource("deaths")
  void workersThatDieLeaveNothingBehind(TransferProtocol of, WorkerRole role) {
    start(of, 1, SHORT_LEASE);
    FakeEngine victim =
        fleet.engines().stream().filter(engine -> engine.role() == role).findFirst().orElseThrow();
    long before = victim.stats().received();
    List<CompletableFuture<Integer>> streams = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      streams.add(
          router
              .streamAsync(request("what dies meanwhile " + role + i, 400, true))
              .thenApply(TransferProtocolsIT::drain));
    }
    await().until(() -> victim.stats().received() > before + 1);
    victim.kill();
    int failed = 0;
    for (CompletableFuture<Integer> stream : streams) {
      try {
        stream.join();
      } catch (CompletionException e) {
        assertThat(e).hasCauseInstanceOf(RouterException.class);
        failed++;
      }
    }
    assertThat(failed).isLessThan(16);
    victim.restart();
    await()
        .ignoreExceptionsInstanceOf(RouterException.class)
        .untilAsserted(
            () -> assertThat(router.send(request("again", 4, false)).status()).isEqualTo(200));
  }
}
