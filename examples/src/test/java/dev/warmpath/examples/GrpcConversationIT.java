package dev.warmpath.examples;

import static dev.warmpath.examples.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.RouterClient;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.api.Usage;
import dev.warmpath.fake.FakeEngine;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.text.ModelPromptEncoder;
import dev.warmpath.fake.wire.GrpcApi;
import dev.warmpath.grpc.GrpcTransport;
import dev.warmpath.okhttp.OkHttpTransport;
import dev.warmpath.prompt.ModelFiles;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The same conversation over HTTP and over each of the engines' gRPC servers: the same text, usage
 * and decision, streamed or not, and nothing left at either end.
 */
@Tag("long")
class GrpcConversationIT {
  private static final String MODEL = "small";

  @TempDir private static Path folder;
  private static ModelFiles files;

  /** What came of a turn, as far as it may not depend on the way. */
  record Turn(String text, String finish, Usage usage, long matched, String exactness) {}

  @BeforeAll
  static void layOutTheModel() {
    files = ModelFiles.of(SmallModel.writeTo(folder.resolve(MODEL)));
  }

  private static FakeEngine engine(GrpcApi api) {
    return FakeEngine.builder()
        .kind(api.engine())
        .model(MODEL)
        .promptEncoder(new ModelPromptEncoder(files, api.engine()))
        .blockSize(16)
        .timing(LatencyModel.instant())
        .speedup(1_000)
        .grpcPort(0)
        .grpcApi(api)
        .start();
  }

  private static RouterClient client(String worker) {
    RouterClient client =
        RouterClient.builder()
            .transport(OkHttpTransport.create())
            .transport(GrpcTransport.create())
            .model(MODEL, files)
            .worker(worker)
            .seed(3)
            .build();
    assertThat(client.awaitReady(Duration.ofSeconds(30))).isTrue();
    return client;
  }

  private static String body(List<String> said, boolean stream) {
    StringBuilder messages = new StringBuilder();
    for (int i = 0; i < said.size(); i++) {
      messages
          .append(i == 0 ? "" : ",")
          .append("{\"role\":\"")
          .append(i % 2 == 0 ? "user" : "assistant")
          .append("\",\"content\":\"")
          .append(said.get(i))
          .append("\"}");
    }
    return "{\"model\":\""
        + MODEL
        + "\",\"max_tokens\":24,"
        + (stream ? "\"stream\":true,\"stream_options\":{\"include_usage\":true}," : "")
        + "\"messages\":["
        + messages
        + "]}";
  }

  private static Turn send(RouterClient client, List<String> said) {
    RouterResponse response = client.send(RouterRequest.chatCompletions(body(said, false)));
    assertThat(response.status()).as(response.text()).isEqualTo(200);
    return turn(
        Run.text(response.text(), "choices", 0, "message", "content"),
        Run.text(response.text(), "choices", 0, "finish_reason"),
        response.usage(),
        response.decision());
  }

  private static Turn stream(RouterClient client, List<String> said) {
    StringBuilder text = new StringBuilder();
    StringBuilder finish = new StringBuilder();
    try (RouterStream stream = client.stream(RouterRequest.chatCompletions(body(said, true)))) {
      stream.forEach(
          event -> {
            if (event.data().startsWith("{") && !event.data().contains("\"choices\":[]")) {
              text.append(Run.text(event.data(), "choices", 0, "delta", "content"));
              finish.append(Run.text(event.data(), "choices", 0, "finish_reason"));
            }
          });
      return turn(
          text.toString(),
          finish.toString().replace("null", ""),
          stream.usage(),
          stream.decision());
    }
  }

  private static Turn turn(String text, String finish, Usage usage, RouteDecision decision) {
    return new Turn(
        text, finish, usage, decision.chosen().matchedTokens(), decision.prompt().exactness());
  }

  private static List<Turn> conversation(FakeEngine engine, String worker, boolean streamed) {
    assertThat(engine.flushCache()).isTrue();
    List<Turn> turns = new ArrayList<>();
    List<String> said = new ArrayList<>();
    try (RouterClient client = client(worker)) {
      for (int turn = 0; turn < 3; turn++) {
        said.add("say something about warm paths, for the " + turn + "th time, and at length");
        Turn came = streamed ? stream(client, said) : send(client, said);
        turns.add(came);
        said.add(came.text());
      }
      await().until(() -> client.stats().inFlight() == 0);
    }
    assertThat(engine.stats().running() + engine.stats().waiting()).isZero();
    return turns;
  }

  @ParameterizedTest
  @EnumSource(GrpcApi.class)
  void theSameConversationComesEitherWay(GrpcApi api) {
    try (FakeEngine engine = engine(api)) {
      String grpc = Objects.requireNonNull(engine.grpcUrl());
      for (boolean streamed : List.of(false, true)) {
        List<Turn> http = conversation(engine, engine.url(), streamed);
        List<Turn> other = conversation(engine, grpc, streamed);
        assertThat(other).extracting(Turn::text).isEqualTo(http.stream().map(Turn::text).toList());
        for (int i = 0; i < http.size(); i++) {
          Turn expected = http.get(i);
          Turn actual = other.get(i);
          assertThat(actual.finish()).isEqualTo(expected.finish()).isEqualTo("length");
          assertThat(actual.matched()).as("turn " + i).isEqualTo(expected.matched());
          assertThat(actual.exactness()).isEqualTo("exact");
          assertThat(actual.usage().promptTokens()).isEqualTo(expected.usage().promptTokens());
          assertThat(actual.usage().completionTokens()).isEqualTo(24);
          if (api != GrpcApi.VLLM_INFERENCE) { // which counts no cached tokens
            assertThat(actual.usage().cachedTokens()).isEqualTo(expected.usage().cachedTokens());
          }
        }
      }
    }
  }

  /** What is asked of every service besides a plain chat; {@code %s} is a word of the answer. */
  private static final List<String> WISHES =
      List.of(
          "\"n\":2",
          "\"stop\":[\"%s\"]",
          "\"stop\":\"%s\",\"n\":2,\"temperature\":0.5",
          "\"temperature\":0,\"top_p\":0.9,\"max_tokens\":7");

  static List<Arguments> services() {
    List<Arguments> arguments = new ArrayList<>();
    for (GrpcApi api : GrpcApi.values()) {
      arguments.add(Arguments.of(api, RouterRequest.CHAT_COMPLETIONS));
      arguments.add(Arguments.of(api, RouterRequest.COMPLETIONS));
    }
    return arguments;
  }

  @ParameterizedTest
  @MethodSource("services")
  void theSameAnswersComeWhateverIsAsked(GrpcApi api, String path) {
    boolean chat = path.equals(RouterRequest.CHAT_COMPLETIONS);
    List<String> wishes = new ArrayList<>(WISHES);
    wishes.add(chat ? "\"logprobs\":true,\"top_logprobs\":2" : "\"logprobs\":2");
    try (FakeEngine engine = engine(api);
        RouterClient http = client(engine.url());
        RouterClient grpc = client(Objects.requireNonNull(engine.grpcUrl()))) {
      String answer = ask(http, engine, path, "\"n\":1", false).choices().get(0).text();
      assertThat(answer.length()).isGreaterThan(20);
      String stop = answer.substring(12, 16);
      for (String wish : wishes) {
        String fields = wish.replace("%s", stop);
        for (boolean streamed : List.of(false, true)) {
          Asked expected = ask(http, engine, path, fields, streamed);
          Asked actual = ask(grpc, engine, path, fields, streamed);
          assertThat(actual.choices()).as(fields).isEqualTo(expected.choices());
          assertThat(actual.prompt()).as(fields).isEqualTo(expected.prompt());
          assertThat(actual.completion()).as(fields).isEqualTo(expected.completion());
          assertThat(expected.choices()).hasSize(fields.contains("\"n\":2") ? 2 : 1);
          if (fields.contains("stop")) {
            assertThat(actual.choices().get(0).finish()).isEqualTo("stop");
            assertThat(actual.choices().get(0).text())
                .isEqualTo(answer.substring(0, answer.indexOf(stop)));
          }
          assertThat(actual.logprobs()).as(fields).isEqualTo(expected.logprobs());
          assertThat(actual.logprobs())
              .as(fields)
              .hasSize(fields.contains("logprobs") ? 24 * (1 + 2) : 0);
          if (streamed) {
            Asked whole = ask(grpc, engine, path, fields, false);
            assertThat(actual.logprobs()).isEqualTo(whole.logprobs());
          }
        }
      }
    }
  }

  /** One answer of a response. */
  record Choice(String text, String finish) {}

  /** A response: its answers, its usage, and tokens with their log probabilities. */
  record Asked(List<Choice> choices, Integer prompt, Integer completion, List<String> logprobs) {}

  private static Asked ask(
      RouterClient client, FakeEngine engine, String path, String fields, boolean streamed) {
    assertThat(engine.flushCache()).isTrue();
    boolean chat = path.equals(RouterRequest.CHAT_COMPLETIONS);
    String words = "say something about warm paths, and at length";
    String body =
        "{\"model\":\""
            + MODEL
            + "\","
            + (fields.contains("max_tokens") ? "" : "\"max_tokens\":24,")
            + (streamed ? "\"stream\":true,\"stream_options\":{\"include_usage\":true}," : "")
            + fields
            + (chat
                ? ",\"messages\":[{\"role\":\"user\",\"content\":\"" + words + "\"}]}"
                : ",\"prompt\":\"" + words + "\"}");
    RouterRequest request = RouterRequest.builder(path).body(body).build();
    Map<Integer, StringBuilder> texts = new TreeMap<>();
    Map<Integer, String> ends = new TreeMap<>();
    Map<Integer, List<String>> logprobs = new TreeMap<>();
    Usage usage;
    if (streamed) {
      try (RouterStream stream = client.stream(request)) {
        stream.forEach(event -> take(event.data(), "delta", texts, ends, logprobs));
        usage = stream.usage();
      }
    } else {
      RouterResponse response = client.send(request);
      assertThat(response.status()).as(response.text()).isEqualTo(200);
      take(response.text(), "message", texts, ends, logprobs);
      usage = response.usage();
    }
    List<Choice> choices = new ArrayList<>();
    texts.forEach(
        (index, text) ->
            choices.add(new Choice(text.toString(), ends.getOrDefault(index, "none"))));
    List<String> scored = logprobs.values().stream().flatMap(List::stream).toList();
    return new Asked(choices, usage.promptTokens(), usage.completionTokens(), scored);
  }

  private static void take(
      String json,
      String part,
      Map<Integer, StringBuilder> texts,
      Map<Integer, String> ends,
      Map<Integer, List<String>> logprobs) {
    if (!json.startsWith("{")) {
      return;
    }
    for (JsonNode choice : new Run(0, json, "").json().path("choices")) {
      int index = choice.path("index").asInt();
      texts
          .computeIfAbsent(index, made -> new StringBuilder())
          .append(choice.path("text").asText(""))
          .append(choice.path(part).path("content").asText(""));
      if (choice.path("finish_reason").isTextual()) {
        ends.put(index, choice.path("finish_reason").asText());
      }
      List<String> scored = logprobs.computeIfAbsent(index, made -> new ArrayList<>());
      for (JsonNode token : choice.path("logprobs").path("content")) {
        scored.add(token.path("token").asText() + " " + (float) token.path("logprob").asDouble());
        token
            .path("top_logprobs")
            .forEach(
                top ->
                    scored.add(
                        top.path("token").asText() + " " + (float) top.path("logprob").asDouble()));
      }
      JsonNode tokens = choice.path("logprobs").path("tokens");
      for (int i = 0; i < tokens.size(); i++) {
        scored.add(
            tokens.path(i).asText()
                + " "
                + (float) choice.path("logprobs").path("token_logprobs").path(i).asDouble());
        choice
            .path("logprobs")
            .path("top_logprobs")
            .path(i)
            .properties()
            .forEach(top -> scored.add(top.getKey() + " " + (float) top.getValue().asDouble()));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(GrpcApi.class)
  void cancellationReachesTheEngine(GrpcApi api) {
    try (FakeEngine engine = engine(api);
        RouterClient client = client(Objects.requireNonNull(engine.grpcUrl()))) {
      engine.pause();
      CompletableFuture<RouterStream> stream =
          client.streamAsync(RouterRequest.chatCompletions(body(List.of("wait"), true)));
      await().until(() -> engine.stats().waiting() == 1);
      stream.cancel(true);
      await().until(() -> engine.stats().waiting() == 0);
      engine.resume();
      await().until(() -> client.stats().inFlight() == 0);
      assertThat(engine.stats().running()).isZero();
    }
  }
}
