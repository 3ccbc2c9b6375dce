package dev.warmpath.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two small tokenizers through the command line. */
@Tag("long")
class TokenizeCommandTest {
  private static final String[] FILES = {"tokenizer.json", "tokenizer_config.json"};

  @TempDir Path folder;
  private Path chatml;
  private Path llama;

  @BeforeEach
  void copyModels() throws IOException {
    chatml = model("chatml");
    llama = model("llama");
  }

  private Path model(String name) throws IOException {
    Path directory = Files.createDirectory(folder.resolve(name));
    for (String file : FILES) {
      String resource = "/dev/warmpath/prompt/tokenizer/" + name + "/" + file;
      try (InputStream in =
          Objects.requireNonNull(getClass().getResourceAsStream(resource), resource)) {
        Files.copy(in, directory.resolve(file));
      }
    }
    return directory;
  }

  private static Run tokenize(Path model, String... options) {
    List<String> args = new ArrayList<>(List.of("tokenize", "--tokenizer", model.toString()));
    args.addAll(List.of(options));
    return Run.of(args.toArray(String[]::new));
  }

  private static List<Integer> ids(JsonNode document) {
    List<Integer> ids = new ArrayList<>();
    document.path("ids").forEach(id -> ids.add(id.asInt()));
    return ids;
  }

  private static String list(JsonNode document) {
    return ids(document).toString().replaceAll("[\\[\\] ]", "");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "hello world",
        " grüße, 世界! 🚀",
        "<|im_start|>user\nhi<|im_end|>\n",
        "a  b\r\n\tc 12345",
        ""
      })
  void thereAndBack(String text) throws IOException {
    for (Path model : List.of(chatml, llama)) {
      Run there = tokenize(model, "--text", text, "--no-special-tokens", "--json");
      assertThat(there.exitCode()).as(there.err()).isZero();
      assertThat(there.json().path("text").asText()).isEqualTo(text);
      Run back = tokenize(model, "--detokenize", list(there.json()), "--json");
      assertThat(back.exitCode()).as(back.err()).isZero();
      assertThat(ids(back.json())).isEqualTo(ids(there.json()));
      assertThat(back.json().path("text").asText()).isEqualTo(text);
      assertThat(tokenize(model, "--detokenize", list(there.json())).out()).isEqualTo(text);

      Path file = folder.resolve("text");
      Files.writeString(file, text);
      assertThat(
              tokenize(model, "--text-file", file.toString(), "--no-special-tokens", "--json")
                  .json())
          .isEqualTo(there.json());
      Path document = folder.resolve("ids.json");
      Files.writeString(document, there.out());
      assertThat(tokenize(model, "--detokenize", "--tokens-file", document.toString()).out())
          .isEqualTo(text);
      assertThat(
              tokenize(model, "--text", text, "--no-special-tokens", "--detokenize", "--json")
                  .json())
          .isEqualTo(there.json());
    }
  }

  @Test
  void putsTheModelsTokensAroundATextUnlessToldNotTo() {
    JsonNode with = tokenize(llama, "--text", "hello", "--json").json();
    JsonNode without = tokenize(llama, "--text", "hello", "--no-special-tokens", "--json").json();
    assertThat(with)
        .isEqualTo(tokenize(llama, "--text", "hello", "--special-tokens", "--json").json());
    assertThat(ids(with)).hasSizeGreaterThan(ids(without).size());
    assertThat(ids(with).subList(1, ids(with).size())).isEqualTo(ids(without));
    String special = Integer.toString(ids(with).get(0));
    assertThat(tokenize(llama, "--detokenize", special).out()).isNotEmpty();
    assertThat(tokenize(llama, "--detokenize", special, "--skip-special-tokens").out()).isEmpty();
  }

  @Test
  void printsIdsAsAListThatCommandsTake() {
    Run plain = tokenize(chatml, "--text", "hello world");
    JsonNode document = tokenize(chatml, "--text", "hello world", "--json").json();
    assertThat(plain.out().strip()).isEqualTo(list(document));
    Run hashes =
        Run.of("hash", "--scheme", "sglang-event", "--tokens", plain.out().strip(), "--json");
    assertThat(hashes.json().path("blocks")).hasSize(ids(document).size());
  }

  @Test
  void aTokenizerFileStandsAlone() {
    Path file = chatml.resolve("tokenizer.json");
    assertThat(tokenize(file, "--text", "hello", "--json").exitCode()).isZero();
  }

  @Test
  void laysAChatOutByTheModelsTemplate() throws IOException {
    Files.writeString(
        chatml.resolve("chat_template.jinja"),
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
            + "{% for c in m.tool_calls or [] %}{{ c.function.name }}={{ c.function.arguments.x }}"
            + "{% endfor %}<|im_end|>\n{% endfor %}"
            + "{% if tools %}{{ tools | length }} tools\n{% endif %}"
            + "{% if mood %}{{ mood }}\n{% endif %}"
            + "{% if documents %}{{ documents[0].title }}\n{% endif %}"
            + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}");
    String hi = "{\"role\": \"user\", \"content\": \"hi\"}";
    String turn = "<|im_start|>user\nhi<|im_end|>\n";
    String start = "<|im_start|>assistant\n";
    assertChat("[" + hi + "]", turn + start);
    assertChat("{\"messages\": [" + hi + "], \"model\": \"m\"}", turn + start);
    assertChat("{\"messages\": [" + hi + "], \"add_generation_prompt\": false}", turn);
    assertChat(
        "{\"messages\": ["
            + hi
            + "], \"tools\": [{}, {}], \"documents\": [{\"title\": \"t\"}],"
            + " \"chat_template_kwargs\": {\"mood\": \"glad\"}}",
        turn + "2 tools\nglad\nt\n" + start);
    assertChat(
        "[{\"role\": \"user\", \"content\": [{\"type\": \"text\", \"text\": \"h\"},"
            + " {\"type\": \"text\", \"text\": \"i\"}]}]",
        "<|im_start|>user\nh\ni<|im_end|>\n" + start);
    assertChat(
        "[{\"role\": \"assistant\", \"content\": \"\", \"tool_calls\": [{\"function\":"
            + " {\"name\": \"f\", \"arguments\": \"{\\\"x\\\": 7}\"}}]}]",
        "<|im_start|>assistant\nf=7<|im_end|>\n" + start);
    assertChat(
        "{\"continue_final_message\": true, \"messages\": ["
            + hi
            + ", {\"role\": \"assistant\", \"content\": \"I am \"}]}",
        turn + start + "I am ");
  }

  private void assertChat(String content, String prompt) throws IOException {
    Path file = Files.writeString(folder.resolve("chat.json"), content);
    Run run = tokenize(chatml, "--messages", file.toString(), "--json");
    assertThat(run.exitCode()).as(run.err()).isZero();
    assertThat(run.json().path("text").asText()).isEqualTo(prompt);
    assertThat(run.json().path("ids"))
        .isEqualTo(
            tokenize(chatml, "--text", prompt, "--no-special-tokens", "--json").json().path("ids"));
  }

  @Test
  void aChatThatCannotBeLaidOutIsOneLine() throws IOException {
    Path chat = Files.writeString(folder.resolve("chat.json"), "[{\"role\": \"user\"}]");
    Path none = Files.writeString(folder.resolve("none.json"), "{\"messages\": []}");
    Files.deleteIfExists(chatml.resolve("chat_template.jinja"));
    assertRefused(
        2, "directory", tokenize(chatml.resolve("tokenizer.json"), "--messages", chat + ""));
    assertRefused(2, "no list of messages", tokenize(chatml, "--messages", none.toString()));
    Files.writeString(chatml.resolve("chat_template.jinja"), "{{ raise_exception('no roles') }}");
    assertRefused(1, "no roles", tokenize(chatml, "--messages", chat.toString()));
    Files.writeString(chatml.resolve("chat_template.jinja"), "{{ broken");
    assertRefused(1, "does not compile", tokenize(chatml, "--messages", chat.toString()));
  }

  @Test
  void wrongInputIsOneLine() throws IOException {
    assertRefused(2, "one of them", tokenize(chatml));
    assertRefused(2, "one of them", tokenize(chatml, "--detokenize"));
    assertRefused(2, "one of them", tokenize(chatml, "--text", "x", "--detokenize", "1"));
    assertRefused(2, "--text", tokenize(chatml, "--text", "x", "--text-file", "y"));
    assertRefused(2, "'x' is not a token id", tokenize(chatml, "--detokenize", "1,x"));
    assertRefused(2, "outside any vocabulary", tokenize(chatml, "--detokenize", "4294967296"));
    assertRefused(2, "can't be read", tokenize(folder, "--text", "x"));
    assertRefused(2, "can't be read", tokenize(chatml, "--text-file", folder + "/none"));
    assertRefused(2, "--detokenize", tokenize(chatml, "--tokens-file", folder + "/none"));
    Path broken = Files.writeString(folder.resolve("tokenizer.json"), "{\"model\": ");
    assertRefused(1, "tokenizer.json", tokenize(broken, "--text", "x"));
  }

  private static void assertRefused(int exitCode, String word, Run run) {
    assertThat(run.exitCode()).as(run.err()).isEqualTo(exitCode);
    assertThat(run.err().lines()).hasSize(1);
    assertThat(run.err()).contains(word);
    assertThat(run.out()).isEmpty();
  }
}
