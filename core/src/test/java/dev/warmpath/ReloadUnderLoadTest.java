package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.PrefillDecodeException;
import dev.warmpath.api.RouterOverloadedException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.config.RouterConfig;
import dev.warmpath.transport.OutboundRequest;
import dev.warmpath.transport.TransportException.Kind;
import dev.warmpath.worker.WorkerRole;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The queue of a running client, its pairs and its sources of workers change while it works. */
class ReloadUnderLoadTest {
  private static final RouterRequest REQUEST =
      RouterRequest.chatCompletions(
          "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}]}");
  private static final String ANSWER =
      "{\"choices\":[{\"text\":\"hi\"}],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1}}";
  private static final String HANDED =
      "{\"choices\":[],\"kv_transfer_params\":{\"remote_request_id\":\"r1\"}}";
  private static final String ONE_WORKER = "workers: ['http://w0:1;engine=vllm;model=m']";

  private @Nullable RouterClient router;

  private RouterClient router(RouterConfig config, Function<OutboundRequest, Script> scripts) {
    router =
        RouterClient.builder()
            .transport(new ScriptedTransport(scripts))
            .config(config)
            .seed(1)
            .build();
    return router;
  }

  private static RouterConfig config(String... lines) {
    return RouterConfig.parse(String.join("\n", lines), "router.yaml");
  }

  private static String pairs(String engine) {
    StringBuilder list = new StringBuilder("workers:");
    for (int i = 0; i < 2; i++) {
      list.append("\n  - http://p" + i + ":1;role=prefill;model=m;engine=" + engine);
      list.append("\n  - http://d" + i + ":1;role=decode;model=m;engine=" + engine);
    }
    return list.toString();
  }

  private static boolean prefill(OutboundRequest request) {
    return request.target().worker().role() == WorkerRole.PREFILL;
  }

  private static void awaited(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @AfterEach
  void nothingIsLeft() {
    if (router != null) {
      RouterClient client = router;
      await().untilAsserted(() -> assertThat(client.stats().pd().liveSessions()).isZero());
      assertThat(client.stats().inFlight()).isZero();
      assertThat(client.stats().waiting()).isZero();
      assertThat(client.stats().pd().liveRooms()).isZero();
      client.close();
    }
  }

  @Test
  void whoWaitsStaysWhenTheQueueShrinksAndMoreWaitWhenItGrows() throws Exception {
    CountDownLatch sent = new CountDownLatch(1);
    CountDownLatch answers = new CountDownLatch(1);
    String[] limits = {ONE_WORKER, "admission: {max_in_flight_per_rank: 1, queue_size: %d}"};
    Function<Integer, RouterConfig> queue = size -> config(limits[0], limits[1].formatted(size));
    RouterClient client =
        router(
            queue.apply(0),
            request -> {
              sent.countDown();
              awaited(answers);
              return Script.ok(ANSWER);
            });
    CompletableFuture<RouterResponse> first = client.sendAsync(REQUEST);
    awaited(sent);
    assertThatThrownBy(() -> client.send(REQUEST))
        .isInstanceOf(RouterOverloadedException.class)
        .hasMessageContaining("(0 waiting)");

    client.reload(queue.apply(1));
    CompletableFuture<RouterResponse> second = client.sendAsync(REQUEST);
    await().untilAsserted(() -> assertThat(client.stats().waiting()).isEqualTo(1));
    assertThatThrownBy(() -> client.send(REQUEST)).isInstanceOf(RouterOverloadedException.class);

    client.reload(queue.apply(0));
    assertThat(client.stats().waiting()).isEqualTo(1);
    answers.countDown();
    assertThat(first.get(60, TimeUnit.SECONDS).status()).isEqualTo(200);
    assertThat(second.get(60, TimeUnit.SECONDS).status()).isEqualTo(200);
  }

  @Test
  void noneOfAThousandThatQueueIsLostWhileTheQueueChanges() throws Exception {
    RouterConfig wide =
        config(ONE_WORKER, "admission: {max_in_flight_per_rank: 2, queue_size: 512}");
    RouterConfig narrow =
        config(ONE_WORKER, "admission: {max_in_flight_per_rank: 1, queue_size: 8}");
    ReloadTraffic.noneIsLost(
        router(wide, request -> Script.ok(ANSWER)), List.of(narrow, wide), REQUEST);
  }

  @Test
  void noneOfAThousandIsLostWhileWhatPairsGoByChanges() throws Exception {
    RouterConfig one = config(pairs("sglang"), "policy: round_robin");
    RouterConfig other =
        config(
            pairs("sglang"),
            "decode_policy: random",
            "prefill_decode:",
            "  strict: false",
            "  direct_below_tokens: 10",
            "  pairs_first: false",
            "  max_attempts: 1",
            "  room_quarantine: 0",
            "  max_rooms: 4",
            "  aborts_per_second: 1",
            "  max_releases: 1",
            "  timeouts: {prefill: 90s, rendezvous: 90s, first_payload: 90s, abort: 1s}");
    RouterClient client = router(one, request -> Script.ok(ANSWER));
    ReloadTraffic.noneIsLost(client, List.of(other, one), REQUEST);
    client.reload(one);
    assertThat(client.send(REQUEST).decision().pd()).isNotNull();
  }

  @Test
  void aPairedRequestKeepsTheAttemptsItBeganWithAndTheNextHasItsOwn() throws Exception {
    CountDownLatch sent = new CountDownLatch(1);
    CountDownLatch reloaded = new CountDownLatch(1);
    AtomicInteger prefills = new AtomicInteger();
    RouterClient client =
        router(
            config(pairs("vllm"), "prefill_decode: {max_attempts: 2}"),
            request -> {
              if (!prefill(request)) {
                return Script.ok(ANSWER);
              }
              if (prefills.incrementAndGet() == 2) {
                return Script.ok(HANDED);
              }
              sent.countDown();
              awaited(reloaded);
              return Script.fails(Kind.CONNECT, FailurePhase.CONNECT);
            });
    CompletableFuture<RouterResponse> answer = client.sendAsync(REQUEST);
    awaited(sent);
    client.reload(config(pairs("vllm"), "prefill_decode: {max_attempts: 1}"));
    reloaded.countDown();
    assertThat(answer.get(60, TimeUnit.SECONDS).status()).isEqualTo(200);
    assertThat(prefills).hasValue(2);

    assertThatThrownBy(() -> client.send(REQUEST))
        .isInstanceOf(PrefillDecodeException.class)
        .hasMessageContaining("1 attempt(s)");
    assertThat(prefills).hasValue(3);
  }

  private static String discovery(Path... files) {
    return Stream.of(files)
        .map(file -> "{path: '" + file + "', interval: 10ms}")
        .collect(Collectors.joining(", ", "discovery: {files: [", "]}"));
  }

  private static Set<String> workers(RouterClient client) {
    return client.workers().list().stream()
        .map(view -> view.worker().id().value())
        .collect(Collectors.toSet());
  }

  private static Path listed(Path dir, String name, String... workers) throws IOException {
    StringBuilder text = new StringBuilder();
    for (String worker : workers) {
      text.append(worker).append(";engine=vllm;model=m\n");
    }
    return Files.writeString(dir.resolve(name), text);
  }

  @Test
  void noneOfAThousandIsLostWhileSourcesOfWorkersChange(@TempDir Path dir) throws Exception {
    Path blue = listed(dir, "blue", "http://w0:1", "http://w1:1");
    Path green = listed(dir, "green", "http://w1:1", "http://w2:1");
    RouterClient client = router(config(discovery(blue)), request -> Script.ok(ANSWER));
    await().untilAsserted(() -> assertThat(workers(client)).hasSize(2));
    long epoch = epoch(client, "http://w1:1");

    ReloadTraffic.noneIsLost(
        client,
        List.of(config(discovery(green)), config(discovery(blue, green)), config(discovery(blue))),
        REQUEST);

    client.reload(config(discovery(green)));
    await()
        .untilAsserted(
            () ->
                assertThat(workers(client))
                    .containsExactlyInAnyOrder("http://w1:1", "http://w2:1"));
    assertThat(epoch(client, "http://w1:1")).as("it was never without a source").isEqualTo(epoch);
  }

  private static long epoch(RouterClient client, String worker) {
    return client.workers().list().stream()
        .filter(view -> view.worker().id().value().equals(worker))
        .mapToLong(view -> view.worker().epoch())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void whatASourceToldStaysUntilTheNextHasToldAndGoesAtOnceWithoutANext(@TempDir Path dir)
      throws Exception {
    Path blue = listed(dir, "blue", "http://w0:1");
    Path missing = dir.resolve("green");
    RouterClient client = router(config(discovery(blue)), request -> Script.ok(ANSWER));
    await().untilAsserted(() -> assertThat(workers(client)).containsExactly("http://w0:1"));

    client.reload(config(discovery(missing)));
    assertThat(workers(client)).containsExactly("http://w0:1");
    assertThat(client.send(REQUEST).status()).isEqualTo(200);
    listed(dir, "green", "http://w2:1");
    await().untilAsserted(() -> assertThat(workers(client)).containsExactly("http://w2:1"));

    client.reload(config(ONE_WORKER));
    assertThat(workers(client)).containsExactly("http://w0:1");
  }

  @Test
  void aSourceThatEndedIsNotHeardAndOneThatStaysIsNotStartedAnew(@TempDir Path dir)
      throws Exception {
    Path blue = listed(dir, "blue", "http://w0:1");
    Path green = listed(dir, "green", "http://w2:1");
    RouterClient client = router(config(discovery(blue, green)), request -> Script.ok(ANSWER));
    await().untilAsserted(() -> assertThat(workers(client)).hasSize(2));
    long epoch = epoch(client, "http://w2:1");

    client.reload(config(discovery(green), "deadline: 1m"));
    assertThat(workers(client)).containsExactly("http://w2:1");
    assertThat(epoch(client, "http://w2:1")).isEqualTo(epoch);
    listed(dir, "blue", "http://w9:1");
    listed(dir, "green", "http://w2:1", "http://w3:1");
    await()
        .untilAsserted(
            () ->
                assertThat(workers(client))
                    .containsExactlyInAnyOrder("http://w2:1", "http://w3:1"));
  }
}
