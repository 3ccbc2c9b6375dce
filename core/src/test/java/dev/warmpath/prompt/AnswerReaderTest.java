package dev.warmpath.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AnswerReaderTest {
  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String whole(String json) {
    AnswerReader reader = new AnswerReader();
    reader.body(bytes(json));
    return reader.answer();
  }

  @Test
  void readsChatsAndCompletions() {
    assertThat(
            whole(
                "{\"id\":\"x\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
                    + "\"content\":\"höh\",\"tool_calls\":null,\"reasoning_content\":\"\"},"
                    + "\"logprobs\":{\"content\":[]}}],\"usage\":{}}"))
        .isEqualTo("höh");
    assertThat(whole("{\"choices\":[{\"text\":\"abc\",\"index\":0}]}")).isEqualTo("abc");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "[]",
        "{\"choices\":[",
        "{\"choices\":[]}",
        "{\"choices\":[{\"message\":{\"content\":\"a\"}},{\"message\":{\"content\":\"b\"}}]}",
        "{\"choices\":[{\"message\":{\"content\":\"a\",\"tool_calls\":[{\"id\":1}]}}]}",
        "{\"choices\":[{\"message\":{\"content\":\"a\",\"reasoning_content\":\"thought\"}}]}",
        "{\"choices\":[{\"message\":{\"content\":null}}]}"
      })
  void whatWasGeneratedIsNotKnown(String json) {
    assertThat(whole(json)).isNull();
  }

  @Test
  void putsEventsTogether() {
    String stream =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
            + "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"one \"}}]}\n\n"
            + ": ping\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"two\"},"
            + "\"finish_reason\":\"stop\"}]}\r\n\r\n"
            + "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,"
            + "\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\ndata: [DONE]\n\n";
    ResponseReader.Told told = ResponseReader.read(bytes(stream));
    assertThat(told.answer()).isEqualTo("one two");
    assertThat(told.usage()).isNotNull();
    assertThat(told.usage().promptTokens()).isEqualTo(7);
    assertThat(told.usage().cachedTokens()).isEqualTo(4);
    ResponseReader.Told json =
        ResponseReader.read(
            bytes("{\"choices\":[{\"text\":\"x\"}],\"usage\":{\"prompt_tokens\":3}}"));
    assertThat(json.answer()).isEqualTo("x");
    assertThat(json.usage().promptTokens()).isEqualTo(3);
  }

  @Test
  void aVeryLongAnswerIsLetGo() {
    AnswerReader reader = new AnswerReader();
    String piece = "x".repeat(100_000);
    for (int i = 0; i < 11; i++) {
      reader.event("{\"choices\":[{\"delta\":{\"content\":\"" + piece + "\"}}]}");
    }
    assertThat(reader.answer()).isNull();
  }
}
