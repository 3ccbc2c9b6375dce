package dev.warmpath.fake;

import static dev.warmpath.fake.Client.CHAT;
import static dev.warmpath.fake.Client.COMPLETIONS;
import static dev.warmpath.fake.Client.chat;
import static dev.warmpath.fake.Client.completion;
import static dev.warmpath.fake.Client.json;
import static dev.warmpath.fake.Client.quote;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.text.FakeTokenizer;
import dev.warmpath.fake.wire.CacheReport;
import dev.warmpath.worker.EngineKind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class InferenceIT {
  private static final String LONG = "The quick brown fox jumps over the lazy dog. ".repeat(40);

  private static FakeEngineBuilder engine(EngineKind kind) {
    return FakeEngine.builder().kind(kind).model("m").timing(LatencyModel.instant());
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = "UNKNOWN", mode = EnumSource.Mode.EXCLUDE)
  void chatAnswersWithExactlyTheTokensAskedFor(EngineKind kind) throws Exception {
    try (FakeEngine engine = engine(kind).start()) {
      JsonNode reply = new Client(engine).post(CHAT, chat("hi", ",\"max_tokens\":5")).json();

      assertThat(reply.path("object").asText()).isEqualTo("chat.completion");
      assertThat(reply.path("model").asText()).isEqualTo("m");
      JsonNode choice = reply.path("choices").path(0);
      String text = choice.path("message").path("content").asText();
      assertThat(FakeTokenizer.encode(text)).hasSize(5);
      assertThat(choice.path("message").path("role").asText()).isEqualTo("assistant");
      assertThat(choice.path("finish_reason").asText()).isEqualTo("length");
      JsonNode usage = reply.path("usage");
      assertThat(usage.path("prompt_tokens").asInt()).isEqualTo(4);
      assertThat(usage.path("completion_tokens").asInt()).isEqualTo(5);
      assertThat(usage.path("total_tokens").asInt()).isEqualTo(9);
      assertThat(engine.stats().served()).isEqualTo(1);
    }
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = "UNKNOWN", mode = EnumSource.Mode.EXCLUDE)
  void secondTurnFindsTheFirstOneInTheCache(EngineKind kind) throws Exception {
    try (FakeEngine engine = engine(kind).blockSize(16).start()) {
      Client client = new Client(engine);
      JsonNode first = client.post(CHAT, chat(LONG, ",\"max_tokens\":40")).json();
      assertThat(cached(first)).isZero();
      String answer = first.path("choices").path(0).path("message").path("content").asText();
      String second =
          "{\"model\":\"m\",\"max_tokens\":4,\"messages\":[{\"role\":\"user\",\"content\":"
              + quote(LONG)
              + "},{\"role\":\"assistant\",\"content\":"
              + quote(answer)
              + "},{\"role\":\"user\",\"content\":\"go on\"}]}";

      JsonNode reply = client.post(CHAT, second).json();

      int known = first.path("usage").path("total_tokens").asInt() - 1;
      assertThat(cached(reply)).isEqualTo(known / 16 * 16);
      assertThat(engine.stats().cachedTokens()).isEqualTo(known / 16 * 16L);
    }
  }

  private static int cached(JsonNode reply) {
    return reply.path("usage").path("prompt_tokens_details").path("cached_tokens").asInt(-1);
  }

  @Test
  void cacheReportCanBeSwitched() throws Exception {
    for (EngineKind kind : List.of(EngineKind.SGLANG, EngineKind.VLLM)) {
      try (FakeEngine off = engine(kind).cacheReport(CacheReport.OFF).start();
          FakeEngine some = engine(kind).blockSize(16).cacheReport(CacheReport.NON_ZERO).start()) {
        JsonNode usage = new Client(off).post(CHAT, chat(LONG, "")).json().path("usage");
        assertThat(usage.path("prompt_tokens_details").isNull()).isTrue();
        Client client = new Client(some);
        usage = client.post(CHAT, chat(LONG, "")).json().path("usage");
        assertThat(usage.path("prompt_tokens_details").isNull()).isTrue();
        assertThat(cached(client.post(CHAT, chat(LONG, "")).json())).isPositive();
      }
    }
  }

  @Test
  void sameRequestHasTheSameAnswerEverywhere() throws Exception {
    try (FakeEngine one = engine(EngineKind.SGLANG).seed(1).start();
        FakeEngine other = engine(EngineKind.VLLM).seed(2).blockSize(16).start()) {
      String body = chat("tell me", ",\"max_tokens\":12");
      String text = text(new Client(one).post(CHAT, body).json());
      assertThat(text(new Client(other).post(CHAT, body).json())).isEqualTo(text);
      assertThat(text(new Client(one).post(CHAT, chat("tell us", ",\"max_tokens\":12")).json()))
          .isNotEqualTo(text);
      String streamed = "";
      for (String event :
          new Client(one).events(CHAT, chat("tell me", ",\"max_tokens\":12,\"stream\":true"))) {
        if (!event.equals("[DONE]")) {
          streamed += json(event).path("choices").path(0).path("delta").path("content").asText("");
        }
      }
      assertThat(streamed).isEqualTo(text);
    }
  }

  private static String text(JsonNode reply) {
    return reply.path("choices").path(0).path("message").path("content").asText();
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM"})
  void chatStreamHasRoleDeltasFinishAndUsageOnRequest(EngineKind kind) throws Exception {
    try (FakeEngine engine = engine(kind).start()) {
      Client client = new Client(engine);
      List<String> plain = client.events(CHAT, chat("hi", ",\"max_tokens\":3,\"stream\":true"));
      List<String> withUsage =
          client.events(
              CHAT,
              chat(
                  "hi",
                  ",\"max_tokens\":3,\"stream\":true,\"stream_options\":{\"include_usage\":true}"));

      assertThat(plain).hasSize(kind == EngineKind.SGLANG ? 6 : 5).last().isEqualTo("[DONE]");
      JsonNode role = json(plain.get(0)).path("choices").path(0);
      assertThat(role.path("delta").path("role").asText()).isEqualTo("assistant");
      assertThat(role.path("delta").path("content").asText("?")).isEmpty();
      assertThat(plain.stream().limit(plain.size() - 2).map(Client::json))
          .allMatch(chunk -> chunk.path("choices").path(0).path("finish_reason").isNull());
      JsonNode finish = json(plain.get(plain.size() - 2)).path("choices").path(0);
      assertThat(finish.path("finish_reason").asText()).isEqualTo("length");
      assertThat(withUsage).hasSize(plain.size() + 1);
      JsonNode usage = json(withUsage.get(withUsage.size() - 2));
      assertThat(usage.path("choices")).isEmpty();
      assertThat(usage.path("usage").path("completion_tokens").asInt()).isEqualTo(3);
      assertThat(cached(usage)).isZero();
    }
  }

  @Test
  void atomAlwaysStreamsUsageAndFinishesCompletionsTwice() throws Exception {
    try (FakeEngine engine = engine(EngineKind.ATOM).start()) {
      Client client = new Client(engine);
      List<String> chat = client.events(CHAT, chat("hi", ",\"max_tokens\":2,\"stream\":true"));
      assertThat(
              json(chat.get(chat.size() - 3))
                  .path("choices")
                  .path(0)
                  .path("finish_reason")
                  .asText())
          .isEqualTo("stop");
      assertThat(cached(json(chat.get(chat.size() - 2)))).isZero();

      List<String> completion =
          client.events(COMPLETIONS, completion("hi", ",\"max_tokens\":2,\"stream\":true"));
      assertThat(
              completion.stream()
                  .limit(3)
                  .map(event -> json(event).path("choices").path(0).path("finish_reason").asText()))
          .containsExactly("null", "length", "stop");
      JsonNode usage = json(completion.get(3));
      assertThat(usage.path("choices")).isEmpty();
      assertThat(usage.path("usage").has("prompt_tokens_details")).isFalse();
      assertThat(completion).last().isEqualTo("[DONE]");

      JsonNode plain = client.post(CHAT, chat("hi", ",\"max_tokens\":2")).json();
      assertThat(plain.path("usage").has("ttft_s")).isTrue();
      assertThat(plain.path("choices").path(0).path("finish_reason").asText()).isEqualTo("length");
    }
  }

  @Test
  void completionsTakeTextListsAndTokenIds() throws Exception {
    try (FakeEngine engine = engine(EngineKind.VLLM).start()) {
      Client client = new Client(engine);
      JsonNode one = client.post(COMPLETIONS, completion("abcdefgh", "")).json();
      assertThat(one.path("usage").path("completion_tokens").asInt()).isEqualTo(16);
      int[] ids = FakeTokenizer.encode("abcdefgh");
      String tokens = "{\"model\":\"m\",\"prompt\":[" + ids[0] + "," + ids[1] + "]}";
      JsonNode same = client.post(COMPLETIONS, tokens).json();
      assertThat(same.path("choices")).isEqualTo(one.path("choices"));

      JsonNode batch =
          client
              .post(
                  COMPLETIONS,
                  "{\"model\":\"m\",\"prompt\":[\"abcdefgh\",\"other\"],\"n\":2,\"max_tokens\":3}")
              .json();
      assertThat(batch.path("choices")).hasSize(4);
      assertThat(batch.path("choices").findValuesAsText("index"))
          .containsExactly("0", "1", "2", "3");
      assertThat(batch.path("usage").path("prompt_tokens").asInt()).isEqualTo(4);
      assertThat(batch.path("usage").path("completion_tokens").asInt()).isEqualTo(12);
      List<String> texts = batch.path("choices").findValuesAsText("text");
      assertThat(texts).doesNotHaveDuplicates();
      assertThat(one.path("choices").path(0).path("text").asText()).startsWith(texts.get(0));
    }
  }

  @Test
  void answersWithoutALimitStopByThemselvesAndStopTextsAreHonoured() throws Exception {
    try (FakeEngine engine = engine(EngineKind.SGLANG).defaultOutputTokens(9).start()) {
      Client client = new Client(engine);
      JsonNode natural = client.post(CHAT, chat("hi", "")).json();
      assertThat(natural.path("usage").path("completion_tokens").asInt()).isEqualTo(9);
      assertThat(natural.path("choices").path(0).path("finish_reason").asText()).isEqualTo("stop");
      String third = text(natural).substring(8, 11);

      JsonNode stopped =
          client.post(CHAT, chat("hi", ",\"max_tokens\":9,\"stop\":" + quote(third))).json();

      assertThat(text(stopped)).isEqualTo(text(natural).substring(0, 8));
      assertThat(stopped.path("choices").path(0).path("finish_reason").asText()).isEqualTo("stop");
      assertThat(stopped.path("usage").path("completion_tokens").asInt()).isEqualTo(3);
    }
  }

  @Test
  void nativeGenerateIsCumulative() throws Exception {
    try (FakeEngine engine = engine(EngineKind.SGLANG).start()) {
      Client client = new Client(engine);
      String body =
          "{\"text\":\"hello\",\"rid\":\"r1\",\"sampling_params\":{\"max_new_tokens\":3}%s}";
      JsonNode reply = client.post("/generate", String.format(body, "")).json();
      assertThat(reply.path("meta_info").path("id").asText()).isEqualTo("r1");
      assertThat(reply.path("meta_info").path("prompt_tokens").asInt()).isEqualTo(2);
      assertThat(reply.path("meta_info").path("cached_tokens").asInt()).isZero();
      assertThat(reply.path("meta_info").path("finish_reason").path("type").asText())
          .isEqualTo("length");
      assertThat(reply.path("output_ids")).hasSize(3);

      List<String> events = client.events("/generate", String.format(body, ",\"stream\":true"));

      assertThat(events).hasSize(4).last().isEqualTo("[DONE]");
      assertThat(json(events.get(2)).path("text")).isEqualTo(reply.path("text"));
      assertThat(json(events.get(0)).path("text").asText()).hasSize(4);
      JsonNode list =
          client
              .post(
                  "/generate",
                  "{\"input_ids\":[[1,2],[3]],\"sampling_params\":{\"max_new_tokens\":1}}")
              .json();
      assertThat(list).hasSize(2);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM"})
  void embeddingsAreUnitVectorsInBothEncodings(EngineKind kind) throws Exception {
    try (FakeEngine engine = engine(kind).embeddingDimensions(8).start()) {
      Client client = new Client(engine);
      JsonNode reply =
          client
              .post("/v1/embeddings", "{\"model\":\"m\",\"input\":[\"alpha beta\",\"gamma\"]}")
              .json();
      assertThat(reply.path("data")).hasSize(2);
      JsonNode vector = reply.path("data").path(0).path("embedding");
      double norm = 0;
      for (JsonNode value : vector) {
        norm += value.asDouble() * value.asDouble();
      }
      assertThat(vector).hasSize(8);
      assertThat(norm).isBetween(0.999, 1.001);
      assertThat(reply.path("usage").path("prompt_tokens").asInt()).isEqualTo(5);

      JsonNode encoded =
          client
              .post(
                  "/v1/embeddings",
                  "{\"model\":\"m\",\"input\":\"alpha beta\",\"encoding_format\":\"base64\"}")
              .json();
      ByteBuffer bytes =
          ByteBuffer.wrap(
                  Base64.getDecoder()
                      .decode(encoded.path("data").path(0).path("embedding").asText()))
              .order(ByteOrder.LITTLE_ENDIAN);
      assertThat(bytes.getFloat()).isEqualTo((float) vector.path(0).asDouble());
      JsonNode longer =
          client
              .post("/v1/embeddings", "{\"model\":\"m\",\"input\":\"a\",\"dimensions\":3}")
              .json();
      assertThat(longer.path("data").path(0).path("embedding")).hasSize(3);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM"})
  void responsesWorkPlainAndStreamed(EngineKind kind) throws Exception {
    try (FakeEngine engine = engine(kind).start()) {
      Client client = new Client(engine);
      String body = "{\"model\":\"m\",\"input\":\"hello\",\"max_output_tokens\":4%s}";
      JsonNode reply = client.post("/v1/responses", String.format(body, "")).json();
      assertThat(reply.path("object").asText()).isEqualTo("response");
      assertThat(reply.path("status").asText()).isEqualTo("completed");
      String text = reply.path("output").path(0).path("content").path(0).path("text").asText();
      assertThat(FakeTokenizer.encode(text)).hasSize(4);
      assertThat(reply.path("usage").path("output_tokens").asInt()).isEqualTo(4);

      List<JsonNode> events =
          client.events("/v1/responses", String.format(body, ",\"stream\":true")).stream()
              .map(Client::json)
              .toList();

      assertThat(events.get(0).path("type").asText()).isEqualTo("response.created");
      assertThat(events.get(events.size() - 1).path("type").asText())
          .isEqualTo("response.completed");
      StringBuilder streamed = new StringBuilder();
      events.stream()
          .filter(event -> event.path("type").asText().equals("response.output_text.delta"))
          .forEach(event -> streamed.append(event.path("delta").asText()));
      assertThat(streamed).hasToString(text);
    }
  }

  @Test
  void requestIdsAreUsedAsEachEngineUsesThem() throws Exception {
    try (FakeEngine sglang = engine(EngineKind.SGLANG).start();
        FakeEngine vllm = engine(EngineKind.VLLM).start()) {
      String body = chat("hi", ",\"rid\":\"mine\",\"request_id\":\"body\",\"max_tokens\":1");
      assertThat(
              new Client(sglang)
                  .post(CHAT, body, "X-Request-Id", "head")
                  .json()
                  .path("id")
                  .asText())
          .isEqualTo("mine");
      Client client = new Client(vllm);
      assertThat(client.post(CHAT, body, "X-Request-Id", "head").json().path("id").asText())
          .isEqualTo("chatcmpl-head");
      assertThat(client.post(CHAT, body).json().path("id").asText()).isEqualTo("chatcmpl-body");
      assertThat(
              client
                  .post(COMPLETIONS, completion("a", ",\"max_tokens\":1"), "X-Request-Id", "head")
                  .json()
                  .path("id")
                  .asText())
          .isEqualTo("cmpl-head");
    }
  }

  @Test
  void namedRankIsUsedAndHasItsOwnCache() throws Exception {
    try (FakeEngine sglang = engine(EngineKind.SGLANG).blockSize(16).dpSize(2).start();
        FakeEngine vllm = engine(EngineKind.VLLM).blockSize(16).dpSize(2).start();
        FakeEngine atom = engine(EngineKind.ATOM).dpSize(2).start()) {
      Client client = new Client(sglang);
      String body = chat(LONG, ",\"max_tokens\":1,\"routed_dp_rank\":0");
      client.post(CHAT, body);
      assertThat(cached(client.post(CHAT, body).json())).isPositive();
      assertThat(cached(client.post(CHAT, body, "X-Data-Parallel-Rank", "1").json())).isZero();
      assertThat(sglang.ranks().get(1).metrics().promptTokens()).isPositive();
      assertThat(client.post(CHAT, body, "X-Data-Parallel-Rank", "x").status()).isEqualTo(400);
      assertThat(client.post(CHAT, body, "X-Data-Parallel-Rank", "2").status()).isEqualTo(400);

      client = new Client(vllm);
      String plain = chat(LONG, ",\"max_tokens\":1");
      client.post(CHAT, plain, "X-data-parallel-rank", "1");
      assertThat(cached(client.post(CHAT, plain, "X-data-parallel-rank", "1").json())).isPositive();
      assertThat(vllm.ranks().get(0).metrics().promptTokens()).isZero();
      assertThat(client.post(CHAT, plain, "X-data-parallel-rank", "x").status()).isEqualTo(200);

      client = new Client(atom);
      assertThat(
              client.post(CHAT, chat("a", ",\"data_parallel_rank\":1,\"max_tokens\":1")).status())
          .isEqualTo(200);
      assertThat(atom.ranks().get(1).metrics().promptTokens()).isPositive();
      assertThat(client.post(CHAT, chat("a", ",\"data_parallel_rank\":2")).status()).isEqualTo(400);
    }
  }

  @Test
  void saltsAndAdaptersSeparateCaches() throws Exception {
    try (FakeEngine sglang = engine(EngineKind.SGLANG).blockSize(16).loraAdapters("tuned").start();
        FakeEngine vllm = engine(EngineKind.VLLM).blockSize(16).loraAdapters("tuned").start()) {
      for (FakeEngine engine : List.of(sglang, vllm)) {
        Client client = new Client(engine);
        String salted = chat(LONG, ",\"max_tokens\":1,\"cache_salt\":\"tenant\"");
        client.post(CHAT, chat(LONG, ",\"max_tokens\":1"));
        assertThat(cached(client.post(CHAT, salted).json())).isZero();
        assertThat(cached(client.post(CHAT, salted).json())).isPositive();
        String adapter = engine == vllm ? "tuned" : "m:tuned";
        String tuned =
            chat(LONG, ",\"max_tokens\":1")
                .replace("\"model\":\"m\"", "\"model\":\"" + adapter + "\"");
        JsonNode reply = client.post(CHAT, tuned).json();
        assertThat(cached(reply)).isZero();
        assertThat(reply.path("model").asText()).isEqualTo(adapter);
      }
    }
  }
}
