package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.warmpath.RouterClient;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterListener;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.FakeEngineBuilder;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.text.ModelPromptEncoder;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.okhttp.RoutingInterceptor;
import dev.warmpath.policy.Policies;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import dev.warmpath.worker.EngineKind;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import okhttp3.Call;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every policy x every way of sending x every outcome x prompts known by their text or by their
 * tokens, over real sockets: a full decision, no lease left, nothing left running at a worker or of
 * the client's threads, and the same choice whichever way the same prompt was sent.
 */
class MatrixIT {
  private static final int WORKERS = 3;
  private static final String MODEL = "matrix-model";

  /** Names of threads that read prompts for callers that should not. */
  private static final String PROMPT_THREAD = "warmpath-prompt";

  @TempDir private static Path folder;
  private static Tokenizer tokenizer;
  private static final Map<Prompts, FakeFleet> fleets = new EnumMap<>(Prompts.class);

  private final ConcurrentLinkedQueue<RouterListener.RequestEvent> finished =
      new ConcurrentLinkedQueue<>();

  /** What the client knows of prompts. */
  enum Prompts {
    ESTIMATED,
    EXACT;

    FakeFleet fleet() {
      return fleets.get(this);
    }
  }

  /** How a request ends. */
  enum Outcome {
    OK,
    CANCEL,
    FAULT
  }

  /** How a request is sent. */
  enum Way {
    SEND {
      @Override
      RouteDecision ok(Client client, String prompt) {
        RouterResponse response = client.router.send(request(client, prompt, false));
        assertThat(response.status()).isEqualTo(200);
        assertThat(response.usage()).isNotNull();
        return response.decision();
      }

      @Override
      Runnable begin(Client client, String prompt) {
        Thread thread =
            new Thread(
                () -> {
                  try {
                    client.router.send(request(client, prompt, false));
                  } catch (RuntimeException expected) {
                    client.errors.add(expected);
                  }
                });
        thread.start();
        return () -> {
          thread.interrupt();
          join(thread);
        };
      }
    },
    SEND_ASYNC {
      @Override
      RouteDecision ok(Client client, String prompt) throws Exception {
        RouterResponse response =
            client.router.sendAsync(request(client, prompt, false)).get(30, TimeUnit.SECONDS);
        assertThat(response.status()).isEqualTo(200);
        return response.decision();
      }

      @Override
      Runnable begin(Client client, String prompt) {
        CompletableFuture<RouterResponse> future =
            client.router.sendAsync(request(client, prompt, false));
        return () -> assertThat(future.cancel(true)).isTrue();
      }
    },
    STREAM {
      @Override
      RouteDecision ok(Client client, String prompt) {
        try (RouterStream stream = client.router.stream(request(client, prompt, true))) {
          int events = 0;
          while (stream.next() != null) {
            events++;
          }
          assertThat(events).isPositive();
          assertThat(stream.usage()).isNotNull();
          return stream.decision();
        }
      }

      @Override
      Runnable begin(Client client, String prompt) {
        CompletableFuture<RouterStream> future =
            client.router.streamAsync(request(client, prompt, true));
        return () -> assertThat(future.cancel(true)).isTrue();
      }
    },
    INTERCEPTOR {
      @Override
      RouteDecision ok(Client client, String prompt) throws Exception {
        try (Response response = client.http.newCall(call(client, prompt)).execute()) {
          assertThat(response.code()).isEqualTo(200);
          assertThat(response.body().string()).contains("choices");
          assertThat(response.header("x-warmpath-worker")).startsWith("http://127.0.0.1:");
          return response.request().tag(RouteDecision.class);
        }
      }

      @Override
      Runnable begin(Client client, String prompt) {
        Call call = client.http.newCall(call(client, prompt));
        Thread thread =
            new Thread(
                () -> {
                  try (Response response = call.execute()) {
                    fail("the call was to be cancelled, not answered " + response.code());
                  } catch (Exception expected) {
                    client.errors.add(expected);
                  }
                });
        thread.start();
        return () -> {
          call.cancel();
          join(thread);
        };
      }
    };

    /** Whether the prompt is read by another thread than the caller's. */
    boolean apart(Outcome outcome) {
      return switch (this) {
        case SEND -> false;
        case STREAM -> outcome == Outcome.CANCEL;
        case SEND_ASYNC, INTERCEPTOR -> true;
      };
    }

    /** Sends and takes the whole answer. */
    abstract RouteDecision ok(Client client, String prompt) throws Exception;

    /** Begins to send; the result cancels. */
    abstract Runnable begin(Client client, String prompt);
  }

  private static void join(Thread thread) {
    try {
      thread.join(30_000);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    assertThat(thread.isAlive()).isFalse();
  }

  /** A router, and an OkHttp client that it routes. */
  private static final class Client implements AutoCloseable {
    final RouterClient router;
    final OkHttpClient http;
    final FakeFleet fleet;
    final String pin;
    final WatchedTokenizer watched = new WatchedTokenizer(tokenizer);
    final ConcurrentLinkedQueue<Exception> errors = new ConcurrentLinkedQueue<>();

    Client(String policy, Prompts prompts, String pin, RouterListener listener) {
      RouterClient.Builder builder =
          RouterClient.builder()
              .transport(OkHttpTransport.create())
              .policy(Policies.parse(policy))
              .listener(listener)
              .seed(17);
      this.fleet = prompts.fleet();
      fleet.urls().forEach(builder::worker);
      if (prompts == Prompts.EXACT) {
        builder.model(MODEL, SmallModel.with(watched));
      }
      this.router = builder.build();
      this.pin = pin;
      OkHttpClient.Builder plain = new OkHttpClient.Builder();
      RoutingInterceptor.tune(plain);
      this.http = plain.addInterceptor(RoutingInterceptor.of(router)).build();
      assertThat(router.awaitReady(Duration.ofSeconds(30))).isTrue();
      Views.awaitLooked(router, Duration.ofSeconds(30));
    }

    @Override
    public void close() {
      http.dispatcher().executorService().shutdown();
      http.connectionPool().evictAll();
      router.close();
      await().until(() -> promptThreads().isEmpty());
    }
  }

  /** Looks at once and often: there are hundreds of cells. */
  private static ConditionFactory await() {
    return Awaitility.await().pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(5));
  }

  private static List<String> promptThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith(PROMPT_THREAD))
        .toList();
  }

  @BeforeAll
  static void startFleets() {
    ModelFiles files = ModelFiles.of(SmallModel.writeTo(folder.resolve(MODEL)));
    tokenizer = files.tokenizer();
    fleets.put(Prompts.ESTIMATED, fleet(builder -> builder));
    fleets.put(
        Prompts.EXACT,
        fleet(
            builder ->
                builder
                    .kind(EngineKind.VLLM)
                    .promptEncoder(new ModelPromptEncoder(files, EngineKind.VLLM))));
  }

  private static FakeFleet fleet(UnaryOperator<FakeEngineBuilder> configure) {
    return FakeFleet.start(
        Integer.toString(WORKERS),
        builder ->
            configure.apply(builder.model(MODEL).timing(LatencyModel.instant()).speedup(1_000)));
  }

  @AfterAll
  static void stopFleets() {
    fleets.values().forEach(FakeFleet::close);
    fleets.clear();
  }

  @BeforeEach
  void healFleets() {
    for (FakeFleet fleet : fleets.values()) {
      for (FakeEngine engine : fleet.engines()) {
        engine.faults().clear();
        engine.resume();
      }
      assertThat(fleet.flushAll()).isTrue();
    }
  }

  static List<String> policies() {
    List<String> all = new ArrayList<>(Policies.names());
    all.add(Policies.standard().name());
    return all;
  }

  static List<Arguments> cells() {
    List<Arguments> cells = new ArrayList<>();
    for (String policy : policies()) {
      for (Way way : Way.values()) {
        for (Outcome outcome : Outcome.values()) {
          for (Prompts prompts : Prompts.values()) {
            cells.add(Arguments.of(policy, way, outcome, prompts));
          }
        }
      }
    }
    return cells;
  }

  @ParameterizedTest(name = "{0} {1} {2} {3}")
  @MethodSource("cells")
  void leavesNothingBehind(String policy, Way way, Outcome outcome, Prompts prompts)
      throws Exception {
    FakeFleet fleet = prompts.fleet();
    String prompt = "how warm is the path that " + policy + " takes through the matrix";
    try (Client client = client(policy, prompts, null)) {
      switch (outcome) {
        case OK -> {
          RouteDecision decision = way.ok(client, prompt);
          assertFull(client, decision, policy);
          assertThat(decision.attempts()).hasSize(1);
          assertFinished(client, RouterListener.Outcome.COMPLETED);
        }
        case FAULT -> {
          // Every worker fails its next request once: each attempt but the last one fails.
          fleet.engines().forEach(engine -> engine.faults().add("503:count=1"));
          RouteDecision decision = way.ok(client, prompt);
          assertFull(client, decision, policy);
          assertThat(decision.attempts().size()).isGreaterThan(1);
          assertThat(decision.attempts().get(0).status()).isEqualTo(503);
          assertFinished(client, RouterListener.Outcome.COMPLETED);
        }
        case CANCEL -> {
          fleet.engines().forEach(FakeEngine::pause);
          Runnable cancel = way.begin(client, prompt);
          await().until(() -> fleet.stats().waiting() + fleet.stats().running() == 1);
          cancel.run();
          await().until(() -> fleet.stats().waiting() + fleet.stats().running() == 0);
          fleet.engines().forEach(FakeEngine::resume);
          assertFinished(client, RouterListener.Outcome.CANCELLED);
        }
      }
      assertNoLease(client);
      assertRead(client, way, outcome, prompts);
    }
    assertThat(finished).as("told once, to the end").hasSize(1);
  }

  /** How the prompt was read, and that the engine counted what the client did. */
  private void assertRead(Client client, Way way, Outcome outcome, Prompts prompts) {
    RouterListener.RequestEvent event = finished.element();
    RouteDecision.PromptSummary prompt = event.decision().prompt();
    if (prompts == Prompts.ESTIMATED) {
      assertThat(prompt.exactness()).isEqualTo("estimated");
      assertThat(prompt.blocks()).isZero();
      assertThat(client.watched.threads()).isEmpty();
      return;
    }
    assertThat(prompt.exactness()).isEqualTo("exact");
    assertThat(prompt.blocks()).isPositive().isEqualTo(prompt.tokens() / 16);
    if (outcome != Outcome.CANCEL) {
      assertThat(event.usage().promptTokens()).isEqualTo(prompt.tokens());
    }
    assertThat(client.watched.threads())
        .isNotEmpty()
        .allMatch(thread -> thread.startsWith(PROMPT_THREAD) == way.apart(outcome));
  }

  static List<Arguments> policiesAndPrompts() {
    List<Arguments> arguments = new ArrayList<>();
    for (String policy : policies()) {
      for (Prompts prompts : Prompts.values()) {
        arguments.add(Arguments.of(policy, prompts));
      }
    }
    return arguments;
  }

  @ParameterizedTest
  @MethodSource("policiesAndPrompts")
  void choosesTheSameWhicheverWayItIsSent(String policy, Prompts prompts) throws Exception {
    List<String> chosen = new ArrayList<>();
    for (Way way : Way.values()) {
      assertThat(prompts.fleet().flushAll()).isTrue();
      try (Client client = client(policy, prompts, null)) {
        chosen.add(chosen(way.ok(client, "same prompt, same state")));
        assertNoLease(client);
      }
    }
    assertThat(chosen).as(policy).containsOnly(chosen.get(0));
  }

  @ParameterizedTest
  @CsvSource({
    "pin, ESTIMATED",
    "pin, EXACT",
    "pin>linear_cost>shortest_queue, ESTIMATED",
    "pin>linear_cost>shortest_queue, EXACT"
  })
  void followsAPinWhicheverWayItIsSent(String policy, Prompts prompts) throws Exception {
    String last = prompts.fleet().urls().get(WORKERS - 1);
    for (Way way : Way.values()) {
      try (Client client = client(policy, prompts, last)) {
        assertThat(chosen(way.ok(client, "pinned"))).isEqualTo(last);
      }
    }
  }

  private Client client(String policy, Prompts prompts, String pin) {
    finished.clear();
    return new Client(
        policy,
        prompts,
        pin,
        new RouterListener() {
          @Override
          public void onFinished(RequestEvent event) {
            finished.add(event);
          }
        });
  }

  private static String chosen(RouteDecision decision) {
    return decision.chosen().worker();
  }

  private static void assertFull(Client client, RouteDecision decision, String policy) {
    assertThat(decision.policy()).contains(policy);
    assertThat(decision.topologyVersion()).isPositive();
    assertThat(decision.prompt().bytes()).isPositive();
    assertThat(decision.prompt().tokens()).isPositive();
    assertThat(decision.chosen()).isNotNull();
    assertThat(client.fleet.urls()).contains(decision.chosen().worker());
    assertThat(decision.chosen().step()).isNotBlank();
    assertThat(decision.attempts()).isNotEmpty();
  }

  private void assertFinished(Client client, RouterListener.Outcome outcome) {
    await().until(() -> finished.size() == 1);
    assertThat(finished.peek().outcome()).as(client.errors.toString()).isEqualTo(outcome);
  }

  private static void assertNoLease(Client client) {
    await()
        .untilAsserted(
            () -> {
              assertThat(client.router.stats().inFlight()).isZero();
              assertThat(client.router.stats().waiting()).isZero();
              client
                  .router
                  .workers()
                  .list()
                  .forEach(
                      worker ->
                          worker
                              .ranks()
                              .forEach(
                                  rank -> {
                                    assertThat(rank.inFlight()).isZero();
                                    assertThat(rank.prefillTokens()).isZero();
                                  }));
            });
  }

  private static RouterRequest request(Client client, String prompt, boolean stream) {
    RouterRequest.Builder request =
        RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS).body(body(prompt, stream));
    if (client.pin != null) {
      request.pin(client.pin);
    }
    return request.build();
  }

  private static Request call(Client client, String prompt) {
    Request.Builder request =
        new Request.Builder()
            .url("http://" + RoutingInterceptor.DEFAULT_HOST + RouterRequest.CHAT_COMPLETIONS)
            .post(RequestBody.create(body(prompt, false), MediaType.get("application/json")));
    if (client.pin != null) {
      request.header("x-warmpath-pin", client.pin);
    }
    return request.build();
  }

  private static String body(String prompt, boolean stream) {
    return "{\"model\":\""
        + MODEL
        + "\",\"max_tokens\":4,"
        + (stream ? "\"stream\":true,\"stream_options\":{\"include_usage\":true}," : "")
        + "\"messages\":[{\"role\":\"user\",\"content\":\""
        + prompt
        + "\"}]}";
  }
}
