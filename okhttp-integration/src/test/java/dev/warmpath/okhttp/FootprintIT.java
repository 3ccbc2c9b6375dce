package dev.warmpath.okhttp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.health.Fleet;
import dev.warmpath.health.HealthMonitor;
import dev.warmpath.health.HealthSettings;
import dev.warmpath.worker.VirtualScheduler;
import dev.warmpath.worker.WorkerRegistry;
import dev.warmpath.worker.WorkerSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import mockwebserver3.MockResponse;
import mockwebserver3.RecordedRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a client takes of a worker's connections and asks of it: the figures of OPERATIONS.md. */
class FootprintIT {
  private static final int REPLICAS = 40;
  private static final int REQUESTS = 24;
  private static final Duration FOREVER = Duration.ofHours(1);
  private static final Duration LIMIT = Duration.ofSeconds(30);

  /** The time that these take is real. */
  private static final HealthSettings PATIENT =
      HealthSettings.builder()
          .probeTimeout(Duration.ofMinutes(1))
          .loadTimeout(Duration.ofMinutes(1))
          .capabilityTimeout(Duration.ofMinutes(1))
          .build();

  private final MockWorker worker = MockWorker.started();
  private final CountDownLatch answering = new CountDownLatch(1);
  private final VirtualScheduler time = new VirtualScheduler();

  @AfterEach
  void stop() {
    answering.countDown();
    worker.close();
  }

  private long connections() {
    return worker.requests().stream().map(RecordedRequest::getConnectionIndex).distinct().count();
  }

  private long asked(String method) {
    return worker.requests().stream().filter(asked -> method.equals(asked.getMethod())).count();
  }

  /** Every answer waits until the test has seen what it wants to see. */
  private MockResponse held() {
    try {
      answering.await(60, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return MockWorker.ok();
  }

  /** A client whose polls come when the test moves time. */
  private RouterClient route(OkHttpTransport transport) {
    return RouterClient.builder()
        .transport(transport)
        .worker(worker.url() + ";engine=vllm")
        .timeouts(Fixture.PATIENT)
        .health(PATIENT)
        .scheduler(time)
        .seed(7)
        .build();
  }

  private static List<CompletableFuture<RouterResponse>> send(RouterClient router) {
    List<CompletableFuture<RouterResponse>> sent = new ArrayList<>();
    for (int i = 0; i < REQUESTS; i++) {
      sent.add(router.sendAsync(Fixture.chatRequest()));
    }
    return sent;
  }

  private static void finish(List<CompletableFuture<RouterResponse>> sent) throws Exception {
    for (CompletableFuture<RouterResponse> answer : sent) {
      assertThat(answer.get(30, TimeUnit.SECONDS).status()).isEqualTo(200);
    }
  }

  @Test
  void aConnectionForEachRequestOnItsWayAndOneForThePoll() throws Exception {
    worker.answers(request -> held());
    try (OkHttpTransport transport = OkHttpTransport.builder().keepAlive(FOREVER).build();
        RouterClient router = route(transport)) {
      time.advance(Duration.ofSeconds(5));
      await().atMost(LIMIT).until(() -> asked("GET") == 1);
      List<CompletableFuture<RouterResponse>> sent = send(router);
      await().atMost(LIMIT).until(() -> asked("POST") == REQUESTS);
      time.advance(Duration.ofSeconds(30)); // everything is due, and the poll may take a minute

      assertThat(asked("GET")).as("polls at a time").isEqualTo(1);
      assertThat(connections()).isEqualTo(REQUESTS + 1);
      assertThat(transport.stats().open()).isEqualTo(REQUESTS + 1);
      assertThat(transport.stats().idle()).isZero();

      answering.countDown();
      finish(sent);
      for (int i = 0; i < 10; i++) {
        router.send(Fixture.chatRequest());
      }
      assertThat(connections()).as("one after the other").isEqualTo(REQUESTS + 1);
      await().atMost(LIMIT).until(() -> transport.stats().idle() == REQUESTS + 1);
      assertThat(transport.stats().open()).isEqualTo(REQUESTS + 1);
    }
  }

  @Test
  void idleConnectionsAreClosedDownToNone() throws Exception {
    try (OkHttpTransport transport =
            OkHttpTransport.builder().keepAlive(Duration.ofMillis(50)).build();
        RouterClient router = route(transport)) {
      finish(send(router));
      assertThat(transport.stats().made()).isBetween(1L, (long) REQUESTS);
      await().atMost(LIMIT).until(() -> transport.stats().open() == 0);
    }
  }

  /** All GETs of a minute from forty clients like this one; one after the other. */
  @ParameterizedTest
  @CsvSource({"sglang, true, 2632", "vllm, false, 806"})
  void fortyClientsPollThatMuchOverHttp(String engine, boolean busy, int perMinute) {
    int minutes = 3;
    boolean[] more = {false};
    worker.answers(
        request -> {
          String path = request.getTarget().replaceAll("\\?.*", "");
          if (busy && path.equals(engine.equals("vllm") ? "/metrics" : "/v1/loads")) {
            more[0] = !more[0];
          }
          return page(engine, path, more[0] ? 20 : 10);
        });
    WorkerRegistry registry = new WorkerRegistry();
    try (OkHttpTransport transport = OkHttpTransport.builder().keepAlive(FOREVER).build();
        Fleet fleet = new Fleet(registry, gone -> {});
        HealthMonitor polling =
            HealthMonitor.builder(registry, fleet, List.of(transport))
                .settings(PATIENT)
                .scheduler(time)
                .executor(call -> time.schedule(Duration.ofMillis(1), call))
                .seed(7)
                .start()) {
      registry.add(WorkerSpec.parse(worker.url() + ";engine=" + engine));
      time.advance(Duration.ofMinutes(1));
      assertThat(polling.views()).hasSize(1);
      int before = worker.requests().size();
      time.advance(Duration.ofMinutes(minutes));
      double asked = (double) (worker.requests().size() - before) / minutes * REPLICAS;
      assertThat(asked).isBetween(0.9 * perMinute, 1.1 * perMinute);
      assertThat(connections()).isEqualTo(1);
    }
  }

  private static MockResponse page(String engine, String path, int running) {
    return switch (path) {
      case "/health" -> MockWorker.json(200, "");
      case "/v1/models" ->
          MockWorker.json(200, "{\"data\":[{\"id\":\"m\",\"owned_by\":\"%s\"}]}".formatted(engine));
      case "/version" -> MockWorker.json(200, "{\"version\":\"0.19.0\"}");
      case "/server_info" -> MockWorker.json(200, "{\"page_size\":64,\"dp_size\":1}");
      case "/v1/loads" ->
          MockWorker.json(
              200,
              "{\"loads\":[{\"dp_rank\":0,\"num_running_reqs\":%d,\"num_waiting_reqs\":0}]}"
                  .formatted(running));
      case "/metrics" ->
          new MockResponse.Builder()
              .setHeader("Content-Type", "text/plain; version=0.0.4")
              .body("vllm:num_requests_running " + running + "\nvllm:num_requests_waiting 0\n")
              .build();
      default -> MockWorker.json(404, "{}");
    };
  }
}
