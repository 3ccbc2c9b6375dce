package dev.warmpath.fake;

import static dev.warmpath.fake.Client.CHAT;
import static dev.warmpath.fake.Client.COMPLETIONS;
import static dev.warmpath.fake.Client.chat;
import static dev.warmpath.fake.Client.completion;
import static dev.warmpath.fake.Client.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.fake.scheduler.LatencyModel;
import dev.warmpath.fake.text.FakeTokenizer;
import dev.warmpath.worker.EngineKind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Log probabilities over HTTP, in the shapes of the engines. */
class LogprobsIT {
  private static FakeEngine engine(EngineKind kind) {
    return FakeEngine.builder().kind(kind).model("m").timing(LatencyModel.instant()).start();
  }

  private static List<Float> floats(JsonNode values) {
    List<Float> floats = new ArrayList<>();
    values.forEach(value -> floats.add((float) value.asDouble()));
    return floats;
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM"})
  void chatsTellOfEachTokenAndStreamsTellTheSame(EngineKind kind) throws Exception {
    String more = ",\"max_tokens\":5,\"logprobs\":true,\"top_logprobs\":2";
    try (FakeEngine engine = engine(kind)) {
      Client client = new Client(engine);
      JsonNode choice = client.post(CHAT, chat("hi", more)).json().at("/choices/0");
      JsonNode content = choice.at("/logprobs/content");
      StringBuilder text = new StringBuilder();
      for (JsonNode token : content) {
        text.append(token.path("token").asText());
        assertThat(token.path("logprob").asDouble()).isBetween(-3.0, 0.0);
        assertThat(token.path("bytes")).hasSize(4);
        assertThat(token.path("top_logprobs")).hasSize(2);
        assertThat(token.at("/top_logprobs/0/token")).isEqualTo(token.path("token"));
        assertThat(token.at("/top_logprobs/1/logprob").asDouble())
            .isLessThan(token.path("logprob").asDouble());
      }
      assertThat(content).hasSize(5);
      assertThat(text).hasToString(choice.at("/message/content").asText());
      List<JsonNode> streamed = new ArrayList<>();
      for (String event : client.events(CHAT, chat("hi", more + ",\"stream\":true"))) {
        if (!event.equals("[DONE]")) {
          json(event).at("/choices/0/logprobs/content").forEach(streamed::add);
        }
      }
      assertThat(streamed).containsExactlyElementsOf(content);
      JsonNode plain = client.post(CHAT, chat("hi", ",\"max_tokens\":5")).json();
      assertThat(plain.at("/choices/0/logprobs").isNull()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = EngineKind.class,
      names = {"SGLANG", "VLLM"})
  void completionsTellItInLists(EngineKind kind) throws Exception {
    try (FakeEngine engine = engine(kind)) {
      JsonNode choice =
          new Client(engine)
              .post(COMPLETIONS, completion("hi", ",\"max_tokens\":3,\"logprobs\":2"))
              .json()
              .at("/choices/0");
      JsonNode logprobs = choice.path("logprobs");
      assertThat(logprobs.path("tokens")).hasSize(3);
      assertThat(logprobs.path("token_logprobs")).hasSize(3);
      assertThat(logprobs.path("top_logprobs")).hasSize(3);
      for (JsonNode top : logprobs.path("top_logprobs")) {
        assertThat(top).hasSize(2);
      }
      List<Float> offsets = floats(logprobs.path("text_offset"));
      if (kind == EngineKind.VLLM) {
        assertThat(offsets).containsExactly(0f, 4f, 8f);
      } else {
        assertThat(offsets).containsExactly(-1f, -1f, -1f);
      }
    }
  }

  @Test
  void sglangTellsItBesideItsOwnAnswersAndOfThePromptWhereThatIsAskedFor() throws Exception {
    String body =
        "{\"text\":\"warm paths\",\"sampling_params\":{\"max_new_tokens\":4},"
            + "\"return_logprob\":true,\"top_logprobs_num\":2%s}";
    try (FakeEngine engine = engine(EngineKind.SGLANG)) {
      Client client = new Client(engine);
      JsonNode answer = client.post("/generate", body.formatted("")).json();
      JsonNode meta = answer.path("meta_info");
      JsonNode output = meta.path("output_token_logprobs");
      assertThat(output).hasSize(4);
      for (int i = 0; i < 4; i++) {
        assertThat(output.path(i)).hasSize(3);
        assertThat(output.path(i).path(1)).isEqualTo(answer.path("output_ids").path(i));
        assertThat(output.path(i).path(2).isNull()).isTrue();
        assertThat(meta.path("output_top_logprobs").path(i)).hasSize(2);
        assertThat(meta.path("output_top_logprobs").path(i).path(0)).isEqualTo(output.path(i));
      }
      assertThat(meta.path("input_token_logprobs")).isEmpty();

      JsonNode whole =
          client
              .post(
                  "/generate",
                  body.formatted(",\"logprob_start_len\":0,\"return_text_in_logprobs\":true"))
              .json()
              .path("meta_info");
      JsonNode input = whole.path("input_token_logprobs");
      assertThat(input).hasSize(FakeTokenizer.encode("warm paths").length);
      assertThat(input.path(0).path(0).isNull()).isTrue();
      assertThat(input.path(1).path(0).isNumber()).isTrue();
      assertThat(whole.path("input_top_logprobs").path(0).isNull()).isTrue();
      assertThat(whole.path("output_token_logprobs").path(0).path(2).asText()).hasSize(4);

      List<String> events =
          client.events("/generate", body.formatted(",\"stream\":true")).stream()
              .filter(event -> !event.equals("[DONE]"))
              .toList();
      assertThat(json(events.get(events.size() - 1)).at("/meta_info/output_token_logprobs"))
          .as("they grow")
          .isEqualTo(output);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"top_logprobs\":2|must be set to true",
        "\"logprobs\":true,\"top_logprobs\":21|max allowed: 20",
        "\"logprobs\":true,\"top_logprobs\":-2|must be a positive value"
      })
  void vllmRefusesWhatItCantTell(String fields, String why) throws Exception {
    try (FakeEngine engine = engine(EngineKind.VLLM)) {
      Client.Reply reply = new Client(engine).post(CHAT, chat("hi", "," + fields));
      assertThat(reply.status()).isEqualTo(400);
      assertThat(reply.body()).contains(why);
    }
  }
}
