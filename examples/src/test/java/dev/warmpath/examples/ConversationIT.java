package dev.warmpath.examples;

import static dev.warmpath.examples.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.RouterClient;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.Usage;
import dev.warmpath.fake.FakeFleet;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.text.ModelPromptEncoder;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.okhttp.RoutingInterceptor;
import dev.warmpath.policy.Policies;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.UsageReader;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import dev.warmpath.worker.EngineKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Conversations whose every turn goes back to the worker that computed the turns before, and whose
 * prefix, with the answers in it, is predicted to the block.
 */
class ConversationIT {
  private static final String MODEL = "small";
  private static final int WORKERS = 3;
  private static final int TURNS = 5;
  private static final int BLOCK = 16;

  /** More than two blocks, so that a prediction without the answer would be seen. */
  private static final int ANSWER_TOKENS = 40;

  @TempDir private static Path folder;
  private static Tokenizer tokenizer;
  private static FakeFleet fleet;

  private WatchedTokenizer watched;
  private RouterClient router;
  private OkHttpClient http;

  /** How the turns are sent. */
  enum Way {
    SEND {
      @Override
      Turn send(ConversationIT test, ObjectNode body, String pin) {
        RouterResponse response = test.router.send(request(body, pin));
        assertThat(response.status()).as(response.text()).isEqualTo(200);
        return new Turn(
            response.decision(),
            response.usage(),
            Run.text(response.text(), "choices", 0, "message", "content"));
      }
    },
    STREAM {
      @Override
      Turn send(ConversationIT test, ObjectNode body, String pin) {
        StringBuilder said = new StringBuilder();
        try (RouterStream stream = test.router.stream(request(streaming(body), pin))) {
          stream.forEach(event -> said.append(delta(event.data())));
          return new Turn(stream.decision(), stream.usage(), said.toString());
        }
      }
    },
    ENQUEUE {
      @Override
      Turn send(ConversationIT test, ObjectNode body, String pin) throws Exception {
        Answer answer = test.enqueue(body, pin);
        return answer.turn(
            Run.text(answer.body(), "choices", 0, "message", "content"), answer.body());
      }
    },
    ENQUEUE_STREAM {
      @Override
      Turn send(ConversationIT test, ObjectNode body, String pin) throws Exception {
        Answer answer = test.enqueue(streaming(body), pin);
        StringBuilder said = new StringBuilder();
        String last = "";
        for (String line : answer.body().lines().toList()) {
          if (line.startsWith("data: {")) {
            last = line.substring("data: ".length());
            said.append(delta(last));
          }
        }
        return answer.turn(said.toString(), last);
      }
    };

    abstract Turn send(ConversationIT test, ObjectNode body, String pin) throws Exception;

    boolean enqueued() {
      return this == ENQUEUE || this == ENQUEUE_STREAM;
    }
  }

  /** What one turn came to. */
  private record Turn(RouteDecision decision, Usage usage, String said) {}

  /** What an enqueued call was answered. */
  private record Answer(Response response, String body) {
    /** Holds the headers to the decision besides. */
    Turn turn(String said, String usage) {
      assertThat(response.code()).as(body).isEqualTo(200);
      RouteDecision decision = response.request().tag(RouteDecision.class);
      assertThat(response.header("x-warmpath-worker")).isEqualTo(decision.chosen().worker());
      assertThat(response.header("x-warmpath-matched-tokens"))
          .isEqualTo(Integer.toString(decision.chosen().matchedTokens()));
      assertThat(response.header("x-warmpath-block-hashes"))
          .isEqualTo(Integer.toString(decision.prompt().tokens() / BLOCK));
      return new Turn(
          decision, new UsageReader().read(usage.getBytes(StandardCharsets.UTF_8)), said);
    }
  }

  /** One conversation, which begins at a worker of its own. */
  private static final class Conversation {
    final String worker;
    final ObjectNode body = Json.object().put("model", MODEL).put("max_tokens", ANSWER_TOKENS);
    final ArrayNode messages = body.putArray("messages");
    int held;

    Conversation(int number) {
      this.worker = fleet.urls().get(number);
      say("system", "you are helper number " + number + " of a long conversation, be kind");
    }

    void say(String role, String content) {
      messages.addObject().put("role", role).put("content", content);
    }
  }

  @BeforeAll
  static void startFleet() {
    ModelFiles files = ModelFiles.of(SmallModel.writeTo(folder.resolve(MODEL)));
    tokenizer = files.tokenizer();
    fleet =
        FakeFleet.start(
            Integer.toString(WORKERS),
            builder ->
                builder
                    .kind(EngineKind.VLLM)
                    .model(MODEL)
                    .blockSize(BLOCK)
                    .timing(LatencyModel.instant())
                    .promptEncoder(new ModelPromptEncoder(files, EngineKind.VLLM)));
  }

  @AfterAll
  static void stopFleet() {
    fleet.close();
  }

  @BeforeEach
  void startRouter() {
    assertThat(fleet.flushAll()).isTrue();
    watched = new WatchedTokenizer(tokenizer);
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .policy(Policies.parse("pin>cache_aware"))
            .model(MODEL, SmallModel.with(watched))
            .seed(23);
    fleet.urls().forEach(builder::worker);
    router = builder.build();
    OkHttpClient.Builder plain = new OkHttpClient.Builder();
    RoutingInterceptor.tune(plain);
    http = plain.addInterceptor(RoutingInterceptor.of(router)).build();
    assertThat(router.awaitReady(Duration.ofSeconds(30))).isTrue();
    Views.awaitLooked(router, Duration.ofSeconds(30));
  }

  @AfterEach
  void closeRouter() {
    await().until(() -> router.stats().inFlight() == 0);
    http.dispatcher().executorService().shutdown();
    http.connectionPool().evictAll();
    router.close();
  }

  /** Turns of all conversations in turns, so that the one before was another worker's. */
  @ParameterizedTest
  @EnumSource(Way.class)
  void goesBackToItsWorkerAndIsPredictedToTheBlock(Way way) throws Exception {
    List<Conversation> conversations = new ArrayList<>();
    for (int i = 0; i < WORKERS; i++) {
      conversations.add(new Conversation(i));
    }
    for (int number = 0; number < TURNS; number++) {
      for (Conversation conversation : conversations) {
        conversation.say("user", "question " + number + ": what comes after all that was said?");
        boolean first = number == 0;
        Turn turn = way.send(this, conversation.body, first ? conversation.worker : null);
        assertTurn(turn, conversation, first);
        conversation.say("assistant", turn.said());
      }
    }
    assertThat(watched.threads())
        .isNotEmpty()
        .allMatch(thread -> thread.startsWith("warmpath-prompt") == way.enqueued());
    if (way.enqueued()) {
      assertThat(watched.answerThreads())
          .isNotEmpty()
          .allMatch(thread -> thread.startsWith("warmpath-prompt"));
    }
    assertThat(router.stats().answers().dropped()).isZero();
  }

  private static void assertTurn(Turn turn, Conversation conversation, boolean first) {
    RouteDecision decision = turn.decision();
    Usage usage = turn.usage();
    assertThat(decision.prompt().exactness()).isEqualTo("exact");
    assertThat(decision.prompt().tokens()).isEqualTo(usage.promptTokens());
    assertThat(decision.prompt().blocks()).isEqualTo(usage.promptTokens() / BLOCK);
    assertThat(decision.chosen().worker()).isEqualTo(conversation.worker);
    assertThat(decision.chosen().step()).isEqualTo(first ? "pin" : "cache_aware");
    assertThat(decision.chosen().matchedTokens())
        .isCloseTo(usage.cachedTokens(), within(BLOCK))
        .isCloseTo(conversation.held, within(BLOCK));
    assertThat(usage.completionTokens()).isEqualTo(ANSWER_TOKENS);
    assertThat(tokenizer.encode(turn.said(), false)).hasSize(ANSWER_TOKENS);
    conversation.held = usage.promptTokens() + usage.completionTokens();
  }

  private Answer enqueue(ObjectNode body, String pin) throws Exception {
    Request.Builder request =
        new Request.Builder()
            .url("http://" + RoutingInterceptor.DEFAULT_HOST + RouterRequest.CHAT_COMPLETIONS)
            .post(RequestBody.create(body.toString(), MediaType.get("application/json")));
    if (pin != null) {
      request.header("x-warmpath-pin", pin);
    }
    CompletableFuture<Answer> answered = new CompletableFuture<>();
    http.newCall(request.build())
        .enqueue(
            new Callback() {
              @Override
              public void onFailure(Call call, IOException e) {
                answered.completeExceptionally(e);
              }

              @Override
              public void onResponse(Call call, Response response) throws IOException {
                try (response) {
                  answered.complete(new Answer(response, response.body().string()));
                } catch (IOException e) {
                  answered.completeExceptionally(e);
                }
              }
            });
    return answered.get(30, TimeUnit.SECONDS);
  }

  private static RouterRequest request(ObjectNode body, String pin) {
    RouterRequest.Builder request =
        RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS).body(body.toString());
    if (pin != null) {
      request.pin(pin);
    }
    return request.build();
  }

  private static ObjectNode streaming(ObjectNode body) {
    ObjectNode streaming = body.deepCopy().put("stream", true);
    streaming.putObject("stream_options").put("include_usage", true);
    return streaming;
  }

  private static String delta(String data) {
    return data.startsWith("{") ? Run.text(data, "choices", 0, "delta", "content") : "";
  }
}
