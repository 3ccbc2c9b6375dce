package dev.warmpath.examples;

import static dev.warmpath.examples.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.sun.net.httpserver.HttpServer;
import dev.warmpath.RouterClient;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterStream;
import dev.warmpath.dispatch.RetrySettings;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.fault.Fault;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.observe.LoadHistorySettings;
import dev.warmpath.observe.OpenTelemetryTracer;
import dev.warmpath.observe.PrometheusText;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.okhttp.RoutingInterceptor;
import dev.warmpath.policy.Policies;
import dev.warmpath.transport.CacheLevel;
import dev.warmpath.worker.Secret;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.Stream;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is private is planted wherever an application or a worker can put it, and looked for
 * wherever the client says something: logs at every level, metrics, spans, events, exceptions,
 * decisions, views and its files. A worker that repeats in its errors what it was sent is among the
 * workers.
 */
class SecretsIT {
  private static final String MARK = "planted";
  private static final String BODY =
      "{\"model\":\"m\",\"max_tokens\":3,\"user\":\"planted-user\",\"messages\":["
          + "{\"role\":\"system\",\"content\":\"planted-system\"},"
          + "{\"role\":\"user\",\"content\":\"planted-prompt\"}],"
          + "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"planted_tool\"}}]}";
  private static final String STREAM = BODY.substring(0, BODY.length() - 1) + ",\"stream\":true}";

  @TempDir private Path folder;

  private final Queue<String> said = new ConcurrentLinkedQueue<>();
  private final Logger root = Logger.getLogger("");
  private final Logger own = Logger.getLogger("dev.warmpath");
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord record) {
          said.add("log " + record.getLoggerName() + ": " + record.getMessage());
          if (record.getParameters() != null) {
            for (Object parameter : record.getParameters()) {
              said.add("log parameter of " + record.getLoggerName() + ": " + parameter);
            }
          }
          tell("logged", record.getThrown());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };
  private final InMemorySpanExporter spans = InMemorySpanExporter.create();
  private final SdkTracerProvider traces =
      SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build();

  private FakeEngine engine;
  private HttpServer parrot;
  private Level before;

  @BeforeEach
  void listen() throws IOException {
    before = own.getLevel();
    own.setLevel(Level.ALL);
    handler.setLevel(Level.ALL);
    root.addHandler(handler);
    engine =
        FakeEngine.builder()
            .model("m")
            .timing(LatencyModel.instant())
            .healthLatency(Duration.ZERO)
            .start();
    parrot = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    parrot.createContext(
        "/",
        exchange -> {
          byte[] sent = exchange.getRequestBody().readAllBytes();
          String heard =
              "{\"error\":{\"message\":\"planted-answer "
                  + exchange.getRequestHeaders().entrySet()
                  + new String(sent, StandardCharsets.UTF_8).replace('"', '\'')
                  + "\"}}";
          byte[] answer = heard.getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().add("X-Planted", "planted-response-header");
          exchange.sendResponseHeaders(
              exchange.getRequestURI().getPath().startsWith("/v1/chat") ? 500 : 200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    parrot.start();
  }

  @AfterEach
  void stop() {
    root.removeHandler(handler);
    own.setLevel(before);
    traces.close();
    engine.close();
    parrot.stop(0);
  }

  private void tell(String what, Throwable thrown) {
    if (thrown != null) {
      StringWriter text = new StringWriter();
      thrown.printStackTrace(new PrintWriter(text));
      said.add(what + ": " + text);
    }
  }

  private String parrotUrl() {
    return "http://127.0.0.1:" + parrot.getAddress().getPort() + ";engine=sglang;model=m";
  }

  private RouterClient.Builder builder(String... workers) {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .policy(Policies.roundRobin())
            .retry(
                new RetrySettings(3, 1, 100, Duration.ZERO, Duration.ZERO, Duration.ofSeconds(1)))
            .apiKey(Secret.of("planted-api-key"))
            .adminKey(Secret.of("planted-admin-key"))
            .requestMetrics(true)
            .deadLetterBytes(1 << 20)
            .loadHistory(LoadHistorySettings.of(folder.resolve("loads.db")))
            .branchFile(folder.resolve("branches"))
            .tracer(
                OpenTelemetryTracer.of(
                    OpenTelemetrySdk.builder().setTracerProvider(traces).build()))
            .listener(
                new RouterListener() {
                  @Override
                  public void onRouted(RequestEvent event) {
                    said.add("event " + event);
                  }

                  @Override
                  public void onAttemptFailed(RequestEvent event) {
                    said.add("event " + event);
                  }

                  @Override
                  public void onFinished(RequestEvent event) {
                    said.add("event " + event);
                  }

                  @Override
                  public void onDeadLetter(DeadLetter letter) {
                    said.add("letter " + letter);
                    tell("letter", letter.error());
                  }
                })
            .seed(1);
    for (String worker : workers) {
      builder.worker(worker);
    }
    return builder;
  }

  private static RouterRequest request(String body) {
    return RouterRequest.chatCompletions(body).toBuilder()
        .header("Authorization", "Bearer planted-forwarded-key")
        .header("X-Own", "planted-header")
        .sessionKey("planted-session")
        .user("planted-user")
        .build();
  }

  /** Sends in every way, and takes down what comes of it. */
  private void exercise(RouterClient client) {
    RouterRequest whole = request(BODY);
    RouterRequest streamed = request(STREAM);
    said.add("request " + whole);
    tell("send", catchThrowable(() -> said.add("response " + client.send(whole))));
    tell("async", catchThrowable(() -> said.add("future " + client.sendAsync(whole).join())));
    tell(
        "stream",
        catchThrowable(
            () -> {
              try (RouterStream stream = client.stream(streamed)) {
                said.add("stream " + stream);
                while (stream.next() != null) {
                  // an answer is its reader's
                }
                said.add("decision " + stream.decision());
              }
            }));
    OkHttpClient http =
        new OkHttpClient.Builder().addInterceptor(RoutingInterceptor.of(client)).build();
    Request call =
        new Request.Builder()
            .url("http://" + RoutingInterceptor.DEFAULT_HOST + "/v1/chat/completions")
            .header("Authorization", "Bearer planted-forwarded-key")
            .post(RequestBody.create(BODY, MediaType.get("application/json")))
            .build();
    tell(
        "interceptor",
        catchThrowable(
            () -> {
              try (Response response = http.newCall(call).execute()) {
                response
                    .headers()
                    .forEach(
                        header -> {
                          if (header.getFirst().startsWith("x-warmpath")) {
                            said.add("header " + header);
                          }
                        });
                if (response.isSuccessful()) {
                  said.add("read " + response.body().contentLength());
                }
              }
            }));
    http.connectionPool().evictAll();
    http.dispatcher().executorService().shutdown();
    tell("explain", catchThrowable(() -> said.add("explain " + client.explain(whole))));
    for (String wrong :
        List.of(
            "{\"model\": planted-broken}",
            "{\"model\":\"unheard-of\",\"messages\":[]}",
            "{\"messages\":[{\"role\":\"planted-role\",\"content\":[\"planted-part\"]}")) {
      tell("wrong", catchThrowable(() -> client.send(request(wrong))));
    }
    tell(
        "option",
        catchThrowable(
            () ->
                client.send(
                    request(BODY).toBuilder()
                        .header("x-warmpath-deadline-ms", "planted")
                        .build())));
    said.add("stats " + client.stats());
    said.add("workers " + client.workers().list());
    said.add("predictions " + client.predictions());
    said.add("status " + client.status() + client.status().toJson());
    said.add("readiness " + client.readiness());
    said.add("stages " + client.stageTimers().times());
    tell(
        "admin",
        catchThrowable(
            () -> {
              said.add("flush " + client.admin().flush(CacheLevel.L1));
              said.add("abort " + client.admin().abort(List.of("rid")));
            }));
    said.add("metrics " + PrometheusText.of(client.metrics()));
  }

  private void assertNothingIsTold() throws IOException {
    spans.getFinishedSpanItems().forEach(span -> said.add("span " + span));
    assertThat(said).isNotEmpty();
    List<String> told =
        said.stream()
            .filter(text -> text.contains(MARK))
            .map(text -> text.substring(0, 40) + "..." + text.substring(text.indexOf(MARK)))
            .map(text -> text.substring(0, Math.min(text.length(), 120)))
            .distinct()
            .toList();
    assertThat(told).isEmpty();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String bytes = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        assertThat(bytes.contains(MARK)).as(file.getFileName().toString()).isFalse();
      }
    }
  }

  @Test
  void nothingPrivateIsToldOfWhatGoesWell() throws IOException {
    try (RouterClient client = builder(engine.url()).build()) {
      assertThat(client.awaitReady(Duration.ofSeconds(30))).isTrue();
      exercise(client);
    }
    assertThat(spans.getFinishedSpanItems()).isNotEmpty();
    assertNothingIsTold();
  }

  @Test
  void nothingPrivateIsToldOfFailures() throws IOException {
    engine.faults().add(Fault.status(503).times(2));
    engine.faults().add(Fault.garbage().times(2));
    engine.faults().add(Fault.error(0).times(2));
    engine.faults().add(Fault.cut(0).times(2));
    try (RouterClient client = builder(engine.url(), parrotUrl()).build()) {
      await().until(() -> !client.workers().list().isEmpty());
      for (int i = 0; i < 4; i++) {
        exercise(client);
      }
    }
    assertNothingIsTold();
  }

  @Test
  void nothingPrivateIsToldWhereEveryWorkerFails() throws IOException {
    RouterClient client = builder(parrotUrl()).build();
    exercise(client);
    client.close();
    tell("closed", catchThrowable(() -> client.send(request(BODY))));
    tell(
        "closed",
        catchThrowable(
            () -> {
              try {
                client.sendAsync(request(BODY)).join();
              } catch (CompletionException e) {
                tell("cause", e.getCause());
                throw e;
              }
            }));
    assertThat(said).anyMatch(text -> text.startsWith("send: "));
    assertNothingIsTold();
  }
}
