package dev.warmpath.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.StreamEvent;
import dev.warmpath.dispatch.RetrySettings;
import dev.warmpath.health.WorkerView;
import dev.warmpath.policy.Policies;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.worker.EngineKind;
import io.grpc.BindableService;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A router over scripted engines on loopback, whose counts must be at zero when it is closed. */
final class Fixture implements AutoCloseable {
  static final ObjectMapper JSON = new ObjectMapper();

  private static final RetrySettings RETRY =
      new RetrySettings(3, 1, 100, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(5));

  final ScriptedEngines engines = new ScriptedEngines();
  final GrpcTransport transport =
      GrpcTransport.builder().clock(InstantSource.fixed(Instant.ofEpochSecond(1_234))).build();
  private final List<Server> servers = new ArrayList<>();
  private RouterClient router;

  /** Serves some services on a port of its own. */
  String serve(BindableService... services) throws IOException {
    ServerBuilder<?> builder =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .intercept(engines.interceptor());
    for (BindableService service : services) {
      builder.addService(service);
    }
    Server server = builder.build().start();
    servers.add(server);
    return "grpc://127.0.0.1:" + server.getPort();
  }

  /** Starts a router that knows the tiny model. */
  RouterClient route(ModelFiles files, String... workers) {
    return route(builder -> builder.model("tiny", files), workers);
  }

  RouterClient route(Consumer<RouterClient.Builder> settings, String... workers) {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(transport)
            .policy(Policies.roundRobin())
            .retry(RETRY)
            .seed(7);
    for (String worker : workers) {
      builder.worker(worker);
    }
    settings.accept(builder);
    router = builder.build();
    await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofMillis(10))
        .until(() -> router.workers().list().stream().noneMatch(Fixture::unknown));
    return router;
  }

  private static boolean unknown(WorkerView view) {
    return view.worker().engine() == EngineKind.UNKNOWN;
  }

  static String body(String fields) {
    return "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
        + fields
        + "}";
  }

  static RouterRequest chat(String fields) {
    return RouterRequest.chatCompletions(body(fields));
  }

  static JsonNode json(byte[] body) throws IOException {
    return JSON.readTree(body);
  }

  /** All events of a stream. */
  static List<JsonNode> events(RouterStream stream) throws IOException {
    List<JsonNode> events = new ArrayList<>();
    for (StreamEvent event : stream) {
      events.add(JSON.readTree(event.data()));
    }
    return events;
  }

  /** The text of a streamed chat. */
  static String text(List<JsonNode> events) {
    StringBuilder text = new StringBuilder();
    for (JsonNode event : events) {
      for (JsonNode choice : event.path("choices")) {
        text.append(choice.path("delta").path("content").asText(""));
      }
    }
    return text.toString();
  }

  @Override
  public void close() {
    if (router != null) {
      await()
          .atMost(Duration.ofMinutes(1))
          .pollInterval(Duration.ofMillis(10))
          .untilAsserted(
              () -> {
                assertThat(router.stats().inFlight()).isZero();
                assertThat(router.workers().list())
                    .flatExtracting(WorkerView::ranks)
                    .allMatch(rank -> rank.inFlight() == 0);
              });
      router.close();
    }
    servers.forEach(Server::shutdownNow);
    await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofMillis(10))
        .until(() -> servers.stream().allMatch(Server::isTerminated));
  }
}
