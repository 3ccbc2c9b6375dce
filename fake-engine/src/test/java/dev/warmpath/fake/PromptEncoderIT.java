package dev.warmpath.fake;

import static dev.warmpath.fake.Client.CHAT;
import static dev.warmpath.fake.Client.COMPLETIONS;
import static dev.warmpath.fake.Client.JSON;
import static dev.warmpath.fake.Client.chat;
import static dev.warmpath.fake.Client.completion;
import static dev.warmpath.fake.Client.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.text.SyllableEncoder;
import dev.warmpath.worker.EngineKind;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Engines whose tokens are another encoder's. */
class PromptEncoderIT {
  private final SyllableEncoder encoder = new SyllableEncoder();

  private FakeEngineBuilder engine(EngineKind kind) {
    return FakeEngine.builder()
        .kind(kind)
        .model("m")
        .timing(LatencyModel.instant())
        .promptEncoder(encoder);
  }

  static Stream<Arguments> kindsAndBlockSizes() {
    return Stream.of(EngineKind.SGLANG, EngineKind.VLLM, EngineKind.ATOM)
        .flatMap(kind -> Stream.of(1, 16, 64).map(blockSize -> Arguments.of(kind, blockSize)));
  }

  @ParameterizedTest
  @MethodSource("kindsAndBlockSizes")
  void everyTurnFindsTheOnesBeforeItInTheCache(EngineKind kind, int blockSize) throws Exception {
    try (FakeEngine engine = engine(kind).blockSize(blockSize).start()) {
      Client client = new Client(engine);
      ObjectNode body = JSON.createObjectNode().put("model", "m").put("max_tokens", 37);
      ArrayNode messages = body.putArray("messages");
      StringBuilder said = new StringBuilder();
      int known = 0;
      for (int turn = 0; turn < 6; turn++) {
        messages.addObject().put("role", "user").put("content", "say \"more\" of it, é " + turn);
        int[] prompt = encoder.encodeChat(body);
        body.put("stream", turn % 2 == 1);

        Answer answer = answer(client, body.toString());

        assertThat(answer.usage.path("prompt_tokens").asInt()).isEqualTo(prompt.length);
        assertThat(answer.usage.path("completion_tokens").asInt()).isEqualTo(37);
        assertThat(answer.usage.path("prompt_tokens_details").path("cached_tokens").asInt())
            .isEqualTo(known / blockSize * blockSize);
        assertThat(encoder.encode(answer.text, false)).hasSize(37);
        said.append(answer.text);
        messages.addObject().put("role", "assistant").put("content", answer.text);
        known = prompt.length + 37 - 1; // the last token is never computed
      }
      assertThat(said).contains("\"", "é"); // escaped in JSON
    }
  }

  @ParameterizedTest
  @MethodSource("kindsAndBlockSizes")
  void theSamePromptAgainComputesAtLeastOneToken(EngineKind kind, int blockSize) throws Exception {
    try (FakeEngine engine = engine(kind).blockSize(blockSize).start()) {
      Client client = new Client(engine);
      for (int length : new int[] {63, 64, 65}) {
        String text = "x".repeat(2 * length);
        String body = completion(text, ",\"max_tokens\":1,\"add_special_tokens\":false");
        int size = encoder.encode(text, kind == EngineKind.ATOM).length;
        answer(client, body);
        JsonNode reply = json(client.post(COMPLETIONS, body).body());
        assertThat(reply.path("usage").path("prompt_tokens").asInt()).isBetween(size - 1, size);
        int prompt = reply.path("usage").path("prompt_tokens").asInt();
        if (kind != EngineKind.ATOM) { // which reports none for completions
          assertThat(
                  reply.path("usage").path("prompt_tokens_details").path("cached_tokens").asInt())
              .isEqualTo((prompt - 1) / blockSize * blockSize);
        }
      }
    }
  }

  private record Answer(String text, JsonNode usage) {}

  private static Answer answer(Client client, String body) throws Exception {
    boolean chat = body.contains("messages");
    String path = chat ? CHAT : COMPLETIONS;
    if (!json(body).path("stream").asBoolean()) {
      JsonNode reply = json(client.post(path, body).body());
      return new Answer(
          chat
              ? reply.path("choices").path(0).path("message").path("content").asText()
              : reply.path("choices").path(0).path("text").asText(),
          reply.path("usage"));
    }
    ObjectNode withUsage = (ObjectNode) json(body);
    withUsage.putObject("stream_options").put("include_usage", true);
    StringBuilder text = new StringBuilder();
    JsonNode usage = JSON.nullNode();
    for (String event : client.events(path, withUsage.toString())) {
      if (!event.equals("[DONE]")) {
        JsonNode chunk = json(event);
        text.append(chunk.path("choices").path(0).path("delta").path("content").asText());
        usage = chunk.path("usage").isObject() ? chunk.path("usage") : usage;
      }
    }
    return new Answer(text.toString(), usage);
  }

  @ParameterizedTest
  @EnumSource(value = EngineKind.class, names = "UNKNOWN", mode = EnumSource.Mode.EXCLUDE)
  void aChatThatTheTemplateRefusesIsABadRequest(EngineKind kind) throws Exception {
    try (FakeEngine engine = engine(kind).start()) {
      String more = ",\"chat_template_kwargs\":{\"refuse\":\"roles must alternate\"}";
      for (String stream : List.of("", ",\"stream\":true")) {
        Client.Reply reply = new Client(engine).post(CHAT, chat("hi", more + stream));
        assertThat(reply.status()).isEqualTo(400);
        assertThat(reply.body()).contains("roles must alternate");
      }
      assertThat(engine.stats().rejected()).isEqualTo(2);
      assertThat(engine.stats().running()).isZero();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM"})
  void tokenizesWithTheSameEncoder(EngineKind kind) throws Exception {
    try (FakeEngine engine = engine(kind).start()) {
      Client client = new Client(engine);
      String chat = chat("what a \"day\"", ",\"add_generation_prompt\":false");
      assertThat(tokens(client.post("/tokenize", chat).json()))
          .isEqualTo(list(encoder.encodeChat((ObjectNode) json(chat))));
      String plain = completion("hello there", "");
      assertThat(tokens(client.post("/tokenize", plain).json()))
          .isEqualTo(list(encoder.encode("hello there", true)));
      JsonNode bare =
          client
              .post("/tokenize", completion("hello there", ",\"add_special_tokens\":false"))
              .json();
      assertThat(tokens(bare)).isEqualTo(list(encoder.encode("hello there", false)));
      JsonNode back = client.post("/detokenize", "{\"tokens\":" + bare.path("tokens") + "}").json();
      assertThat(back.path(kind == EngineKind.VLLM ? "prompt" : "text").asText())
          .isEqualTo(encoder.decode(encoder.encode("hello there", false)));
      assertThat(client.post("/detokenize", "{\"tokens\":\"x\"}").status()).isEqualTo(400);
      String refused = chat("hi", ",\"chat_template_kwargs\":{\"refuse\":\"no\"}");
      assertThat(client.post("/tokenize", refused).status()).isEqualTo(400);
    }
  }

  @Test
  void theIdsOfAnAnswerAreThoseOfItsText() throws Exception {
    try (FakeEngine engine = engine(EngineKind.SGLANG).start()) {
      for (int length = 1; length < 40; length++) {
        JsonNode reply =
            new Client(engine)
                .post(
                    "/generate",
                    "{\"text\":\"go\",\"sampling_params\":{\"max_new_tokens\":" + length + "}}")
                .json();
        List<Integer> ids = new ArrayList<>();
        reply.path("output_ids").forEach(id -> ids.add(id.asInt()));
        assertThat(ids).hasSize(length);
        assertThat(list(encoder.encode(reply.path("text").asText(), false))).isEqualTo(ids);
      }
    }
  }

  private static List<Integer> tokens(JsonNode reply) {
    List<Integer> tokens = new ArrayList<>();
    reply.path("tokens").forEach(token -> tokens.add(token.asInt()));
    assertThat(reply.path("count").asInt()).isEqualTo(tokens.size());
    return tokens;
  }

  private static List<Integer> list(int[] tokens) {
    return java.util.Arrays.stream(tokens).boxed().toList();
  }

  @Test
  void aFleetSharesAnEncoder() throws Exception {
    try (FakeFleet fleet =
        FakeFleet.start(
            "2",
            builder -> builder.model("m").timing(LatencyModel.instant()).promptEncoder(encoder))) {
      List<String> texts = new ArrayList<>();
      for (FakeEngine engine : fleet.engines()) {
        texts.add(answer(new Client(engine), chat("hi", ",\"max_tokens\":9")).text);
      }
      assertThat(texts.get(0)).isNotBlank().isEqualTo(texts.get(1));
    }
  }
}
