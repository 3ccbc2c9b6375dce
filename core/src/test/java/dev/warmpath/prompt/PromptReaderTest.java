package dev.warmpath.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.api.InvalidRequestException;
import dev.warmpath.api.RouterRequest;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PromptReaderTest {
  private final PromptReader reader = new PromptReader();

  private Prompt chat(String json) {
    return reader.read(RouterRequest.chatCompletions(json));
  }

  private static String text(Prompt prompt) {
    return new String(prompt.bytes(), StandardCharsets.UTF_8);
  }

  @Test
  void readsModelStreamAndText() {
    Prompt prompt =
        chat(
            "{\"model\":\"m\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"häj\"}]}");
    assertThat(prompt.model()).isEqualTo("m");
    assertThat(prompt.stream()).isTrue();
    assertThat(text(prompt)).contains("user").contains("häj");
    assertThat(prompt.exactness()).isEqualTo(Exactness.ESTIMATED);
    assertThat(prompt.tokens()).isEqualTo((prompt.bytes().length + 3) / 4);
    assertThat(prompt.single()).isTrue();
  }

  @Test
  void isTheSameWhateverTheOrderOfFields() {
    Prompt one =
        chat(
            "{\"tools\":[{\"a\":1}],\"messages\":[{\"role\":\"user\",\"content\":\"x\",\"name\":\"n\"}]}");
    Prompt other =
        chat(
            "{ \"messages\" : [ {\"name\":\"n\",\"content\":\"x\",\"role\":\"user\"} ] ,"
                + " \"tools\":[{\"a\":1}] }");
    assertThat(one.bytes()).isEqualTo(other.bytes());
  }

  @Test
  void readsTextPartsAsTheStringTheySpell() {
    assertThat(
            chat("{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"ab\"}]}]}")
                .bytes())
        .isEqualTo(chat("{\"messages\":[{\"role\":\"user\",\"content\":\"ab\"}]}").bytes());
  }

  @Test
  void tellsImagesApart() {
    String image =
        "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"%s\"}}]}]}";
    assertThat(chat(image.formatted("a")).bytes()).isNotEqualTo(chat(image.formatted("b")).bytes());
  }

  @Test
  void growsAtItsEndWhenAConversationDoes() {
    String first = "{\"role\":\"user\",\"content\":\"one\"}";
    byte[] shorter = chat("{\"messages\":[" + first + "]}").bytes();
    byte[] longer =
        chat("{\"messages\":[" + first + ",{\"role\":\"assistant\",\"content\":\"two\"}]}").bytes();
    assertThat(Arrays.copyOf(longer, shorter.length)).isEqualTo(shorter);
  }

  @Test
  void separatesSaltsKeysAndAdapters() {
    String body = "{\"model\":\"m\",%s\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
    assertThat(
            Arrays.asList(
                chat(body.formatted("")).namespace(),
                chat(body.formatted("\"cache_salt\":\"a\",")).namespace(),
                chat(body.formatted("\"extra_key\":\"a\",")).namespace(),
                chat(body.formatted("\"lora_path\":\"a\",")).namespace(),
                chat(body.formatted("\"cache_salt\":\"a\",\"extra_key\":\"b\",")).namespace(),
                chat(body.formatted("\"cache_salt\":\"a:b\",")).namespace()))
        .doesNotHaveDuplicates();
  }

  @Test
  void readsTokenIdsExactlyInNumber() {
    Prompt prompt = reader.read(RouterRequest.completions("{\"prompt\":[1,2,70000]}"));
    assertThat(prompt.bytes()).hasSize(12);
    assertThat(prompt.tokens()).isEqualTo(3);
    assertThat(prompt.single()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"prompt\":[\"a\",\"b\"]}",
        "{\"prompt\":[[1],[2]]}",
        "{\"prompt\":\"a\",\"n\":2}",
        "{\"prompt\":\"a\",\"rid\":[\"r\"]}"
      })
  void knowsBatches(String body) {
    assertThat(reader.read(RouterRequest.completions(body)).single()).isFalse();
  }

  @Test
  void knowsTheIdThatABodyCarries() {
    assertThat(
            reader.read(RouterRequest.completions("{\"prompt\":\"a\",\"rid\":\"r\"}")).requestId())
        .isEqualTo("r");
  }

  @Test
  void neverReadsOtherPaths() {
    Prompt prompt = reader.read(RouterRequest.builder("/v1/audio").body("not json").build());
    assertThat(prompt.exactness()).isEqualTo(Exactness.OPAQUE);
    assertThat(prompt.bytes()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"{", "[]", "\"text\"", "{} {}", "{\"model\":}", "nonsense", "{\"a\":\"\u0001\"}"})
  void saysWhereABodyIsNoJsonWithoutRepeatingIt(String body) {
    assertThatThrownBy(() -> chat(body))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("/v1/chat/completions")
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("nonsense"))
        .hasNoCause();
  }

  @Test
  void takesStringsOfAnyLength() {
    String text = "x".repeat(25_000_000);
    assertThat(
            chat("{\"messages\":[{\"role\":\"user\",\"content\":\"" + text + "\"}]}")
                .bytes()
                .length)
        .isGreaterThan(25_000_000);
  }

  @Test
  void showsNoTextOfThePrompt() {
    assertThat(chat("{\"messages\":[{\"role\":\"user\",\"content\":\"secret\"}]}").toString())
        .doesNotContain("secret");
  }
}
