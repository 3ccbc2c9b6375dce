package dev.warmpath.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.RouterClient;
import dev.warmpath.api.AllAttemptsFailedException;
import dev.warmpath.api.DeadlineExceededException;
import dev.warmpath.api.FailurePhase;
import dev.warmpath.api.NoWorkerAvailableException;
import dev.warmpath.api.RequestCancelledException;
import dev.warmpath.api.RouterRequest;
import dev.warmpath.api.RouterResponse;
import dev.warmpath.api.RouterStream;
import dev.warmpath.health.WorkerView;
import dev.warmpath.prompt.ModelFiles;
import dev.warmpath.proto.sglang.runtime.OpenAIRequest;
import dev.warmpath.proto.sglang.scheduler.GenerateRequest;
import dev.warmpath.proto.sglang.scheduler.SamplingParams;
import dev.warmpath.worker.EngineKind;
import dev.warmpath.worker.Secret;
import dev.warmpath.worker.Worker;
import dev.warmpath.worker.WorkerSpec;
import io.grpc.Metadata;
import io.grpc.Status;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Routed requests over real sockets to scripted engines of every service. */
class GrpcTransportIT {
  private static final String PROMPT = "<|im_start|>user\nhi<|im_end|><|im_start|>assistant\n";

  /** Its markers are a token each. */
  private static final int PROMPT_TOKENS =
      PROMPT.replace("<|im_start|>", "s").replace("<|im_end|>", "e").length();

  @TempDir private static Path folder;
  private static ModelFiles files;

  @BeforeAll
  static void loadModel() {
    files = TinyModel.files(folder.resolve("tiny"));
  }

  /** The services whose answers are put together here. */
  enum Kind {
    SGLANG_SCHEDULER {
      @Override
      String serve(Fixture fixture) throws Exception {
        return fixture.serve(fixture.engines.sglangScheduler());
      }
    },
    VLLM_ENGINE {
      @Override
      String serve(Fixture fixture) throws Exception {
        return fixture.serve(fixture.engines.vllmEngine());
      }
    },
    VLLM_FRONT_END {
      @Override
      String serve(Fixture fixture) throws Exception {
        return fixture.serve(fixture.engines.vllmInference(), fixture.engines.vllmControl());
      }
    };

    abstract String serve(Fixture fixture) throws Exception;

    /** Tokens of the answer: the front end's script counts no end of turn. */
    int answerTokens(String answer) {
      int bytes = answer.getBytes(StandardCharsets.UTF_8).length;
      return this == VLLM_FRONT_END ? bytes : bytes + 1;
    }

    boolean tellsCachedTokens() {
      return this != VLLM_FRONT_END;
    }
  }

  @ParameterizedTest
  @EnumSource
  void answersWholeAsOverHttp(Kind kind) throws Exception {
    try (Fixture fixture = new Fixture()) {
      RouterClient router = fixture.route(files, kind.serve(fixture));

      RouterResponse response = router.send(Fixture.chat(""));

      assertThat(response.status()).isEqualTo(200);
      JsonNode json = Fixture.json(response.body());
      assertThat(json.path("object").asText()).isEqualTo("chat.completion");
      assertThat(json.path("id").asText()).startsWith("chatcmpl-");
      assertThat(json.path("created").asLong()).isEqualTo(1_234);
      assertThat(json.path("model").asText()).isEqualTo("tiny");
      JsonNode choice = json.path("choices").path(0);
      assertThat(choice.path("message").path("role").asText()).isEqualTo("assistant");
      assertThat(choice.path("message").path("content").asText()).isEqualTo("Hello, wörld!");
      assertThat(choice.path("finish_reason").asText()).isEqualTo("stop");
      assertThat(response.usage().promptTokens()).isEqualTo(PROMPT_TOKENS);
      assertThat(response.usage().completionTokens()).isEqualTo(kind.answerTokens("Hello, wörld!"));
      assertThat(response.usage().cachedTokens())
          .isEqualTo(kind.tellsCachedTokens() ? Integer.valueOf(2) : null);
    }
  }

  @ParameterizedTest
  @EnumSource
  void streamsAsOverHttp(Kind kind) throws Exception {
    try (Fixture fixture = new Fixture()) {
      RouterClient router = fixture.route(files, kind.serve(fixture));

      try (RouterStream stream =
          router.stream(
              Fixture.chat(",\"stream\":true,\"stream_options\":{\"include_usage\":true}"))) {
        List<JsonNode> events = Fixture.events(stream);
        assertThat(Fixture.text(events)).isEqualTo("Hello, wörld!");
        JsonNode first = events.get(0).path("choices").path(0);
        assertThat(events.get(0).path("object").asText()).isEqualTo("chat.completion.chunk");
        assertThat(first.path("delta").path("role").asText()).isEqualTo("assistant");
        assertThat(first.path("finish_reason").isNull()).isTrue();
        JsonNode end = events.get(events.size() - 2).path("choices").path(0);
        assertThat(end.path("finish_reason").asText()).isEqualTo("stop");
        JsonNode last = events.get(events.size() - 1);
        assertThat(last.path("choices")).isEmpty();
        assertThat(last.path("usage").path("completion_tokens").asInt())
            .isEqualTo(kind.answerTokens("Hello, wörld!"));
        assertThat(stream.usage().promptTokens()).isEqualTo(PROMPT_TOKENS);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void cutsAtStopStrings(Kind kind) throws Exception {
    try (Fixture fixture = new Fixture()) {
      fixture.engines.answer = "one, two STOP three";
      RouterClient router = fixture.route(files, kind.serve(fixture));

      try (RouterStream stream =
          router.stream(Fixture.chat(",\"stream\":true,\"stop\":[\" STOP\"]"))) {
        List<JsonNode> events = Fixture.events(stream);
        assertThat(Fixture.text(events)).isEqualTo("one, two");
        JsonNode end = events.get(events.size() - 1).path("choices").path(0);
        assertThat(end.path("finish_reason").asText()).isEqualTo("stop");
      }
      RouterResponse whole = router.send(Fixture.chat(",\"stop\":[\" STOP\"]"));
      assertThat(
              Fixture.json(whole.body())
                  .path("choices")
                  .path(0)
                  .path("message")
                  .path("content")
                  .asText())
          .isEqualTo("one, two");
    }
  }

  @ParameterizedTest
  @EnumSource
  void serverErrorsAreTriedElsewhere(Kind kind) throws Exception {
    try (Fixture fixture = new Fixture();
        Fixture broken = new Fixture()) {
      broken.engines.failure = Status.UNAVAILABLE.withDescription("loading");
      String bad = kind.serve(broken);
      String good = kind.serve(fixture);
      RouterClient router = fixture.route(files, bad, good);

      // As many as there are ranks, so that the turn comes to the broken worker, too.
      for (int i = 0; i < 4; i++) {
        assertThat(router.send(Fixture.chat("")).status()).isEqualTo(200);
      }
      assertThat(broken.engines.requests).isNotEmpty();
    }
  }

  @ParameterizedTest
  @EnumSource
  void closingAStreamReachesTheEngine(Kind kind) throws Exception {
    try (Fixture fixture = new Fixture()) {
      fixture.engines.hang = true;
      RouterClient router = fixture.route(files, kind.serve(fixture));

      CompletableFuture<RouterStream> future = router.streamAsync(Fixture.chat(",\"stream\":true"));
      assertThat(fixture.engines.requests.poll(30, TimeUnit.SECONDS)).isNotNull();
      assertThat(future.cancel(true)).isTrue();

      assertThat(fixture.engines.cancelled.await(30, TimeUnit.SECONDS)).isTrue();
      if (kind == Kind.VLLM_FRONT_END) {
        assertThat(fixture.engines.aborted.poll(30, TimeUnit.SECONDS)).hasSize(32);
      }
    }
  }

  @Test
  void refusalsOfTheServerAreResponses() throws Exception {
    try (Fixture fixture = new Fixture()) {
      fixture.engines.failure = Status.INVALID_ARGUMENT.withDescription("prompt too long");
      RouterClient router = fixture.route(files, fixture.serve(fixture.engines.sglangScheduler()));

      RouterResponse response = router.send(Fixture.chat(""));

      assertThat(response.status()).isEqualTo(400);
      assertThat(Fixture.json(response.body()).path("error").path("message").asText())
          .isEqualTo("prompt too long");
    }
  }

  @Test
  void everyParameterIsSaidToSglang() throws Exception {
    try (Fixture fixture = new Fixture()) {
      RouterClient router = fixture.route(files, fixture.serve(fixture.engines.sglangScheduler()));

      RouterResponse unused = router.send(Fixture.chat(",\"top_k\":0,\"logit_bias\":{\"9\":-1}"));

      GenerateRequest sent = (GenerateRequest) fixture.engines.requests.remove();
      assertThat(sent.getTokenized().getInputIdsList()).hasSize(PROMPT_TOKENS).startsWith(256);
      assertThat(sent.getRequestId()).hasSize(32);
      assertThat(sent.getLogprobStartLen()).isEqualTo(-1);
      assertThat(sent.getStream()).isFalse();
      assertThat(sent.getSamplingParams())
          .isEqualTo(
              SamplingParams.newBuilder()
                  .setTemperature(1)
                  .setTopP(0.75f) // the model's own, as GetModelInfo tells it
                  .setTopK(-1)
                  .setRepetitionPenalty(1)
                  .setSkipSpecialTokens(true)
                  .setSpacesBetweenSpecialTokens(true)
                  .setN(1)
                  .setMaxNewTokens(4_096 - PROMPT_TOKENS)
                  .putLogitBias("9", -1)
                  .build());
    }
  }

  @Test
  void everyParameterIsSaidToVllm() throws Exception {
    try (Fixture fixture = new Fixture()) {
      String engine = fixture.serve(fixture.engines.vllmEngine());
      RouterClient router = fixture.route(files, engine);
      RouterResponse unused =
          router.send(
              RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS)
                  .body(Fixture.body(",\"seed\":5,\"kv_transfer_params\":{\"do_remote\":true}"))
                  .pin(engine + "#1")
                  .build());

      var sent = (dev.warmpath.proto.vllm.engine.GenerateRequest) fixture.engines.requests.remove();
      assertThat(sent.hasDataParallelRank()).isTrue();
      assertThat(sent.getKvTransferParamsJson()).isEqualTo("{\"do_remote\":true}");
      assertThat(Fixture.json(unused.body()).path("kv_transfer_params").path("remote_block_ids"))
          .hasSize(2);
      assertThat(sent.getSamplingParams())
          .isEqualTo(
              dev.warmpath.proto.vllm.engine.SamplingParams.newBuilder()
                  .setTemperature(1)
                  .setTopP(1)
                  .setRepetitionPenalty(1)
                  .setSkipSpecialTokens(true)
                  .setSpacesBetweenSpecialTokens(true)
                  .setN(1)
                  .setSeed(5)
                  .setMaxTokens(4_096 - PROMPT_TOKENS)
                  .build());
    }
  }

  @Test
  void theFrontEndIsNeverLeftToItsTwentyTokens() throws Exception {
    try (Fixture fixture = new Fixture()) {
      RouterClient router =
          fixture.route(
              files, fixture.serve(fixture.engines.vllmInference(), fixture.engines.vllmControl()));

      RouterResponse unused = router.send(Fixture.chat(""));

      var sent =
          (dev.warmpath.proto.vllm.inference.GenerateRequest) fixture.engines.requests.remove();
      assertThat(sent.getStopping().getMaxNewTokens()).isEqualTo(4_096 - PROMPT_TOKENS);
      assertThat(sent.getTemperature()).isEqualTo(1);
      assertThat(sent.getSampling().getTopP()).isEqualTo(1);
      assertThat(sent.getDecoding().getRepetitionPenalty()).isEqualTo(1);
      assertThat(sent.getResponse().getOutputText()).isTrue();
      assertThat(sent.getTokenIds().getIdsCount()).isEqualTo(PROMPT_TOKENS);
    }
  }

  @Test
  void severalAnswersKeepTheirIndexes() throws Exception {
    try (Fixture fixture = new Fixture()) {
      RouterClient router = fixture.route(files, fixture.serve(fixture.engines.sglangScheduler()));

      JsonNode whole = Fixture.json(router.send(Fixture.chat(",\"n\":2")).body());
      assertThat(whole.path("choices")).hasSize(2);
      assertThat(whole.path("choices").path(1).path("index").asInt()).isEqualTo(1);
      try (RouterStream stream = router.stream(Fixture.chat(",\"n\":2,\"stream\":true"))) {
        assertThat(Fixture.text(Fixture.events(stream))).isEqualTo("Hello, wörld!".repeat(2));
      }
    }
  }

  @Test
  void logProbabilitiesAreOpenAis() throws Exception {
    try (Fixture fixture = new Fixture()) {
      fixture.engines.answer = "ok";
      fixture.engines.finish = "length";
      RouterClient router = fixture.route(files, fixture.serve(fixture.engines.sglangScheduler()));

      JsonNode chat =
          Fixture.json(router.send(Fixture.chat(",\"logprobs\":true,\"top_logprobs\":2")).body());
      JsonNode content = chat.path("choices").path(0).path("logprobs").path("content");
      assertThat(content).hasSize(2);
      assertThat(content.path(0).path("token").asText()).isEqualTo("o");
      assertThat(content.path(0).path("logprob").asDouble()).isEqualTo(-0.5);
      assertThat(content.path(0).path("bytes").path(0).asInt()).isEqualTo('o');
      assertThat(content.path(0).path("top_logprobs")).hasSize(2);

      JsonNode text =
          Fixture.json(
              router
                  .send(
                      RouterRequest.completions(
                          "{\"model\":\"tiny\",\"prompt\":\"hi\",\"logprobs\":1}"))
                  .body());
      JsonNode lists = text.path("choices").path(0).path("logprobs");
      assertThat(text.path("object").asText()).isEqualTo("text_completion");
      assertThat(text.path("choices").path(0).path("text").asText()).isEqualTo("ok");
      assertThat(lists.path("tokens").path(1).asText()).isEqualTo("k");
      assertThat(lists.path("text_offset").path(1).asInt()).isEqualTo(1);
      assertThat(lists.path("top_logprobs").path(0).path("a").asDouble()).isEqualTo(-0.5);
      GenerateRequest sent = (GenerateRequest) fixture.engines.requests.toArray()[1];
      assertThat(sent.getSamplingParams().getMaxNewTokens()).isEqualTo(16);
    }
  }

  @Test
  void theNativeRuntimeGetsTheBodyAsItIs() throws Exception {
    try (Fixture fixture = new Fixture()) {
      String worker = fixture.serve(fixture.engines.sglangRuntime());
      // No model files: the engine has its own tokenizer.
      RouterClient router = fixture.route(builder -> {}, worker);

      JsonNode whole = Fixture.json(router.send(Fixture.chat(",\"logits_processors\":[]")).body());
      assertThat(whole.path("choices").path(0).path("message").path("content").asText())
          .isEqualTo("a");
      String sent =
          ((OpenAIRequest) fixture.engines.requests.remove()).getJsonBody().toStringUtf8();
      assertThat(sent).contains("\"logits_processors\":[]").contains("\"routed_dp_rank\":");

      try (RouterStream stream = router.stream(Fixture.chat(",\"stream\":true"))) {
        assertThat(Fixture.events(stream)).hasSize(2);
        assertThat(stream.usage().promptTokens()).isEqualTo(3);
      }
      assertThat(
              router
                  .send(RouterRequest.embeddings("{\"model\":\"tiny\",\"input\":\"x\"}"))
                  .status())
          .isEqualTo(200);
    }
  }

  @Test
  void whatCannotBeCarriedIsRefusedBeforeAWorkerIsChosen() throws Exception {
    try (Fixture fixture = new Fixture()) {
      String scheduler = fixture.serve(fixture.engines.sglangScheduler());
      RouterClient router = fixture.route(files, scheduler);

      assertThatThrownBy(() -> router.send(Fixture.chat(",\"logits_processors\":[]")))
          .isInstanceOfSatisfying(
              NoWorkerAvailableException.class,
              e -> assertThat(e.reasons()).containsOnlyKeys(scheduler))
          .hasMessageContaining("'logits_processors' can't be carried over gRPC");
      assertThatThrownBy(
              () ->
                  router.send(
                      RouterRequest.chatCompletions(
                          "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":["
                              + "{\"type\":\"image_url\",\"image_url\":{\"url\":\"x\"}}]}]}")))
          .isInstanceOf(NoWorkerAvailableException.class)
          .hasMessageContaining("parts other than text")
          .hasMessageContaining("an HTTP worker takes text");
      assertThatThrownBy(() -> router.explain(Fixture.chat(",\"seed\":1")))
          .isInstanceOf(NoWorkerAvailableException.class)
          .hasMessageContaining("seed");
      assertThat(fixture.engines.requests).isEmpty();
    }
  }

  @Test
  void withoutTheModelsFilesTheErrorSaysWhatToDo() throws Exception {
    try (Fixture fixture = new Fixture()) {
      RouterClient router =
          fixture.route(builder -> {}, fixture.serve(fixture.engines.vllmEngine()));

      assertThatThrownBy(() -> router.send(Fixture.chat("")))
          .isInstanceOf(NoWorkerAvailableException.class)
          .hasMessageContaining("give the client the files of model 'tiny'");
    }
  }

  @Test
  void requestsGoToWhoCanCarryThem() throws Exception {
    try (Fixture fixture = new Fixture()) {
      String scheduler = fixture.serve(fixture.engines.sglangScheduler());
      String runtime = fixture.serve(fixture.engines.sglangRuntime());
      RouterClient router = fixture.route(files, scheduler, runtime);

      for (int i = 0; i < 4; i++) {
        RouterResponse response = router.send(Fixture.chat(",\"logits_processors\":[]"));
        assertThat(response.decision().chosen().worker()).isEqualTo(runtime);
      }
      assertThat(router.explain(Fixture.chat(",\"logits_processors\":[]")).steps())
          .anyMatch(step -> step.startsWith(scheduler + " is left out: "));
    }
  }

  @Test
  void findsOutWhatAWorkerIs() throws Exception {
    try (Fixture fixture = new Fixture()) {
      RouterClient router = fixture.route(files, fixture.serve(fixture.engines.sglangScheduler()));
      Worker worker = router.workers().list().get(0).worker();
      assertThat(worker.engine()).isEqualTo(EngineKind.SGLANG);
      assertThat(worker.capabilities().version()).isEqualTo("0.5.19");
      assertThat(worker.blockSize()).isEqualTo(16);
      assertThat(worker.kvCapacityTokens()).isEqualTo(99_999);
      assertThat(worker.ranks()).as("requests can't name a rank").hasSize(1);
      assertThat(worker.models().get(0).id()).isEqualTo("tiny");
      assertThat(worker.models().get(0).maxModelLen()).isEqualTo(4_096);
      assertThat(router.predictions()).isNotEmpty();
    }
  }

  @Test
  void readsLoadOfTheWholeWorker() throws Exception {
    try (Fixture fixture = new Fixture()) {
      RouterClient router = fixture.route(files, fixture.serve(fixture.engines.sglangScheduler()));
      await()
          .atMost(Duration.ofMinutes(1))
          .pollInterval(Duration.ofMillis(10))
          .until(() -> router.workers().list().get(0).ranks().get(0).load() != null);
      WorkerView.RankView rank = router.workers().list().get(0).ranks().get(0);
      assertThat(rank.loadSource()).isEqualTo("GetLoads");
      assertThat(rank.load().runningRequests()).isEqualTo(6);
      assertThat(rank.load().waitingRequests()).isEqualTo(2);
      assertThat(rank.load().tokenUsage())
          .isCloseTo(0.2, org.assertj.core.data.Offset.offset(1e-9));
    }
  }

  @Test
  void vllmsZerosAreUnknownUntilItHasCounted() throws Exception {
    try (Fixture fixture = new Fixture()) {
      RouterClient router = fixture.route(files, fixture.serve(fixture.engines.vllmEngine()));
      Worker worker = router.workers().list().get(0).worker();
      Duration timeout = Duration.ofSeconds(30);
      assertThat(fixture.transport.load(worker, timeout).ranks()).isEmpty();
      fixture.engines.running = true;
      assertThat(fixture.transport.load(worker, timeout).ranks()).hasSize(1);
      fixture.engines.running = false;
      assertThat(fixture.transport.load(worker, timeout).ranks().get(0).runningRequests()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sglang-scheduler", "vllm-engine", "vllm"})
  void aRestartShows(String service) throws Exception {
    try (Fixture fixture = new Fixture()) {
      String worker =
          switch (service) {
            case "sglang-scheduler" -> fixture.serve(fixture.engines.sglangScheduler());
            case "vllm-engine" -> fixture.serve(fixture.engines.vllmEngine());
            default ->
                fixture.serve(fixture.engines.vllmInference(), fixture.engines.vllmControl());
          };
      RouterClient router = fixture.route(files, worker + ";grpc=" + service);
      Worker at = router.workers().list().get(0).worker();
      String before = fixture.transport.probe(at, Duration.ofSeconds(30)).incarnation();
      fixture.engines.startTime = 2;
      assertThat(fixture.transport.probe(at, Duration.ofSeconds(30)).incarnation())
          .isNotNull()
          .isNotEqualTo(before);
    }
  }

  @Test
  void aWorkerThatIsNotThereFailsToConnect() throws Exception {
    String gone;
    try (Fixture before = new Fixture()) {
      gone = before.serve(before.engines.vllmEngine());
    }
    try (Fixture fixture = new Fixture()) {
      RouterClient router =
          fixture.route(
              builder ->
                  builder
                      .model("tiny", files)
                      .worker(spec(gone).engine(EngineKind.VLLM).models(List.of("tiny")).build()));
      assertThatThrownBy(() -> router.send(Fixture.chat("")))
          .isInstanceOfSatisfying(
              AllAttemptsFailedException.class,
              e ->
                  assertThat(e.attempts())
                      .isNotEmpty()
                      .allMatch(attempt -> attempt.phase() == FailurePhase.CONNECT));
    }
  }

  private static WorkerSpec.Builder spec(String address) {
    return WorkerSpec.builder(address);
  }

  @ParameterizedTest
  @EnumSource
  void interruptingASenderReachesTheEngine(Kind kind) throws Exception {
    try (Fixture fixture = new Fixture()) {
      fixture.engines.hang = true;
      RouterClient router = fixture.route(files, kind.serve(fixture));
      CompletableFuture<Throwable> ended = new CompletableFuture<>();
      Thread sender =
          new Thread(() -> ended.complete(catchThrowable(() -> router.send(Fixture.chat("")))));
      sender.start();
      assertThat(fixture.engines.requests.poll(30, TimeUnit.SECONDS)).isNotNull();
      sender.interrupt();

      assertThat(ended.get(30, TimeUnit.SECONDS)).isInstanceOf(RequestCancelledException.class);
      assertThat(fixture.engines.cancelled.await(30, TimeUnit.SECONDS)).isTrue();
      if (kind == Kind.VLLM_FRONT_END) {
        assertThat(fixture.engines.aborted.poll(30, TimeUnit.SECONDS)).hasSize(32);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void theDeadlineIsTheRequestsOwn(Kind kind) throws Exception {
    try (Fixture fixture = new Fixture()) {
      fixture.engines.hang = true;
      RouterClient router = fixture.route(files, kind.serve(fixture));
      RouterRequest request =
          RouterRequest.builder(RouterRequest.CHAT_COMPLETIONS)
              .body(Fixture.body(""))
              .deadline(Duration.ofMillis(200))
              .build();
      assertThatThrownBy(() -> router.send(request)).isInstanceOf(DeadlineExceededException.class);
      assertThat(fixture.engines.cancelled.await(30, TimeUnit.SECONDS)).isTrue();
      if (kind == Kind.VLLM_FRONT_END) {
        assertThat(fixture.engines.aborted.poll(30, TimeUnit.SECONDS)).hasSize(32);
      }
    }
  }

  @Test
  void keysAndHeadersTravelAsMetadata() throws Exception {
    try (Fixture fixture = new Fixture()) {
      String worker = fixture.serve(fixture.engines.sglangScheduler());
      RouterClient router =
          fixture.route(
              builder ->
                  builder.model("tiny", files).worker(spec(worker).apiKey(Secret.of("k")).build()));
      fixture.engines.metadata.clear();
      RouterResponse unused =
          router.send(
              Fixture.chat("").toBuilder()
                  .header("traceparent", "00-1-2-3")
                  .header("Content-Length", "1")
                  .header("x-warmpath-user", "u")
                  .build());
      Map<String, String> seen = new java.util.HashMap<>();
      for (Metadata metadata : fixture.engines.metadata) {
        for (String name : metadata.keys()) {
          if (!name.endsWith("-bin")) {
            seen.put(name, metadata.get(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER)));
          }
        }
      }
      assertThat(seen)
          .containsEntry("authorization", "Bearer k")
          .containsEntry("traceparent", "00-1-2-3")
          .doesNotContainKeys("content-length", "x-warmpath-user");
    }
  }

  @Test
  void abortsByTheRouter() throws Exception {
    try (Fixture fixture = new Fixture()) {
      RouterClient router = fixture.route(files, fixture.serve(fixture.engines.sglangScheduler()));
      Worker worker = router.workers().list().get(0).worker();
      router.abort(worker.ranks().get(0), "some-id").get(30, TimeUnit.SECONDS);
      assertThat(fixture.engines.aborted).containsExactly("some-id");
    }
  }
}
