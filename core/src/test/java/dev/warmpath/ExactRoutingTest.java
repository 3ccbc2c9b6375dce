package dev.warmpath;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.ScriptedTransport.Script;
import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.RouteDecision;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.dispatch.AnswerStats;
import dev.warmpath.health.PredictionCheck;
import dev.warmpath.policy.Policies;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.prompt.StageTimers;
import dev.warmpath.prompt.tokenizer.Tokenizer;
import dev.warmpath.prompt.tokenizer.Tokenizers;
import dev.warmpath.transport.OutboundRequest;
import java.lang.reflect.Proxy;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Requests whose prompts have tokens, from the body to the choice and back. */
class ExactRoutingTest {
  private static final Tokenizer TOKENIZER = tokenizer();
  private static final String TEMPLATE =
      "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
          + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";
  private static final ModelFiles FILES = ModelFiles.of(TOKENIZER, TEMPLATE, Map.of());
  private static final String QUESTION = "tell me about the long way home ".repeat(12);
  private static final String ANSWER = "well it goes on and on and on ".repeat(6);

  private RouterClient router;

  private static Tokenizer tokenizer() {
    try {
      return Tokenizers.load(
          Path.of(
              Objects.requireNonNull(Tokenizers.class.getResource("chatml/tokenizer.json"))
                  .toURI()));
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  private RouterClient router(Function<OutboundRequest, Script> scripts) {
    return router(3, FILES, scripts);
  }

  private RouterClient router(
      int workers, ModelFiles files, Function<OutboundRequest, Script> scripts) {
    RouterClient.Builder builder =
        RouterClient.builder()
            .transport(new ScriptedTransport(scripts))
            .policy(Policies.cacheAware())
            .model("m", files)
            .tokenizeThreads(1)
            .seed(3);
    for (int i = 0; i < workers; i++) {
      builder.worker("http://w" + i + ":1;engine=vllm;model=m;block=16");
    }
    router = builder.build();
    assertThat(router.awaitReady(Duration.ofSeconds(30))).isTrue();
    return router;
  }

  @AfterEach
  void close() {
    if (router != null) {
      assertThat(router.stats().inFlight()).isZero();
      router.close();
    }
  }

  private static String message(String role, String content) {
    return "{\"role\":\"" + role + "\",\"content\":\"" + content + "\"}";
  }

  private static RouterRequest chat(boolean stream, String... messages) {
    return RouterRequest.chatCompletions(
        "{\"model\":\"m\",\"stream\":"
            + stream
            + ",\"messages\":["
            + String.join(",", messages)
            + "]}");
  }

  private static String answer(int promptTokens, int cached) {
    return "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\""
        + ANSWER
        + "\"}}],\"usage\":{\"prompt_tokens\":"
        + promptTokens
        + ",\"completion_tokens\":9,\"prompt_tokens_details\":{\"cached_tokens\":"
        + cached
        + "}}}";
  }

  private static int tokens(String text) {
    return TOKENIZER.encode(text, false).length;
  }

  @Test
  void everyStageOfTheWorkIsTimedOnDemand() {
    RouterClient client = router(request -> Script.ok(answer(100, 0)));
    client.stageTimers().start();
    client.explain(chat(false, message("user", QUESTION)));
    client.send(chat(false, message("user", QUESTION)));
    client.stageTimers().stop();
    var times = client.stageTimers().times();
    assertThat(times).hasSize(StageTimers.Stage.values().length);
    for (StageTimers.Stage stage : List.of(StageTimers.Stage.PARSE, StageTimers.Stage.RENDER)) {
      assertThat(times.get(stage).count()).as(stage.label()).isEqualTo(2);
    }
    assertThat(times.get(StageTimers.Stage.TOKENIZE).count()).isEqualTo(2);
    assertThat(times.get(StageTimers.Stage.HASH).count()).isGreaterThanOrEqualTo(2);
    assertThat(times.get(StageTimers.Stage.SELECT).count()).as("what is sent").isOne();
    times.forEach((stage, its) -> assertThat(its.longest()).isLessThanOrEqualTo(its.total()));
  }

  @Test
  void aConversationGoesBackToItsWorkerAndThePredictionCountsItsAnswer() {
    RouterClient client = router(request -> Script.ok(answer(100, 0)));
    RouterResponse first = client.send(chat(false, message("user", QUESTION)));
    RouteDecision.PromptSummary prompt = first.decision().prompt();
    String rendered = "<|im_start|>user\n" + QUESTION + "<|im_end|>\n<|im_start|>assistant\n";
    assertThat(prompt.exactness()).isEqualTo("exact");
    assertThat(prompt.tokens()).isEqualTo(tokens(rendered));
    assertThat(prompt.blocks()).isEqualTo(prompt.tokens() / 16);
    assertThat(prompt.bytes()).isEqualTo(rendered.length());

    RouterRequest second =
        chat(
            false,
            message("user", QUESTION),
            message("assistant", ANSWER),
            message("user", "go on"));
    RouteDecision decision = client.explain(second);
    String chosen = Objects.requireNonNull(first.decision().chosen()).worker();
    assertThat(Objects.requireNonNull(decision.chosen()).worker()).isEqualTo(chosen);
    int withAnswer = tokens(rendered + ANSWER);
    assertThat(decision.chosen().matchedTokens()).isBetween(withAnswer - 32, withAnswer);
    assertThat(decision.chosen().matchedTokens() % 16).isZero();

    RouteDecision again = client.explain(chat(false, message("user", QUESTION)));
    assertThat(Objects.requireNonNull(again.chosen()).matchedTokens())
        .isEqualTo((prompt.tokens() - 1) / 16 * 16);
  }

  @Test
  void streamsTeachTheirAnswersToo() {
    RouterClient client =
        router(
            request ->
                Script.streams(
                    "{\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}",
                    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + ANSWER + "\"}}]}",
                    "{\"choices\":[],\"usage\":{\"prompt_tokens\":7}}"));
    try (RouterStream stream = client.stream(chat(true, message("user", QUESTION)))) {
      assertThat(stream).hasSize(3);
    }
    int before = tokens("<|im_start|>user\n" + QUESTION + "<|im_end|>\n<|im_start|>assistant\n");
    RouteDecision decision =
        client.explain(
            chat(
                false,
                message("user", QUESTION),
                message("assistant", ANSWER),
                message("user", "x")));
    assertThat(Objects.requireNonNull(decision.chosen()).matchedTokens())
        .isGreaterThan(before + 16);
  }

  @Test
  void asynchronousCallsAreReadByTheTokenizingThreads() {
    Map<String, Boolean> threads = new ConcurrentHashMap<>();
    RouterClient client =
        router(
            request -> {
              threads.put(Thread.currentThread().getName(), true);
              return Script.ok(answer(100, 0));
            });
    RouterResponse response = client.sendAsync(chat(false, message("user", QUESTION))).join();
    assertThat(response.decision().prompt().exactness()).isEqualTo("exact");
    assertThat(threads.keySet()).noneMatch(name -> name.startsWith("warmpath-prompt"));
    assertThatThrownBy(() -> client.sendAsync(RouterRequest.chatCompletions("{")).join())
        .isInstanceOf(CompletionException.class)
        .hasCauseInstanceOf(InvalidRequestException.class);
  }

  @Test
  void answersOfAsynchronousCallsAreTokenizedApartAndInTimeForTheNextTurn() {
    Map<String, Boolean> threads = new ConcurrentHashMap<>();
    Tokenizer watched =
        withEncode(
            text -> {
              threads.put(Thread.currentThread().getName(), true);
              return TOKENIZER.encode(text, false);
            });
    RouterClient client =
        router(
            3,
            ModelFiles.of(watched, TEMPLATE, Map.of()),
            request ->
                Script.ok(
                    "{\"choices\":[{\"index\":0,\"message\":"
                        + message("assistant", ANSWER)
                        + "}]}"));
    List<String> messages = new ArrayList<>(List.of(message("user", QUESTION)));
    String held = "";
    String text = rendered(QUESTION);
    for (int turn = 0; turn < 5; turn++) {
      RouteDecision decision =
          client.sendAsync(chat(false, messages.toArray(String[]::new))).join().decision();
      assertThat(Objects.requireNonNull(decision.chosen()).matchedTokens())
          .isBetween(tokens(held) - 32, tokens(held));
      held = text + ANSWER;
      text = held + "<|im_end|>\n" + rendered("go on");
      messages.add(message("assistant", ANSWER));
      messages.add(message("user", "go on"));
    }
    assertThat(threads.keySet()).isNotEmpty().allMatch(name -> name.startsWith("warmpath-prompt"));
    assertThat(client.stats().answers().dropped()).isZero();
  }

  @Test
  void anAnswerThatTakesLongHoldsUpNobodyAndEndsWithTheClient() {
    CountDownLatch never = new CountDownLatch(1);
    Tokenizer hanging =
        withEncode(
            text -> {
              try {
                never.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
              return new int[0];
            });
    RouterClient client =
        router(1, ModelFiles.of(hanging, TEMPLATE, Map.of()), request -> Script.ok(answer(100, 0)));
    RouterResponse response = client.sendAsync(chat(false, message("user", QUESTION))).join();
    assertThat(response.status()).isEqualTo(200);
    AnswerStats waiting = client.stats().answers();
    assertThat(waiting.waiting()).isEqualTo(1);
    assertThat(waiting.bytes()).isBetween(2L * ANSWER.length(), waiting.budgetBytes());
    assertThat(client.explain(chat(false, message("user", "something else"))).prompt().exactness())
        .isEqualTo("exact");
    client.close();
    while (client.stats().answers().waiting() > 0) {
      Thread.onSpinWait();
    }
    assertThat(client.stats().answers().bytes()).isZero();
  }

  private static String rendered(String question) {
    return "<|im_start|>user\n" + question + "<|im_end|>\n<|im_start|>assistant\n";
  }

  /** The tokenizer, but for the way it reads whole texts, as answers are. */
  private static Tokenizer withEncode(Function<String, int[]> encode) {
    return (Tokenizer)
        Proxy.newProxyInstance(
            Tokenizer.class.getClassLoader(),
            new Class<?>[] {Tokenizer.class},
            (proxy, method, arguments) ->
                method.getName().equals("encode")
                    ? encode.apply((String) arguments[0])
                    : method.invoke(TOKENIZER, arguments));
  }

  @Test
  void aWorkerWhoseHitsFailLosesCreditAndSaysWhy() {
    RouterClient client = router(request -> Script.ok(answer(0, 0)));
    RouterRequest request = chat(false, message("user", QUESTION));
    String worker = Objects.requireNonNull(client.send(request).decision().chosen()).worker();
    for (int i = 0; i < 12; i++) {
      client.send(
          RouterRequest.chatCompletions(
              new String(request.body(), java.nio.charset.StandardCharsets.UTF_8)));
    }
    PredictionCheck.Verdict verdict =
        client.predictions().entrySet().stream()
            .filter(entry -> entry.getKey().startsWith(worker))
            .findFirst()
            .orElseThrow()
            .getValue();
    assertThat(verdict.suspect()).isTrue();
    assertThat(verdict.miscounted()).isPositive();
    RouteDecision decision = client.explain(request);
    assertThat(decision.steps())
        .anyMatch(step -> step.contains("suspect") && step.contains(worker));
  }

  @Test
  void creditComesBackWhenPredictionsComeTrueAgain() {
    int tokens = tokens("<|im_start|>user\n" + QUESTION + "<|im_end|>\n<|im_start|>assistant\n");
    AtomicInteger cached = new AtomicInteger();
    RouterClient client = router(1, FILES, request -> Script.ok(answer(tokens, cached.get())));
    RouterRequest request = chat(false, message("user", QUESTION));
    for (int i = 0; i < 12; i++) {
      client.send(request);
    }
    PredictionCheck.Verdict lost = client.predictions().values().iterator().next();
    assertThat(lost.suspect()).isTrue();
    assertThat(lost.compared()).isEqualTo(11);
    assertThat(lost.credit()).isLessThan(0.1);
    RouteDecision.CandidateView chosen = Objects.requireNonNull(client.explain(request).chosen());
    assertThat(chosen.matchedTokens()).isLessThan(tokens / 10);

    cached.set((tokens - 1) / 16 * 16);
    for (int i = 0; i < 8; i++) {
      client.send(request);
    }
    PredictionCheck.Verdict regained = client.predictions().values().iterator().next();
    assertThat(regained.suspect()).isFalse();
    assertThat(regained.credit()).isEqualTo(1);
    assertThat(regained.failed()).isEqualTo(11);
    assertThat(regained.unpredicted()).isZero();
  }

  @Test
  void anAnswerThatCantBeTokenizedFailsNothing() {
    Tokenizer failing =
        withEncode(
            text -> {
              throw new IllegalStateException("no");
            });
    RouterClient client =
        router(
            1,
            ModelFiles.of(failing, "{{ messages[0].content }}", Map.of()),
            request -> Script.ok(answer(100, 0)));
    RouterResponse response = client.send(chat(false, message("user", QUESTION)));
    assertThat(response.status()).isEqualTo(200);
    assertThat(response.decision().prompt().exactness()).isEqualTo("exact");
    assertThat(client.stats().answers().dropped()).isEqualTo(1);
    assertThat(client.stats().answers().waiting()).isZero();
  }

  @Test
  void explainsWhyAPromptIsNotExact() {
    RouterClient client = router(request -> Script.ok(answer(1, 0)));
    RouteDecision decision =
        client.explain(
            RouterRequest.chatCompletions(
                "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":"
                    + "[{\"type\":\"image_url\",\"image_url\":{\"url\":\"x\"}}]}]}"));
    assertThat(decision.prompt().exactness()).isEqualTo("estimated");
    assertThat(decision.prompt().blocks()).isZero();
    assertThat(decision.steps()).anyMatch(step -> step.contains("parts other than text"));
  }

  @Test
  void sizesAreSeenInTheStatistics() {
    RouterClient client = router(request -> Script.ok(answer(1, 0)));
    client.send(chat(false, message("user", QUESTION)));
    RouterClient.ClientStats stats = client.stats();
    assertThat(stats.blocks().blocks()).isPositive();
    assertThat(stats.blocks().bytes()).isBetween(1L, stats.blocks().budgetBytes());
    assertThat(stats.prompts().segmentBytes()).isPositive();
    assertThat(stats.prompts().chainBytes()).isPositive();
  }
}
