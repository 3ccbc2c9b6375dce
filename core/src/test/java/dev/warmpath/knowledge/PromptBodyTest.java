package dev.warmpath.knowledge;

import static dev.warmpath.knowledge.InjectionPosition.AFTER_SYSTEM;
import static dev.warmpath.knowledge.InjectionPosition.BEFORE_QUESTION;
import static dev.warmpath.knowledge.InjectionPosition.BEFORE_SYSTEM;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PromptBodyTest {
  private static final String CHAT =
      """
      {"model":"m", "temperature":1.50,"messages":[ {"content":"be brief","role":"system"},
       {"role":"user","content":"hi"},{"role":"assistant","content":"ho"},
       {"role":"user","content":[{"type":"text","text":"why?"}]}], "stop":["\\n"]}""";

  private static PromptBody read(String json) {
    return Objects.requireNonNull(PromptBody.read(json.getBytes(StandardCharsets.UTF_8)));
  }

  private static String with(String json, String text, InjectionPosition position) {
    return new String(read(json).with(text, position), StandardCharsets.UTF_8);
  }

  @Test
  void everyOtherByteStaysAsItWas() {
    assertThat(with(CHAT, "K\"1\"", BEFORE_SYSTEM))
        .isEqualTo(CHAT.replace("be brief", "K\\\"1\\\"\\n\\nbe brief"));
    assertThat(with(CHAT, "K", AFTER_SYSTEM)).isEqualTo(CHAT.replace("brief", "brief\\n\\nK"));
    assertThat(with(CHAT, "K", BEFORE_QUESTION))
        .isEqualTo(
            CHAT.replace(
                "[{\"type\":\"text\",\"text\":\"why?",
                "[{\"type\":\"text\",\"text\":\"K\"},{\"type\":\"text\",\"text\":\"why?"));
  }

  @Test
  void aMessageIsMadeWhereThereIsNoSystemMessage() {
    String chat = "{\"messages\":[{\"role\":\"user\",\"content\":\"ü\"}],\"model\":\"m\"}";
    String expected =
        "{\"messages\":[{\"role\":\"system\",\"content\":\"K\"},{\"role\":\"user\","
            + "\"content\":\"ü\"}],\"model\":\"m\"}";

    assertThat(with(chat, "K", BEFORE_SYSTEM)).isEqualTo(expected);
    assertThat(with(chat, "K", AFTER_SYSTEM)).isEqualTo(expected);
    assertThat(with("{\"messages\":[]}", "K", BEFORE_SYSTEM))
        .isEqualTo("{\"messages\":[{\"role\":\"system\",\"content\":\"K\"}]}");
    assertThat(with("{\"messages\":[{\"role\":\"system\",\"content\":null}]}", "K", AFTER_SYSTEM))
        .isEqualTo(
            "{\"messages\":[{\"role\":\"system\",\"content\":\"K\"},"
                + "{\"role\":\"system\",\"content\":null}]}");
  }

  @Test
  void contentInPartsGetsAPart() {
    String chat = "{\"messages\":[{\"role\":\"developer\",\"content\":[ ]}]}";

    assertThat(with(chat, "K", BEFORE_SYSTEM))
        .isEqualTo(
            "{\"messages\":[{\"role\":\"developer\",\"content\":[{\"type\":\"text\",\"text\":\"K\"}"
                + " ]}]}");
    String two = "{\"messages\":[{\"role\":\"system\",\"content\":[{\"type\":\"text\"}]}]}";
    assertThat(with(two, "K", AFTER_SYSTEM))
        .contains("[{\"type\":\"text\"},{\"type\":\"text\",\"text\":\"K\"}]");
  }

  @Test
  void aPromptThatIsNoChatTakesItAtItsFront() {
    PromptBody body = read("{\"model\":\"m\",\"prompt\":\"why\"}");

    assertThat(body.chat()).isFalse();
    assertThat(new String(body.with("K", AFTER_SYSTEM), StandardCharsets.UTF_8))
        .isEqualTo("{\"model\":\"m\",\"prompt\":\"K\\n\\nwhy\"}");
    assertThat(body.questionText()).isEqualTo("why");
  }

  @Test
  void tellsModelAndQuestion() {
    assertThat(read(CHAT).model()).isEqualTo("m");
    assertThat(read(CHAT).questionText()).isEqualTo("why?");
    assertThat(read("{\"messages\":[{\"role\":\"user\"}]}").questionText()).isEmpty();
  }

  @Test
  void aBodyWithoutAPlaceSaysSo() {
    assertThat(read("{\"input\":\"x\"}").takesKnowledge()).isFalse();
    assertThat(read("{\"prompt\":[1,2]}").takesKnowledge()).isFalse();
    assertThat(read("{\"messages\":\"x\"}").takesKnowledge()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[]", "{\"messages\":[", "{\"messages\":[{\"role\":", "\"x\"", "nul"})
  void whatIsNoObjectIsLeftAlone(String json) {
    assertThat(PromptBody.read(json.getBytes(StandardCharsets.UTF_8))).isNull();
  }
}
