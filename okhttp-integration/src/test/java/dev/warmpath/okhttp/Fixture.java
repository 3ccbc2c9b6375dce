package dev.warmpath.okhttp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.dispatch.BreakerSettings;
import dev.warmpath.dispatch.RetrySettings;
import dev.warmpath.health.WorkerView;
import dev.warmpath.policy.Policies;
import dev.warmpath.transport.Timeouts;
import dev.warmpath.worker.WorkerSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

/** A router over mock workers, whose counts must all be back at zero when it is closed. */
final class Fixture implements AutoCloseable {
  static final MediaType JSON = MediaType.get("application/json");
  static final String BODY =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
  static final String STREAM =
      "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";

  /** Long where a test must not hit it: tests set the one they are about. */
  static final Timeouts PATIENT =
      new Timeouts(Duration.ofSeconds(20), Duration.ofSeconds(60), Duration.ofSeconds(60), null);

  /** Opens at the first failure, so that a closed breaker shows that nobody was blamed. */
  private static final BreakerSettings TOUCHY =
      new BreakerSettings(
          Duration.ofHours(1), 1, 0.01, Duration.ofHours(1), Duration.ofHours(1), 1);

  private static final RetrySettings RETRY =
      new RetrySettings(3, 1, 100, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(5));

  private final RouterClient router;
  private final List<OkHttpClient> clients = new ArrayList<>();

  private Fixture(RouterClient router) {
    this.router = router;
  }

  static Fixture over(Consumer<RouterClient.Builder> settings, Object... workers) {
    return over(OkHttpTransport.create(), settings, workers);
  }

  /** A router over workers given as {@link MockWorker}s, lines or {@link WorkerSpec}s. */
  static Fixture over(
      OkHttpTransport transport, Consumer<RouterClient.Builder> settings, Object... workers) {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(new QuietTransport(transport))
            .policy(Policies.roundRobin())
            .timeouts(PATIENT)
            .retry(RETRY)
            .breaker(TOUCHY)
            .seed(7);
    for (Object worker : workers) {
      if (worker instanceof MockWorker mock) {
        builder.worker(mock.url() + ";engine=vllm");
      } else if (worker instanceof WorkerSpec spec) {
        builder.worker(spec);
      } else {
        builder.worker((String) worker);
      }
    }
    settings.accept(builder);
    return new Fixture(builder.build());
  }

  static Fixture over(Object... workers) {
    return over(builder -> {}, workers);
  }

  RouterClient router() {
    return router;
  }

  /** A tuned client whose calls to the logical host are routed. */
  OkHttpClient http() {
    return http(builder -> {}, client -> {});
  }

  OkHttpClient http(
      Consumer<RoutingInterceptor.Builder> interceptor, Consumer<OkHttpClient.Builder> client) {
    RoutingInterceptor.Builder routing = RoutingInterceptor.builder(router);
    interceptor.accept(routing);
    OkHttpClient.Builder builder = new OkHttpClient.Builder();
    RoutingInterceptor.tune(builder);
    client.accept(builder);
    OkHttpClient made = builder.addInterceptor(routing.build()).build();
    clients.add(made);
    return made;
  }

  static Request chat(String json) {
    return post("/v1/chat/completions", RequestBody.create(json, JSON));
  }

  static Request post(String path, RequestBody body) {
    return new Request.Builder()
        .url("http://" + RoutingInterceptor.DEFAULT_HOST + path)
        .post(body)
        .build();
  }

  static RouterRequest chatRequest() {
    return RouterRequest.chatCompletions(BODY);
  }

  static RouterRequest streamRequest() {
    return RouterRequest.chatCompletions(STREAM);
  }

  static String text(Response response) throws IOException {
    try (response) {
      return response.body().string();
    }
  }

  /** The breaker of the only, or of the named, worker. */
  String breaker(String url) {
    return router.breaker(
        router.workers().list().stream()
            .map(WorkerView::worker)
            .filter(worker -> worker.id().value().equals(url))
            .findFirst()
            .orElseThrow());
  }

  int counted() {
    return router.stats().inFlight()
        + router.workers().list().stream()
            .flatMap(worker -> worker.ranks().stream())
            .mapToInt(WorkerView.RankView::inFlight)
            .sum();
  }

  void assertIdle() {
    await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> assertThat(counted()).isZero());
  }

  @Override
  public void close() {
    try {
      assertIdle();
    } finally {
      router.close();
      for (OkHttpClient client : clients) {
        client.dispatcher().cancelAll();
        client.dispatcher().executorService().shutdown();
        client.connectionPool().evictAll();
      }
    }
  }
}
