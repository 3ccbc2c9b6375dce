package dev.warmpath.prompt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.prompt.template.ChatTemplate;
import dev.warmpath.prompt.tokenizer.TokenizerLoadException;
import dev.warmpath.prompt.tokenizer.Tokenizers;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelFilesTest {
  @TempDir Path directory;

  @BeforeEach
  void tokenizer() throws IOException, URISyntaxException {
    Path source =
        Path.of(
            Objects.requireNonNull(Tokenizers.class.getResource("chatml/tokenizer.json")).toURI());
    Files.copy(source, directory.resolve("tokenizer.json"));
  }

  private void write(String name, String text) throws IOException {
    Path file = directory.resolve(name);
    Files.createDirectories(Objects.requireNonNull(file.getParent()));
    Files.writeString(file, text);
  }

  private static String render(ModelFiles files, boolean tools) {
    ChatTemplate template = Objects.requireNonNull(files.template(tools));
    return template.render(files.specialTokens(), Clock.systemUTC());
  }

  @Test
  void readsTemplateAndSpecialTokensOfTheConfiguration() throws IOException {
    write(
        "tokenizer_config.json",
        """
        {"chat_template": "{{ bos_token }}{{ image_token }}{{ additional_special_tokens[1] }}",
         "bos_token": {"content": "<b>", "lstrip": false}, "eos_token": null,
         "additional_special_tokens": ["<x>", {"content": "<y>"}],
         "extra_special_tokens": {"image_token": "<i>"}}""");
    write("special_tokens_map.json", "{\"bos_token\": \"<old>\", \"eos_token\": \"<e>\"}");
    ModelFiles files = ModelFiles.of(directory);
    assertThat(render(files, false)).isEqualTo("<b><i><y>");
    assertThat(files.specialTokens())
        .containsEntry("eos_token", "<e>")
        .containsEntry("additional_special_tokens", List.of("<x>", "<y>"));
    assertThat(files.tokenizer().vocabularySize()).isGreaterThan(256);
  }

  @Test
  void choosesTheTemplateForToolsByName() throws IOException {
    write(
        "tokenizer_config.json",
        """
        {"chat_template": [{"name": "default", "template": "plain"},
                           {"name": "tool_use", "template": "tools"}]}""");
    ModelFiles files = ModelFiles.of(directory);
    assertThat(render(files, false)).isEqualTo("plain");
    assertThat(render(files, true)).isEqualTo("tools");
  }

  @Test
  void theFileBesideComesBeforeTheConfiguration() throws IOException {
    write("tokenizer_config.json", "{\"chat_template\": \"config\"}");
    write("chat_template.json", "{\"chat_template\": \"json\"}");
    assertThat(render(ModelFiles.of(directory), false)).isEqualTo("json");
    write("chat_template.jinja", "jinja");
    write("additional_chat_templates/tool_use.jinja", "more");
    ModelFiles files = ModelFiles.of(directory);
    assertThat(render(files, false)).isEqualTo("jinja");
    assertThat(render(files, true)).isEqualTo("more");
  }

  @Test
  void aModelWithoutATemplateHasNoneUnlessChatMlIsAskedFor() {
    ModelFiles files = ModelFiles.of(directory);
    assertThat(files.template(false)).isNull();
    ChatTemplate chatMl = Objects.requireNonNull(files.orChatMl().template(true));
    assertThat(
            chatMl.render(
                Map.of(
                    "messages",
                    List.of(Map.of("role", "user", "content", "hi")),
                    "add_generation_prompt",
                    true),
                Clock.systemUTC()))
        .isEqualTo("<|im_start|>user\nhi<|im_end|>\n<|im_start|>assistant\n");
  }

  @Test
  void saysWhichFileIsWrong() throws IOException {
    write("tokenizer_config.json", "{\"chat_template\": \"{% if %}\"}");
    assertThatThrownBy(() -> ModelFiles.of(directory))
        .isInstanceOf(ModelFilesException.class)
        .hasMessageContaining("tokenizer_config.json")
        .hasMessageContaining("line 1");
    write("tokenizer_config.json", "{\"chat_template\": 3}");
    assertThatThrownBy(() -> ModelFiles.of(directory)).isInstanceOf(ModelFilesException.class);
    write("tokenizer_config.json", "{}");
    write("special_tokens_map.json", "[]");
    assertThatThrownBy(() -> ModelFiles.of(directory))
        .isInstanceOf(ModelFilesException.class)
        .hasMessageContaining("special_tokens_map.json");
    assertThatThrownBy(() -> ModelFiles.of(directory.resolve("nothing")))
        .isInstanceOf(TokenizerLoadException.class);
  }
}
